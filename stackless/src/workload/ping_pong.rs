//! `ping_pong`, stackless: a task that waits for a message is an await that
//! returns it.

use std::sync::Arc;
use std::task::Waker;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gates;
use corolab_lab::workload::ping_pong::Case;

use crate::gate;
use crate::stackless::{Channel, Stackless};

/// Why an end of a channel never finds the other one gone.
const OPEN: &str = "both ends live as long as their tasks";

/// Measures the workload on tasks of `S` with channels of `C`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S: Stackless, C: Channel>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let mut runtime = S::start(&assignment.settings)?;
    turns.serve(case.pairs, &|rounds| case.answer(rounds), &mut |rounds| {
        runtime.run(move |cx| batch::<S, C>(cx, case, rounds))
    })
}

async fn batch<S: Stackless, C: Channel>(
    cx: S::Cx,
    case: Case,
    rounds: u64,
) -> Result<Batch, Refusal> {
    let gates = Arc::new(Gates::new(case.pairs, 2 * case.pairs));
    let mut tasks = Vec::new();
    for _ in 0..case.pairs {
        let (to_far, from_near) = C::new();
        let (to_near, from_far) = C::new();
        let at_near = gates.clone();
        let near = S::spawn(&cx, move |_| near::<C>(rounds, at_near, to_far, from_far));
        tasks.push(near);
        let at_far = gates.clone();
        let far = S::spawn(&cx, move |_| far::<C>(rounds, at_far, from_near, to_near));
        tasks.push(far);
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

async fn near<C: Channel>(
    rounds: u64,
    gates: Arc<Gates<Waker>>,
    mut to_far: C::Sender,
    mut from_far: C::Receiver,
) -> u64 {
    gate::enter(&gates.start).await;
    let mut sum = 0;
    for ball in 0..rounds {
        C::send(&mut to_far, ball).await.expect(OPEN);
        sum += C::receive(&mut from_far).await.expect(OPEN);
    }
    gate::enter(&gates.finish).await;
    sum
}

async fn far<C: Channel>(
    rounds: u64,
    gates: Arc<Gates<Waker>>,
    mut from_near: C::Receiver,
    mut to_near: C::Sender,
) -> u64 {
    for _ in 0..rounds {
        let ball = C::receive(&mut from_near).await.expect(OPEN);
        C::send(&mut to_near, ball + 1).await.expect(OPEN);
    }
    gate::enter(&gates.finish).await;
    0
}
