//! `switch`, stackful: tasks are coroutines, resumed round robin.

use std::rc::Rc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::with_touched_words;
use corolab_lab::workload::switch::{Case, Own, Robin, Roll, Touched};

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
    with_touched_words!(case.touch, measure_touching::<C>(case, stacks, turns))
}

fn measure_touching<C: Coroutine, T: Touched>(
    case: Case,
    stacks: C::Stacks,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let roll = Rc::new(Roll::new());
    let mut kept = C::Kept::default();
    let mut tasks = Vec::with_capacity(case.live);
    for made in 0..case.live {
        let roll = roll.clone();
        let task = C::new(&stacks, &mut kept, move |yielder| {
            task::<C, T>(yielder, &roll);
        });
        let mut task = task.map_err(|why| ceiling(&why, made as u64, case.live as u64))?;
        task.resume();
        tasks.push(task);
    }
    let mut robin = Robin::new(case.live);
    turns.serve(1, &Case::answer, &mut |resumes| {
        let mut watch = Stopwatch::new();
        watch.start();
        for _ in 0..resumes {
            tasks[robin.step()].resume();
        }
        watch.stop();
        let answer = roll.call(|| robin.visited(resumes).for_each(|at| tasks[at].resume()));
        Ok(Batch::new(watch, answer))
    })?;
    roll.end(|| tasks.iter_mut().for_each(C::resume));
    Ok(())
}

fn task<C: Coroutine, T: Touched>(yielder: &mut C::Yielder<'_>, roll: &Roll) {
    let mut own = Own::<T>::new();
    loop {
        C::suspend(yielder);
        if roll.is_calling() {
            if roll.tell(&mut own) {
                return;
            }
        } else {
            own.turn();
        }
    }
}
