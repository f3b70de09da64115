//! `spawn`, stackless: a task is an async block with a state.

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::spawn::Case;

use crate::stackless::Stackless;

/// Measures the workload on tasks of `S`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S: Stackless>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let mut runtime = S::start(&assignment.settings)?;
    turns.serve(case.batch, &|rounds| case.answer(rounds), &mut |rounds| {
        runtime.run(move |cx| batches::<S>(cx, case, rounds))
    })
}

async fn batches<S: Stackless>(cx: S::Cx, case: Case, rounds: u64) -> Result<Batch, Refusal> {
    let mut tasks = Vec::new();
    let mut watch = Stopwatch::new();
    let mut answer = 0;
    watch.start();
    for _ in 0..rounds {
        for number in 1..=case.batch {
            let task = S::spawn(&cx, move |_| async move { number });
            tasks.push(task);
        }
        for task in tasks.drain(..) {
            answer += S::join(&cx, task).await;
        }
    }
    watch.stop();
    Ok(Batch::new(watch, answer))
}
