//! corosensei on our stacks, bare. Switch layer only.

use std::io;

use corolab_lab::child::Turns;
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{create, footprint, switch};
use corolab_lab::{notes, versions};
use corosensei::Yielder;

use super::corosensei::{BARE_LACKS, foreign_bare};
use crate::route::BigStack;
use crate::stack::{Colours, Config, PooledStack, Release, StackPool, name_overflows};
use crate::stackful::{Coroutine, stack_bytes};
use crate::workload;

/// A coroutine on a stack of a pool.
pub struct Pooled(corosensei::Coroutine<(), (), (), PooledStack>);

/// The pool, and the size that every stack of a condition has.
#[derive(Clone)]
pub struct Stacks {
    pool: StackPool,
    bytes: usize,
}

impl Coroutine for Pooled {
    type Yielder<'y> = &'y Yielder<(), ()>;
    type Stacks = Stacks;
    type Kept = ();

    fn stacks(assignment: &Assignment) -> Result<Stacks, Refusal> {
        let (params, bytes) = (
            &assignment.condition.params,
            stack_bytes(&assignment.settings),
        );
        let config = match params.word("form") {
            Some(switch::UNCOLOURED) => Config::default().colours(Colours::NONE),
            Some(create::FRESH) => {
                notes::say("fresh: each stack's memory goes back by MADV_DONTNEED");
                let release = Release::DontNeed { kept: 0 };
                Config::default().release(release).cached(0)
            }
            // SAFETY: `switch` has this form where a task's own state is
            // empty; its tasks use a few hundred bytes of at least 4 KiB.
            Some(switch::HUGE_PAGES) => unsafe { Config::default().unguarded() }.huge_pages(true),
            _ => Config::default(),
        };
        pool(config, bytes).map(|pool| Stacks { pool, bytes })
    }

    fn new<F>(stacks: &Stacks, (): &mut (), body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static,
    {
        let stack = stacks.pool.stack(stacks.bytes)?;
        Ok(Pooled(corosensei::Coroutine::with_stack(
            stack,
            |mut yielder: &Yielder<(), ()>, ()| body(&mut yielder),
        )))
    }

    #[inline]
    fn suspend(yielder: &mut Self::Yielder<'_>) {
        yielder.suspend(());
    }

    #[inline]
    fn resume(&mut self) {
        self.0.resume(());
    }

    #[inline]
    fn end(self, _: &Stacks, (): &mut ()) {}
}

/// A pool of one size; what guards it got becomes a note of the rows.
///
/// # Errors
/// What the machine does not have.
pub fn pool(config: Config, bytes: usize) -> Result<StackPool, Refusal> {
    // A child that overflows says so, and its row does too. Without a handler
    // it still dies of its signal.
    drop(name_overflows());
    let made = StackPool::with(config.classes([bytes]));
    let pool = made.map_err(|why| Refusal::new(Status::NotSupported, why.to_string()))?;
    notes::say(format!("stacks of a pool, {}", pool.guard().name()));
    Ok(pool)
}

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    foreign_bare::<Pooled, _>(assignment, turns, large_stacks()?)
}

/// The route by stacks of a pool that are large enough for most foreign code.
///
/// # Errors
/// What the machine does not have.
pub fn large_stacks() -> Result<BigStack, Refusal> {
    pool(Config::default(), foreign::BIG).map(BigStack)
}

fn admits(condition: &Condition) -> Result<(), Refusal> {
    foreign::admits(condition, Ground::OwnStack, false, BARE_LACKS)?;
    footprint::only(
        footprint::BARE,
        &condition.params,
        "it has no scheduler; form=bare is measured",
    )
}

const NO_SCHEDULER: &str = "corosensei has no scheduler; corosensei-on-tokio has these stacks too";

/// corosensei on our stacks.
pub const CONTENDER: Contender = Contender {
    name: "corosensei-pooled",
    family: Family::Stackful,
    package: "corosensei",
    version: versions::of("corosensei"),
    about: "Coroutines on stacks of our pool: cut from large mappings, guarded without a mapping \
            each, tops coloured by cache lines, used again.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        Offer::measured("switch", workload::switch::measure::<Pooled>),
        Offer::measured("create", workload::create::measure::<Pooled>),
        Offer::not_offered("yield", NO_SCHEDULER),
        Offer::not_offered("ping_pong", NO_SCHEDULER),
        Offer::not_offered("spawn", NO_SCHEDULER),
        Offer::measured("footprint", workload::footprint::measure_bare::<Pooled>),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
