//! Calls beside tasks that want to run: what others lose by a call. The twin of
//! `stackless/src/beside.rs`.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corolab_lab::crowd::{BEAT, Crowd, Next, Pulse};
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::tails::{Recorder, STOOD_STILL, Tails};
use corolab_lab::workload::foreign::{BYSTANDERS, Case, WINDOW_NS, together};

use crate::ceiling::ceiling;
use crate::route::TaskCaller;
use crate::stackful::Timer;

/// Callers for a while, beside a heartbeat and, where a call blocks, tasks that
/// are made ready before each call of the first caller.
///
/// # Errors
/// No stack, or the callee's.
pub fn calls<S: Timer>(
    cx: &S::Cx,
    case: Case,
    callers: Vec<TaskCaller<S>>,
) -> Result<(u64, Batch), Refusal> {
    let bystanders = if case.callee.blocks { BYSTANDERS } else { 0 };
    let crowd = Arc::new(Crowd::new(bystanders));
    let no_stack = |why: io::Error| ceiling(&why, 0, case.callers + bystanders + 1);
    let beating = crowd.clone();
    let pulse = S::spawn(cx, move |cx| heartbeat::<S>(cx, &beating)).map_err(no_stack)?;
    let mut standing = Vec::new();
    for place in 0..bystanders as usize {
        let crowd = crowd.clone();
        let task = S::spawn(cx, move |cx| bystander::<S>(cx, &crowd, place));
        standing.push(task.map_err(no_stack)?);
    }
    let until = Instant::now() + Duration::from_nanos(WINDOW_NS);
    let mut calling = Vec::new();
    for (number, caller) in callers.into_iter().enumerate() {
        let crowd = crowd.clone();
        let witness = number == 0 && bystanders > 0;
        let task = S::spawn(cx, move |cx| {
            repeat::<S>(cx, caller, &crowd, until, witness)
        });
        calling.push(task.map_err(no_stack)?);
    }
    let mut batches = Vec::new();
    for task in calling {
        batches.push(S::join(cx, task).map_err(|why| case.refused(&why, 0))?);
    }
    crowd.end().into_iter().for_each(S::unpark);
    for task in standing {
        S::join(cx, task);
    }
    let gaps = S::join(cx, pulse);
    let all = together(batches)?;
    Ok((all.answer, all.telling(gaps)))
}

/// Calls once and yields, again and again.
fn repeat<S: Timer>(
    mut cx: &S::Cx,
    mut caller: TaskCaller<S>,
    crowd: &Crowd<S::Unparker>,
    until: Instant,
    witness: bool,
) -> io::Result<Batch> {
    let mut still = Recorder::new();
    let mut watch = Stopwatch::new();
    let mut count = 0;
    watch.start();
    while Instant::now() < until {
        if witness {
            crowd.ready().into_iter().for_each(S::unpark);
        }
        count += caller.call(&mut cx)?;
        if witness {
            still.record(crowd.standing());
        }
        S::yield_now(cx);
    }
    watch.stop();
    let mut told = caller.tails();
    if witness {
        told.merge(Tails::of(STOOD_STILL, still.tail()));
    }
    Ok(Batch::new(watch, count).telling(told))
}

/// Sleeps and beats until the crowd goes.
fn heartbeat<S: Timer>(cx: &S::Cx, crowd: &Crowd<S::Unparker>) -> Tails {
    let mut pulse = Pulse::new();
    while !crowd.is_over() {
        S::sleep(cx, BEAT);
        pulse.beat();
    }
    pulse.tails()
}

/// Has one turn whenever the crowd is made ready.
fn bystander<S: Timer>(cx: &S::Cx, crowd: &Crowd<S::Unparker>, place: usize) {
    loop {
        match crowd.next(place, S::unparker(cx)) {
            Next::Again => {}
            Next::Park => S::park(cx),
            Next::End => return,
        }
    }
}
