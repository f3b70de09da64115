//! `switch` written by hand on corosensei, with none of our traits: what the
//! row of `corosensei` costs more than this is the cost of our abstraction.

use std::rc::Rc;

use corolab_lab::child::Turns;
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::workload::switch::{self, Case, Own, Robin, Roll, Touched};
use corolab_lab::{versions, with_touched_words};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};

use crate::ceiling::ceiling;
use crate::stackful::stack_bytes;

fn measure(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = Case::of(assignment)?;
    let stack = stack_bytes(&assignment.settings);
    with_touched_words!(case.touch, measure_touching(case, stack, turns))
}

fn measure_touching<T: Touched>(
    case: Case,
    stack: usize,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let roll = Rc::new(Roll::new());
    let mut tasks: Vec<Coroutine<(), (), ()>> = Vec::with_capacity(case.live);
    for made in 0..case.live {
        let stack =
            DefaultStack::new(stack).map_err(|why| ceiling(&why, made as u64, case.live as u64))?;
        let roll = roll.clone();
        let mut task = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            let mut own = Own::<T>::new();
            loop {
                yielder.suspend(());
                if roll.is_calling() {
                    if roll.tell(&mut own) {
                        return;
                    }
                } else {
                    own.turn();
                }
            }
        });
        task.resume(());
        tasks.push(task);
    }
    let mut robin = Robin::new(case.live);
    turns.serve(1, &Case::answer, &mut |resumes| {
        let mut watch = Stopwatch::new();
        watch.start();
        for _ in 0..resumes {
            tasks[robin.step()].resume(());
        }
        watch.stop();
        let answer = roll.call(|| {
            for at in robin.visited(resumes) {
                tasks[at].resume(());
            }
        });
        Ok(Batch::new(watch, answer))
    })?;
    roll.end(|| {
        for task in &mut tasks {
            task.resume(());
        }
    });
    Ok(())
}

fn admits(condition: &Condition) -> Result<(), Refusal> {
    switch::one_layout(&condition.params)
}

/// corosensei without our traits.
pub const CONTENDER: Contender = Contender {
    name: "corosensei-by-hand",
    family: Family::Stackful,
    package: "corosensei",
    version: versions::of("corosensei"),
    about: "The switch workload written by hand on the bare crate, to price our own traits.",
    prices: Some("corosensei"),
    maps_per_task: 2,
    offers: &[
        Offer::measured("switch", measure),
        Offer::not_applicable("create", "only the switch workload is priced by hand"),
        Offer::not_applicable("yield", "only the switch workload is priced by hand"),
        Offer::not_applicable("ping_pong", "only the switch workload is priced by hand"),
        Offer::not_applicable("spawn", "only the switch workload is priced by hand"),
        Offer::not_applicable("footprint", "only the switch workload is priced by hand"),
        Offer::not_applicable("foreign", "only the switch workload is priced by hand"),
    ],
    admits,
};
