//! `ping_pong`, stackful: a task that waits for a message is a call that
//! returns it.

use std::sync::Arc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gates;
use corolab_lab::workload::ping_pong::Case;

use crate::ceiling::ceiling;
use crate::gate;
use crate::stackful::{Channel, Stackful};

/// Measures the workload on tasks of `S` with channels of `C`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S: Stackful, C: Channel<S>>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let mut runtime = S::start(&assignment.settings)?;
    turns.serve(case.pairs, &|rounds| case.answer(rounds), &mut |rounds| {
        runtime.run(move |cx| batch::<S, C>(cx, case, rounds))
    })
}

fn batch<S: Stackful, C: Channel<S>>(
    cx: &S::Cx,
    case: Case,
    rounds: u64,
) -> Result<Batch, Refusal> {
    let gates = Arc::new(Gates::new(case.pairs, 2 * case.pairs));
    let mut tasks = Vec::new();
    for pair in 0..case.pairs {
        let (to_far, from_near) = C::new();
        let (to_near, from_far) = C::new();
        let at_near = gates.clone();
        let near = S::spawn(cx, move |cx| {
            near::<S, C>(cx, rounds, &at_near, to_far, from_far)
        });
        tasks.push(near.map_err(|why| ceiling(&why, 2 * pair, 2 * case.pairs))?);
        let at_far = gates.clone();
        let far = S::spawn(cx, move |cx| {
            far::<S, C>(cx, rounds, &at_far, from_near, to_near)
        });
        tasks.push(far.map_err(|why| ceiling(&why, 2 * pair + 1, 2 * case.pairs))?);
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

fn near<S: Stackful, C: Channel<S>>(
    cx: &S::Cx,
    rounds: u64,
    gates: &Gates<S::Unparker>,
    mut to_far: C::Sender,
    mut from_far: C::Receiver,
) -> u64 {
    gate::enter::<S>(cx, &gates.start);
    let mut sum = 0;
    for ball in 0..rounds {
        C::send(cx, &mut to_far, ball);
        sum += C::receive(cx, &mut from_far);
    }
    gate::enter::<S>(cx, &gates.finish);
    sum
}

fn far<S: Stackful, C: Channel<S>>(
    cx: &S::Cx,
    rounds: u64,
    gates: &Gates<S::Unparker>,
    mut from_near: C::Receiver,
    mut to_near: C::Sender,
) -> u64 {
    for _ in 0..rounds {
        let ball = C::receive(cx, &mut from_near);
        C::send(cx, &mut to_near, ball + 1);
    }
    gate::enter::<S>(cx, &gates.finish);
    0
}
