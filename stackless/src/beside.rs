//! Calls beside tasks that want to run: what others lose by a call. The twin of
//! `green/src/beside.rs`.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use corolab_lab::crowd::{BEAT, Crowd, Next, Pulse};
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::tails::{Recorder, STOOD_STILL, Tails};
use corolab_lab::workload::foreign::{BYSTANDERS, Case, WINDOW_NS, together};

use crate::route::Caller;
use crate::stackless::{Timer, park, unparker};

type Crowded = Arc<Crowd<Waker>>;

/// Callers for a while, beside a heartbeat and, where a call blocks, tasks that
/// are made ready before each call of the first caller.
///
/// # Errors
/// The callee's.
pub async fn calls<S: Timer>(
    cx: S::Cx,
    case: Case,
    callers: Vec<Box<dyn Caller>>,
) -> Result<(u64, Batch), Refusal> {
    let bystanders = if case.callee.blocks { BYSTANDERS } else { 0 };
    let crowd = Arc::new(Crowd::new(bystanders));
    let beating = crowd.clone();
    let pulse = S::spawn(&cx, move |cx| heartbeat::<S>(cx, beating));
    let mut standing = Vec::new();
    for place in 0..bystanders as usize {
        let crowd = crowd.clone();
        let task = S::spawn(&cx, move |_| bystander(crowd, place));
        standing.push(task);
    }
    let until = Instant::now() + Duration::from_nanos(WINDOW_NS);
    let mut calling = Vec::new();
    for (number, caller) in callers.into_iter().enumerate() {
        let crowd = crowd.clone();
        let witness = number == 0 && bystanders > 0;
        let task = S::spawn(&cx, move |cx| {
            repeat::<S>(cx, caller, crowd, until, witness)
        });
        calling.push(task);
    }
    let mut batches = Vec::new();
    for task in calling {
        let batch = S::join(&cx, task).await;
        batches.push(batch.map_err(|why| case.refused(&why, 0))?);
    }
    crowd.end().into_iter().for_each(Waker::wake);
    for task in standing {
        S::join(&cx, task).await;
    }
    let gaps = S::join(&cx, pulse).await;
    let all = together(batches)?;
    Ok((all.answer, all.telling(gaps)))
}

/// Calls once and yields, again and again.
async fn repeat<S: Timer>(
    cx: S::Cx,
    mut caller: Box<dyn Caller>,
    crowd: Crowded,
    until: Instant,
    witness: bool,
) -> io::Result<Batch> {
    let mut still = Recorder::new();
    let mut watch = Stopwatch::new();
    let mut count = 0;
    watch.start();
    while Instant::now() < until {
        if witness {
            crowd.ready().into_iter().for_each(Waker::wake);
        }
        count += match caller.call() {
            Ok(called) => called?,
            Err(calling) => calling.await?,
        };
        if witness {
            still.record(crowd.standing());
        }
        S::yield_now(&cx).await;
    }
    watch.stop();
    let mut told = caller.tails();
    if witness {
        told.merge(Tails::of(STOOD_STILL, still.tail()));
    }
    Ok(Batch::new(watch, count).telling(told))
}

/// Sleeps and beats until the crowd goes.
async fn heartbeat<S: Timer>(cx: S::Cx, crowd: Crowded) -> Tails {
    let mut pulse = Pulse::new();
    while !crowd.is_over() {
        S::sleep(&cx, BEAT).await;
        pulse.beat();
    }
    pulse.tails()
}

/// Has one turn whenever the crowd is made ready.
async fn bystander(crowd: Crowded, place: usize) {
    loop {
        match crowd.next(place, unparker().await) {
            Next::Again => {}
            Next::Park => park().await,
            Next::End => return,
        }
    }
}
