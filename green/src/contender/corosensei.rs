//! corosensei with its own `DefaultStack`: bare in the switch layer, on the
//! lab scheduler in the scheduled layer.

use std::io;

use corolab_lab::child::Turns;
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Assignment, Contender, Family, Offer, admits_one_worker};
use corolab_lab::sample::Refusal;
use corolab_lab::versions;
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{create, footprint, ping_pong, switch, yield_now};
use corosensei::Yielder;
use corosensei::stack::DefaultStack;

use crate::ceiling::ceiling;
use crate::lab_scheduler::LabScheduler;
use crate::one_slot::OneSlot;
use crate::route::{Direct, Dyn, KeptStack, ParentStack, Route, Suspend};
use crate::stackful::{Coroutine, stack_bytes};
use crate::workload;

/// A coroutine on a stack that was mapped for it alone.
pub struct Corosensei(corosensei::Coroutine<(), (), ()>);

impl Coroutine for Corosensei {
    type Yielder<'y> = &'y Yielder<(), ()>;
    type Stacks = Stacks;
    type Kept = Option<DefaultStack>;

    fn stacks(assignment: &Assignment) -> Result<Stacks, Refusal> {
        Ok(Stacks {
            bytes: stack_bytes(&assignment.settings),
            reused: create::is_reused(&assignment.condition.params),
        })
    }

    fn new<F>(stacks: &Stacks, kept: &mut Option<DefaultStack>, body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static,
    {
        let stack = match kept.take() {
            Some(stack) => stack,
            None => DefaultStack::new(stacks.bytes)?,
        };
        Ok(Corosensei(corosensei::Coroutine::with_stack(
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
    fn end(self, stacks: &Stacks, kept: &mut Option<DefaultStack>) {
        if stacks.reused {
            *kept = Some(self.0.into_stack());
        }
    }
}

/// The crate has no pool; a stack can be taken out of a coroutine that has
/// ended, and used again.
#[derive(Clone, Copy)]
pub struct Stacks {
    bytes: usize,
    reused: bool,
}

fn footprint(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    if footprint::Case::of(assignment)?.bare {
        workload::footprint::measure_bare::<Corosensei>(assignment, turns)
    } else {
        workload::footprint::measure::<LabScheduler>(assignment, turns)
    }
}

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let large = DefaultStack::new(foreign::BIG).map_err(|why| ceiling(&why, 0, 1))?;
    foreign_bare::<Corosensei, _>(assignment, turns, KeptStack::new(large))
}

/// The routes of a bare coroutine of corosensei, on whatever stacks.
///
/// # Errors
/// The refusal that becomes the row.
pub fn foreign_bare<C, L>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
    large: L,
) -> Result<(), Refusal>
where
    C: for<'y> Coroutine<Yielder<'y> = &'y Yielder<(), ()>>,
    L: for<'y> Route<&'y Yielder<(), ()>> + Clone + 'static,
{
    use workload::foreign::measure_bare;
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => measure_bare::<C, _>(assignment, turns, |_| Dyn),
        Some(foreign::PARENT_STACK) => measure_bare::<C, _>(assignment, turns, |_| ParentStack),
        Some(foreign::BIG_STACK) => measure_bare::<C, _>(assignment, turns, move |_| large.clone()),
        Some(foreign::SUSPEND) => measure_bare::<C, _>(assignment, turns, Suspend::<C>::by),
        _ => measure_bare::<C, _>(assignment, turns, |_| Direct),
    }
}

const NOBODY_ELSE: &str = "it has no scheduler whose other tasks could run meanwhile";

/// Routes that no bare coroutine has.
pub const BARE_LACKS: &[foreign::Lack] = &[
    (foreign::BLOCK_IN_PLACE, foreign::senseless, NOBODY_ELSE),
    (foreign::SPAWN_BLOCKING, foreign::senseless, NOBODY_ELSE),
];

fn admits(condition: &Condition) -> Result<(), Refusal> {
    admits_one_worker(condition)?;
    foreign::admits(condition, Ground::OwnStack, false, BARE_LACKS)?;
    switch::one_layout(&condition.params)?;
    yield_now::one_way_to_yield(&condition.params)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

/// corosensei with its own stacks.
pub const CONTENDER: Contender = Contender {
    name: "corosensei",
    family: Family::Stackful,
    package: "corosensei",
    version: versions::of("corosensei"),
    about: "Coroutines on the crate's DefaultStack, each mapped fresh; scheduled rows run on the \
            lab scheduler (one thread, one run queue, one-slot channel over park and unpark).",
    prices: None,
    maps_per_task: 2,
    offers: &[
        Offer::measured("switch", workload::switch::measure::<Corosensei>),
        Offer::measured("create", workload::create::measure::<Corosensei>),
        Offer::measured("yield", workload::yield_now::measure::<LabScheduler>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<LabScheduler, OneSlot<LabScheduler>>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<LabScheduler>),
        Offer::measured("footprint", footprint),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
