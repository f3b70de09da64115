//! `switch`, stackless: tasks are boxed futures, polled round robin.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use corolab_lab::child::Turns;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::with_touched_words;
use corolab_lab::workload::switch::{Case, Own, Robin, Roll, Touched};

use crate::stackless::park;

/// Measures the workload on futures polled by hand.
///
/// # Errors
/// The refusal that becomes the row.
pub fn measure(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    with_touched_words!(case.touch, measure_touching(case, turns))
}

fn measure_touching<T: Touched>(case: Case, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let roll = Rc::new(Roll::new());
    let mut context = Context::from_waker(Waker::noop());
    let mut resume = |task: &mut Pin<Box<dyn Future<Output = ()>>>| {
        let _ = task.as_mut().poll(&mut context);
    };
    let mut tasks: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::with_capacity(case.live);
    for _ in 0..case.live {
        let roll = roll.clone();
        let mut task: Pin<Box<dyn Future<Output = ()>>> = Box::pin(task::<T>(roll));
        resume(&mut task);
        tasks.push(task);
    }
    let mut robin = Robin::new(case.live);
    turns.serve(1, &Case::answer, &mut |resumes| {
        let mut watch = Stopwatch::new();
        watch.start();
        for _ in 0..resumes {
            resume(&mut tasks[robin.step()]);
        }
        watch.stop();
        let answer = roll.call(|| robin.visited(resumes).for_each(|at| resume(&mut tasks[at])));
        Ok(Batch::new(watch, answer))
    })?;
    roll.end(|| tasks.iter_mut().for_each(resume));
    Ok(())
}

async fn task<T: Touched>(roll: Rc<Roll>) {
    let mut own = Own::<T>::new();
    loop {
        park().await;
        if roll.is_calling() {
            if roll.tell(&mut own) {
                return;
            }
        } else {
            own.turn();
        }
    }
}
