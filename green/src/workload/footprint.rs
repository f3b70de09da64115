//! `footprint`, stackful: what waits is a stack.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::Refusal;
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::Gate;
use corolab_lab::workload::footprint::Case;

use crate::ceiling::ceiling;
use crate::gate;
use crate::stackful::{Coroutine, Stackful};

/// Measures the workload on tasks of `S`.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure<S: Stackful>(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let runtime = S::start(&assignment.settings)?;
    stand(case, turns, runtime, make::<S>, end::<S>)
}

/// Measures the workload on coroutines of `C`, resumed by hand.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure_bare<C: Coroutine>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let stacks = C::stacks(assignment)?;
    stand(case, turns, stacks, make_bare::<C>, end_bare::<C>)
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
struct Waiting<S: Stackful> {
    gate: Arc<Gate<S::Unparker>>,
    tasks: Vec<S::Task<u64>>,
}

fn make<S: Stackful>(runtime: &mut S, case: Case) -> Result<Waiting<S>, Refusal> {
    let gate = Arc::new(Gate::new(case.n));
    let at_gate = gate.clone();
    let tasks = runtime.run(move |cx| {
        let mut tasks = Vec::with_capacity(case.n as usize);
        for number in 1..=case.n {
            let gate = at_gate.clone();
            let task = S::spawn(cx, move |cx| task::<S>(cx, number, &gate));
            tasks.push(task.map_err(|why| ceiling(&why, number - 1, case.n))?);
        }
        gate::gather::<S>(cx, &at_gate);
        Ok(tasks)
    })?;
    Ok(Waiting { gate, tasks })
}

fn end<S: Stackful>(runtime: &mut S, waiting: Waiting<S>) -> u64 {
    let Waiting { gate, tasks } = waiting;
    runtime.run(move |cx| {
        gate::open::<S>(&gate);
        let mut answer = 0;
        for task in tasks {
            answer += S::join(cx, task);
        }
        answer
    })
}

fn task<S: Stackful>(cx: &S::Cx, number: u64, gate: &Gate<S::Unparker>) -> u64 {
    gate::enter::<S>(cx, gate);
    number
}

/// Coroutines that wait, and where they give their numbers.
struct WaitingBare<C> {
    told: Rc<Cell<u64>>,
    tasks: Vec<C>,
}

fn make_bare<C: Coroutine>(stacks: &mut C::Stacks, case: Case) -> Result<WaitingBare<C>, Refusal> {
    let told = Rc::new(Cell::new(0));
    let mut kept = C::Kept::default();
    let mut tasks = Vec::with_capacity(case.n as usize);
    for number in 1..=case.n {
        let tell = told.clone();
        let task = C::new(stacks, &mut kept, move |yielder| {
            C::suspend(yielder);
            tell.set(tell.get() + number);
        });
        match task {
            Ok(mut task) => {
                task.resume();
                tasks.push(task);
            }
            Err(why) => {
                // They end: to unwind them takes more stack than some have.
                tasks.iter_mut().for_each(C::resume);
                return Err(ceiling(&why, number - 1, case.n));
            }
        }
    }
    Ok(WaitingBare { told, tasks })
}

fn end_bare<C: Coroutine>(_: &mut C::Stacks, mut waiting: WaitingBare<C>) -> u64 {
    waiting.tasks.iter_mut().for_each(C::resume);
    waiting.told.get()
}
