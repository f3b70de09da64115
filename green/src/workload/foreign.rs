//! `foreign`, stackful: a task that calls out is a stack on which others' code
//! runs.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::tails::Tails;
use corolab_lab::with_callee;
use corolab_lab::workload::Gates;
use corolab_lab::workload::foreign::{Case, together};
use corolab_syscalls::callee::Callee;

use crate::ceiling::ceiling;
use crate::route::{BareCaller, Caller, Request, Route, TaskCaller};
use crate::stackful::{Coroutine, Timer};
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
    R: for<'c> Route<&'c S::Cx> + Send + 'static,
{
    let case = Case::of(assignment)?;
    let callers = with_callee!(case.callee, callers::<S, R>(case, route))?;
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

type Callers<S> = Box<dyn Fn() -> Vec<TaskCaller<S>>>;

fn callers<S, R, K>(case: Case, route: impl Fn() -> R + 'static) -> Result<Callers<S>, Refusal>
where
    S: Timer,
    R: for<'c> Route<&'c S::Cx> + Send + 'static,
    K: Callee,
{
    let callees = case.equip::<K>()?;
    let bound = move |callee: &Arc<K>| -> TaskCaller<S> {
        Box::new(Bound {
            route: route(),
            callee: callee.clone(),
        })
    };
    Ok(Box::new(move || callees.iter().map(&bound).collect()))
}

fn batch<S: Timer>(
    cx: &S::Cx,
    case: Case,
    callers: Vec<TaskCaller<S>>,
    rounds: u64,
) -> Result<Batch, Refusal> {
    let gates = Arc::new(Gates::new(case.callers, case.callers));
    let mut tasks = Vec::new();
    for (caller, made) in callers.into_iter().zip(0..) {
        let gates = gates.clone();
        let task = S::spawn(cx, move |mut cx| {
            gate::enter::<S>(cx, &gates.start);
            let batch = caller.timed(&mut cx, rounds);
            gate::enter::<S>(cx, &gates.finish);
            batch
        });
        tasks.push(task.map_err(|why| ceiling(&why, made, case.callers))?);
    }
    for gate in [&gates.start, &gates.finish] {
        gate::gather::<S>(cx, gate);
        gate::open::<S>(gate);
    }
    let mut batches = Vec::new();
    for task in tasks {
        batches.push(S::join(cx, task).map_err(|why| case.refused(&why, 0))?);
    }
    together(batches)
}

/// A route bound to a callee.
struct Bound<R, K> {
    route: R,
    callee: Arc<K>,
}

impl<X, R: Route<X>, K: Callee> Caller<X> for Bound<R, K> {
    fn timed(mut self: Box<Self>, cx: &mut X, rounds: u64) -> io::Result<Batch> {
        let mut watch = Stopwatch::new();
        watch.start();
        let count = self.route.calls(cx, &self.callee, rounds)?;
        watch.stop();
        Ok(Batch::new(watch, count).telling(self.route.tails()))
    }

    fn call(&mut self, cx: &mut X) -> io::Result<u64> {
        self.route.calls(cx, &self.callee, 1)
    }

    fn tails(self: Box<Self>) -> Tails {
        self.route.tails()
    }
}

/// Measures the workload on a coroutine of `C`, resumed by hand; `route` is told
/// where it can ask the resumer for a call.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure_bare<C, R>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
    route: impl Fn(&Rc<Request>) -> R + 'static,
) -> Result<(), Refusal>
where
    C: Coroutine,
    R: for<'y> Route<C::Yielder<'y>> + 'static,
{
    let case = Case::of(assignment)?;
    let bare = with_callee!(case.callee, callers_bare::<C, R>(case, route))?;
    let (stacks, mut kept) = (C::stacks(assignment)?, C::Kept::default());
    case.serve(turns, &mut |rounds| {
        let told = Rc::new(Cell::new(None));
        let (tell, caller) = (told.clone(), (bare.caller)());
        let task = C::new(&stacks, &mut kept, move |yielder| {
            tell.set(Some(caller.timed(yielder, rounds)));
        });
        let mut task = task.map_err(|why| ceiling(&why, 0, 1))?;
        (bare.drive)(&mut task).map_err(|why| case.refused(&why, 0))?;
        task.end(&stacks, &mut kept);
        let batch = told
            .take()
            .ok_or_else(|| Refusal::failed("the task has not ended"))?;
        batch.map_err(|why| case.refused(&why, 0))
    })
}

/// A bare coroutine's caller, and who resumes it and makes the calls that it
/// asks for.
struct Bare<C: Coroutine> {
    caller: Box<dyn Fn() -> BareCaller<C>>,
    drive: Box<Drive<C>>,
}

type Drive<C> = dyn Fn(&mut C) -> io::Result<()>;

fn callers_bare<C, R, K>(
    case: Case,
    route: impl Fn(&Rc<Request>) -> R + 'static,
) -> Result<Bare<C>, Refusal>
where
    C: Coroutine,
    R: for<'y> Route<C::Yielder<'y>> + 'static,
    K: Callee,
{
    let callee = case.equip::<K>()?.remove(0);
    let (request, called) = (Rc::new(Request::default()), callee.clone());
    let asked = request.clone();
    Ok(Bare {
        caller: Box::new(move || {
            Box::new(Bound {
                route: route(&asked),
                callee: callee.clone(),
            })
        }),
        drive: Box::new(move |task| {
            loop {
                task.resume();
                match request.take() {
                    Some(count) => request.answer(called.call(count)?),
                    None => return Ok(()),
                }
            }
        }),
    })
}
