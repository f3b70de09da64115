//! `create`, stackful: a task is a closure on a stack.

use std::cell::Cell;
use std::rc::Rc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::crew::Crew;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::with_written_bytes;
use corolab_lab::workload::create::{Case, Written};

use crate::ceiling::ceiling;
use crate::stackful::Coroutine;

/// Measures the workload on coroutines of `C`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<C: Coroutine>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let stacks = C::stacks(assignment)?;
    with_written_bytes!(case.touch, measure_writing::<C>(case, stacks, turns))
}

fn measure_writing<C: Coroutine, B: Written>(
    case: Case,
    stacks: C::Stacks,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let mut crew = Crew::new(case.threads, move || {
        let (stacks, mut kept) = (stacks.clone(), C::Kept::default());
        move |rounds| lives::<C, B>(&stacks, &mut kept, rounds)
    });
    let answer = |rounds| case.answer(rounds);
    turns.serve(case.threads, &answer, &mut |rounds| {
        let mut watch = Stopwatch::new();
        watch.start();
        let answer = crew.work(rounds)?;
        watch.stop();
        Ok(Batch::new(watch, answer))
    })
}

fn lives<C: Coroutine, B: Written>(
    stacks: &C::Stacks,
    kept: &mut C::Kept,
    rounds: u64,
) -> Result<u64, Refusal> {
    let told = Rc::new(Cell::new(0));
    let mut sum = 0;
    for number in 1..=rounds {
        let tell = told.clone();
        let task = C::new(stacks, kept, move |_| tell.set(task::<B>(number)));
        let mut task = task.map_err(|why| ceiling(&why, number - 1, rounds))?;
        task.resume();
        task.end(stacks, kept);
        sum += told.take();
    }
    Ok(sum)
}

fn task<B: Written>(number: u64) -> u64 {
    let mut own = B::new();
    own.write(number);
    own.read(number)
}
