//! `footprint`, stackless: what waits is a state.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::Refusal;
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gate;
use corolab_lab::workload::footprint::Case;

use crate::gate;
use crate::stackless::{Stackless, park};

/// Measures the workload on tasks of `S`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S: Stackless>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let runtime = S::start(&assignment.settings)?;
    stand(case, turns, runtime, make::<S>, end::<S>)
}

/// Measures the workload on boxed futures, polled by hand.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure_bare(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    stand(case, turns, (), make_bare, end_bare)
}

fn stand<R, W>(
    case: Case,
    turns: &mut dyn Turns,
    mut runtime: R,
    make: impl FnOnce(&mut R, Case) -> Result<W, Refusal>,
    end: impl FnOnce(&mut R, W) -> u64,
) -> Result<(), Refusal> {
    if !turns.begin()? {
        return Ok(());
    }
    let mut watch = Stopwatch::new();
    watch.start();
    let waiting = make(&mut runtime, case)?;
    watch.stop();
    turns.stand(case.n, watch)?;
    case.check(end(&mut runtime, waiting))
}

/// Tasks that wait, and the gate that they wait at.
struct Waiting<S: Stackless> {
    gate: Arc<Gate<Waker>>,
    tasks: Vec<S::Task<u64>>,
}

fn make<S: Stackless>(runtime: &mut S, case: Case) -> Result<Waiting<S>, Refusal> {
    let gate = Arc::new(Gate::new(case.n));
    let at_gate = gate.clone();
    let tasks = runtime.run(move |cx| async move {
        let mut tasks = Vec::with_capacity(case.n as usize);
        for number in 1..=case.n {
            let gate = at_gate.clone();
            let task = S::spawn(&cx, move |_| task(number, gate));
            tasks.push(task);
        }
        gate::gather(&at_gate).await;
        tasks
    });
    Ok(Waiting { gate, tasks })
}

fn end<S: Stackless>(runtime: &mut S, waiting: Waiting<S>) -> u64 {
    let Waiting { gate, tasks } = waiting;
    runtime.run(move |cx| async move {
        gate::open(&gate);
        let mut answer = 0;
        for task in tasks {
            answer += S::join(&cx, task).await;
        }
        answer
    })
}

async fn task(number: u64, gate: Arc<Gate<Waker>>) -> u64 {
    gate::enter(&gate).await;
    number
}

/// Futures that wait, and where they give their numbers.
struct WaitingBare {
    told: Rc<Cell<u64>>,
    tasks: Vec<Pin<Box<dyn Future<Output = ()>>>>,
}

fn make_bare((): &mut (), case: Case) -> Result<WaitingBare, Refusal> {
    let told = Rc::new(Cell::new(0));
    let mut context = Context::from_waker(Waker::noop());
    let mut tasks = Vec::with_capacity(case.n as usize);
    for number in 1..=case.n {
        let tell = told.clone();
        let mut task: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move {
            park().await;
            tell.set(tell.get() + number);
        });
        let _ = task.as_mut().poll(&mut context);
        tasks.push(task);
    }
    Ok(WaitingBare { told, tasks })
}

fn end_bare((): &mut (), mut waiting: WaitingBare) -> u64 {
    let mut context = Context::from_waker(Waker::noop());
    for task in &mut waiting.tasks {
        let _ = task.as_mut().poll(&mut context);
    }
    waiting.told.get()
}
