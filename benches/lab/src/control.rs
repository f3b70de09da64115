//! The control of both families: the same work by a plain call, with no task.
//!
//! It prices everything but the subject: the loop, the count, the touched
//! bytes, and one call that the optimizer cannot see through.

use std::hint::black_box;

use crate::condition::Condition;
use crate::contender::{Assignment, Contender, Family, Offer};
use crate::crew::Crew;
use crate::sample::{Batch, Refusal};
use crate::stopwatch::Stopwatch;
use crate::turns::Turns;
use corolab_syscalls::callee::Callee;

use crate::workload::create::Written;
use crate::workload::foreign::{self, Ground};
use crate::workload::switch::{self, Own, Robin, Roll, Touched};
use crate::workload::{create, footprint, ping_pong, spawn, yield_now};
use crate::{versions, with_callee, with_touched_words, with_written_bytes};

fn switch(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = switch::Case::of(assignment)?;
    with_touched_words!(case.touch, switch_with(case, turns))
}

fn switch_with<T: Touched>(case: switch::Case, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let roll = Roll::new();
    let mut tasks: Vec<Box<dyn FnMut() + '_>> = Vec::with_capacity(case.live);
    for _ in 0..case.live {
        let mut own = Own::<T>::new();
        let roll = &roll;
        tasks.push(Box::new(move || {
            if roll.is_calling() {
                let _ = roll.tell(&mut own);
            } else {
                own.turn();
            }
        }));
    }
    let mut robin = Robin::new(case.live);
    turns.serve(1, &switch::Case::answer, &mut |resumes| {
        let mut watch = Stopwatch::new();
        watch.start();
        for _ in 0..resumes {
            tasks[robin.step()]();
        }
        watch.stop();
        let answer = roll.call(|| robin.visited(resumes).for_each(|at| tasks[at]()));
        Ok(Batch::new(watch, answer))
    })
}

fn create(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = create::Case::of(assignment)?;
    with_written_bytes!(case.touch, create_with(case, turns))
}

fn create_with<B: Written>(case: create::Case, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let mut crew = Crew::new(case.threads, || |rounds| Ok(lives::<B>(rounds)));
    turns.serve(case.threads, &|rounds| case.answer(rounds), &mut |rounds| {
        let mut watch = Stopwatch::new();
        watch.start();
        let answer = crew.work(rounds)?;
        watch.stop();
        Ok(Batch::new(watch, answer))
    })
}

fn lives<B: Written>(rounds: u64) -> u64 {
    let life = black_box(life::<B> as fn(u64) -> u64);
    (1..=rounds).map(life).sum()
}

#[inline(never)]
fn life<B: Written>(number: u64) -> u64 {
    let mut own = B::new();
    own.write(number);
    own.read(number)
}

/// A touched page for each task, and no task.
fn footprint(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    const WORDS: usize = 4_096 / size_of::<u64>();
    let case = footprint::Case::of(assignment)?;
    if !turns.begin()? {
        return Ok(());
    }
    let mut watch = Stopwatch::new();
    watch.start();
    let mut pages = vec![0; case.n as usize * WORDS];
    for (page, number) in pages.chunks_exact_mut(WORDS).zip(1..) {
        page[0] = number;
    }
    let pages = black_box(pages);
    watch.stop();
    turns.stand(case.n, watch)?;
    case.check(pages.iter().step_by(WORDS).sum())
}

#[inline(never)]
fn step(x: u64) -> u64 {
    black_box(x) + 1
}

/// A function that the optimizer cannot see.
fn hidden() -> fn(u64) -> u64 {
    black_box(step)
}

fn yield_now(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = yield_now::Case::of(assignment)?;
    let step = hidden();
    turns.serve(case.tasks, &|rounds| case.answer(rounds), &mut |rounds| {
        let mut watch = Stopwatch::new();
        let mut answer = 0;
        watch.start();
        for task in 1..=case.tasks {
            let mut count = 0;
            for _ in 0..rounds {
                count = step(count);
            }
            answer += task * count;
        }
        watch.stop();
        Ok(Batch::new(watch, answer))
    })
}

fn ping_pong(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = ping_pong::Case::of(assignment)?;
    let step = hidden();
    turns.serve(case.pairs, &|rounds| case.answer(rounds), &mut |rounds| {
        let mut watch = Stopwatch::new();
        let mut answer = 0;
        watch.start();
        for _ in 0..case.pairs {
            for ball in 0..rounds {
                answer += step(ball);
            }
        }
        watch.stop();
        Ok(Batch::new(watch, answer))
    })
}

fn spawn(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = spawn::Case::of(assignment)?;
    let step = hidden();
    turns.serve(case.batch, &|rounds| case.answer(rounds), &mut |rounds| {
        let mut watch = Stopwatch::new();
        let mut answer = 0;
        watch.start();
        for _ in 0..rounds {
            for number in 0..case.batch {
                answer += step(number);
            }
        }
        watch.stop();
        Ok(Batch::new(watch, answer))
    })
}

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = foreign::Case::of(assignment)?;
    let dynamic = assignment.condition.params.word("route") == Some(foreign::DYN);
    with_callee!(case.callee, foreign_calling(case, dynamic, turns))
}

fn foreign_calling<K: Callee>(
    case: foreign::Case,
    dynamic: bool,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    let callee = case.equip::<K>()?.remove(0);
    let calls = if dynamic {
        foreign::through_object::<K>
    } else {
        foreign::direct::<K>
    };
    case.serve(turns, &mut |rounds| {
        let mut watch = Stopwatch::new();
        watch.start();
        let answer = calls(&callee, rounds).map_err(|why| case.refused(&why, 0))?;
        watch.stop();
        Ok(Batch::new(watch, answer))
    })
}

const NO_TASK: &str = "a plain call leaves no task: direct is measured";

fn admits(condition: &Condition) -> Result<(), Refusal> {
    foreign::admits_direct(
        condition,
        Ground::Thread,
        false,
        foreign::senseless,
        NO_TASK,
    )?;
    switch::one_layout(&condition.params)?;
    create::no_memory_of_its_own(&condition.params)?;
    footprint::only(
        footprint::BARE,
        &condition.params,
        "a page for each task is measured as form=bare",
    )?;
    yield_now::one_way_to_yield(&condition.params)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

/// A plain call.
pub const CALL: Contender = Contender {
    name: "call",
    family: Family::Control,
    package: "corolab-lab",
    version: versions::of("corolab-lab"),
    about: "The same work by a plain call: what remains of a row when the subject is taken away. In \
            footprint, a touched page for each task.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        Offer::measured("switch", switch),
        Offer::measured("create", create),
        Offer::measured("yield", yield_now),
        Offer::measured("ping_pong", ping_pong),
        Offer::measured("spawn", spawn),
        Offer::measured("footprint", footprint),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
