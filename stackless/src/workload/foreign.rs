//! `foreign`, stackless: a task that calls out is a poll that takes longer.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::tails::Tails;
use corolab_lab::with_callee;
use corolab_lab::workload::Gates;
use corolab_lab::workload::foreign::{Case, together};
use corolab_syscalls::callee::Callee;

use crate::route::{Caller, Calling, Request, Route};
use crate::stackless::Timer;
use crate::{beside, gate};

/// Measures the workload on tasks of `S`, each of which calls by a route of its
/// own.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S, R>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
    route: impl Fn() -> R + 'static,
) -> Result<(), Refusal>
where
    S: Timer,
    R: Route,
{
    let case = Case::of(assignment)?;
    let callers = with_callee!(case.callee, callers::<R>(case, route))?;
    let mut runtime = S::start(&assignment.settings)?;
    if case.beside {
        return turns.once(&mut || {
            let callers = callers();
            runtime.run(move |cx| beside::calls::<S>(cx, case, callers))
        });
    }
    case.serve(turns, &mut |rounds| {
        let callers = callers();
        runtime.run(move |cx| batch::<S>(cx, case, callers, rounds))
    })
}

type Callers = Box<dyn Fn() -> Vec<Box<dyn Caller>>>;

fn callers<R, K>(case: Case, route: impl Fn() -> R + 'static) -> Result<Callers, Refusal>
where
    R: Route,
    K: Callee,
{
    let callees = case.equip::<K>()?;
    let bound = move |callee: &Arc<K>| -> Box<dyn Caller> {
        Box::new(Bound {
            route: route(),
            callee: callee.clone(),
        })
    };
    Ok(Box::new(move || callees.iter().map(&bound).collect()))
}

async fn batch<S: Timer>(
    cx: S::Cx,
    case: Case,
    callers: Vec<Box<dyn Caller>>,
    rounds: u64,
) -> Result<Batch, Refusal> {
    let gates = Arc::new(Gates::new(case.callers, case.callers));
    let mut tasks = Vec::new();
    for caller in callers {
        let gates = gates.clone();
        let task = S::spawn(&cx, move |_| async move {
            gate::enter(&gates.start).await;
            let batch = caller.timed(rounds).await;
            gate::enter(&gates.finish).await;
            batch
        });
        tasks.push(task);
    }
    for gate in [&gates.start, &gates.finish] {
        gate::gather(gate).await;
        gate::open(gate);
    }
    let mut batches = Vec::new();
    for task in tasks {
        batches.push(
            S::join(&cx, task)
                .await
                .map_err(|why| case.refused(&why, 0))?,
        );
    }
    together(batches)
}

/// A route bound to a callee.
struct Bound<R, K> {
    route: R,
    callee: Arc<K>,
}

impl<R: Route, K: Callee> Caller for Bound<R, K> {
    fn timed(mut self: Box<Self>, rounds: u64) -> Calling<'static, Batch> {
        Box::pin(async move {
            let mut watch = Stopwatch::new();
            watch.start();
            let count = self.route.calls(&self.callee, rounds).await?;
            watch.stop();
            Ok(Batch::new(watch, count).telling(self.route.tails()))
        })
    }

    fn call(&mut self) -> Result<io::Result<u64>, Calling<'_, u64>> {
        match self.route.at_once(&self.callee) {
            Some(called) => Ok(called),
            None => Err(Box::pin(self.route.calls(&self.callee, 1))),
        }
    }

    fn tails(self: Box<Self>) -> Tails {
        self.route.tails()
    }
}

/// Measures the workload on a boxed future, polled by hand; `route` is told
/// where it can ask the poller for a call.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure_bare<R: Route>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
    route: impl Fn(&Arc<Request>) -> R + 'static,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let bare = with_callee!(case.callee, callers_bare::<R>(case, route))?;
    case.serve(turns, &mut |rounds| {
        let batch = (bare.drive)((bare.caller)(), rounds);
        batch.map_err(|why| case.refused(&why, 0))
    })
}

/// A bare future's caller, and who polls it and makes the calls that it asks
/// for.
struct Bare {
    caller: Box<dyn Fn() -> Box<dyn Caller>>,
    drive: Box<Drive>,
}

type Drive = dyn Fn(Box<dyn Caller>, u64) -> io::Result<Batch>;

fn callers_bare<R, K>(
    case: Case,
    route: impl Fn(&Arc<Request>) -> R + 'static,
) -> Result<Bare, Refusal>
where
    R: Route,
    K: Callee,
{
    let callee = case.equip::<K>()?.remove(0);
    let (request, called) = (Arc::new(Request::default()), callee.clone());
    let asked = request.clone();
    Ok(Bare {
        caller: Box::new(move || {
            Box::new(Bound {
                route: route(&asked),
                callee: callee.clone(),
            })
        }),
        drive: Box::new(move |caller, rounds| {
            let mut context = Context::from_waker(Waker::noop());
            let mut task = caller.timed(rounds);
            loop {
                if let Poll::Ready(batch) = task.as_mut().poll(&mut context) {
                    return batch;
                }
                if let Some(count) = request.take() {
                    request.answer(called.call(count)?);
                }
            }
        }),
    })
}
