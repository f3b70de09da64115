//! `yield`, stackful: a task that yields is a loop around a call.

use std::sync::Arc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gate;
use corolab_lab::workload::yield_now::Case;

use crate::ceiling::ceiling;
use crate::gate;
use crate::stackful::Stackful;

/// Measures the workload on tasks of `S`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S: Stackful>(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let mut runtime = S::start(&assignment.settings)?;
    turns.serve(case.tasks, &|rounds| case.answer(rounds), &mut |rounds| {
        runtime.run(move |cx| batch::<S>(cx, case, rounds))
    })
}

fn batch<S: Stackful>(cx: &S::Cx, case: Case, rounds: u64) -> Result<Batch, Refusal> {
    let gate = Arc::new(Gate::new(case.tasks));
    let mut tasks = Vec::new();
    for number in 1..=case.tasks {
        let gate = gate.clone();
        let task = S::spawn(cx, move |cx| task::<S>(cx, number, rounds, &gate));
        tasks.push(task.map_err(|why| ceiling(&why, number - 1, case.tasks))?);
    }
    gate::gather::<S>(cx, &gate);
    let mut watch = Stopwatch::new();
    let mut answer = 0;
    watch.start();
    gate::open::<S>(&gate);
    for task in tasks {
        answer += S::join(cx, task);
    }
    watch.stop();
    Ok(Batch { watch, answer })
}

fn task<S: Stackful>(cx: &S::Cx, number: u64, rounds: u64, gate: &Gate<S::Unparker>) -> u64 {
    gate::enter::<S>(cx, gate);
    let mut yields = 0;
    for _ in 0..rounds {
        S::yield_now(cx);
        yields += 1;
    }
    number * yields
}
