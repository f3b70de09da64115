//! `yield`, stackful: a task that yields is a loop around a call.

use std::sync::Arc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gates;
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
    let gates = Arc::new(Gates::new(case.tasks, case.tasks));
    let mut tasks = Vec::new();
    for number in 1..=case.tasks {
        let gates = gates.clone();
        let self_wake = case.self_wake;
        let task = S::spawn(cx, move |cx| {
            task::<S>(cx, number, rounds, &gates, self_wake)
        });
        tasks.push(task.map_err(|why| ceiling(&why, number - 1, case.tasks))?);
    }
    gate::gather::<S>(cx, &gates.start);
    let mut watch = Stopwatch::new();
    let mut answer = 0;
    watch.start();
    gate::open::<S>(&gates.start);
    gate::gather::<S>(cx, &gates.finish);
    watch.stop();
    gate::open::<S>(&gates.finish);
    for task in tasks {
        answer += S::join(cx, task);
    }
    Ok(Batch::new(watch, answer))
}

fn task<S: Stackful>(
    cx: &S::Cx,
    number: u64,
    rounds: u64,
    gates: &Gates<S::Unparker>,
    waking_itself: bool,
) -> u64 {
    gate::enter::<S>(cx, &gates.start);
    let mut yields = 0;
    if waking_itself {
        for _ in 0..rounds {
            S::self_wake(cx);
            yields += 1;
        }
    } else {
        for _ in 0..rounds {
            S::yield_now(cx);
            yields += 1;
        }
    }
    gate::enter::<S>(cx, &gates.finish);
    number * yields
}
