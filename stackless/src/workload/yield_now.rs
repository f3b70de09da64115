//! `yield`, stackless: a task that yields is a loop around an await.

use std::sync::Arc;
use std::task::Waker;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gates;
use corolab_lab::workload::yield_now::Case;

use crate::gate;
use crate::stackless::{Stackless, self_wake};

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
    turns.serve(case.tasks, &|rounds| case.answer(rounds), &mut |rounds| {
        runtime.run(move |cx| batch::<S>(cx, case, rounds))
    })
}

async fn batch<S: Stackless>(cx: S::Cx, case: Case, rounds: u64) -> Result<Batch, Refusal> {
    let gates = Arc::new(Gates::new(case.tasks, case.tasks));
    let mut tasks = Vec::new();
    for number in 1..=case.tasks {
        let gates = gates.clone();
        let self_wake = case.self_wake;
        let task = S::spawn(&cx, move |cx| {
            task::<S>(cx, number, rounds, gates, self_wake)
        });
        tasks.push(task);
    }
    gate::gather(&gates.start).await;
    let mut watch = Stopwatch::new();
    let mut answer = 0;
    watch.start();
    gate::open(&gates.start);
    gate::gather(&gates.finish).await;
    watch.stop();
    gate::open(&gates.finish);
    for task in tasks {
        answer += S::join(&cx, task).await;
    }
    Ok(Batch::new(watch, answer))
}

async fn task<S: Stackless>(
    cx: S::Cx,
    number: u64,
    rounds: u64,
    gates: Arc<Gates<Waker>>,
    waking_itself: bool,
) -> u64 {
    gate::enter(&gates.start).await;
    let mut yields = 0;
    if waking_itself {
        for _ in 0..rounds {
            self_wake().await;
            yields += 1;
        }
    } else {
        for _ in 0..rounds {
            S::yield_now(&cx).await;
            yields += 1;
        }
    }
    gate::enter(&gates.finish).await;
    number * yields
}
