//! `create`, stackless: a task is an async block with a state, boxed.

use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::crew::Crew;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::with_written_bytes;
use corolab_lab::workload::create::{Case, Written};

/// Measures the workload on futures polled by hand.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    with_written_bytes!(case.touch, measure_writing(case, turns))
}

fn measure_writing<B: Written>(case: Case, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let mut crew = Crew::new(case.threads, move || {
        let mut kept = case.reused.then(|| Box::pin(None));
        move |rounds| lives(task::<B>, &mut kept, rounds)
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

/// `kept` is the box that tasks have one after the other; without it each task
/// has a box of its own.
fn lives<F: Future<Output = u64>>(
    task: impl Fn(u64) -> F,
    kept: &mut Option<Pin<Box<Option<F>>>>,
    rounds: u64,
) -> Result<u64, Refusal> {
    let mut context = Context::from_waker(Waker::noop());
    // Through a pointer, as whoever keeps tasks of several kinds would; seen
    // through, the task needs no box at all and is not made.
    let mut resume =
        |task: Pin<&mut dyn Future<Output = u64>>| match black_box(task).poll(&mut context) {
            Poll::Ready(number) => number,
            Poll::Pending => 0,
        };
    let mut sum = 0;
    for number in 1..=rounds {
        if let Some(slot) = kept {
            slot.set(Some(task(number)));
            sum += slot.as_mut().as_pin_mut().map_or(0, |task| resume(task));
            slot.set(None);
        } else {
            let mut task = Box::pin(task(number));
            sum += resume(task.as_mut());
        }
    }
    Ok(sum)
}

async fn task<B: Written>(number: u64) -> u64 {
    let mut own = B::new();
    own.write(number);
    // What is read afterwards is part of the state, though nothing suspends.
    ready(()).await;
    own.read(number)
}
