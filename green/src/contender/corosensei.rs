//! corosensei with its own `DefaultStack`: bare in the switch layer, on the
//! lab scheduler in the scheduled layer.

use std::io;

use corolab_lab::condition::Condition;
use corolab_lab::contender::{Contender, Family, Offer, admits_one_worker};
use corolab_lab::sample::Refusal;
use corolab_lab::versions;
use corolab_lab::workload::{ping_pong, yield_now};
use corosensei::Yielder;
use corosensei::stack::DefaultStack;

use crate::lab_scheduler::LabScheduler;
use crate::one_slot::OneSlot;
use crate::stackful::Coroutine;
use crate::workload;

/// A coroutine on a stack that was mapped for it alone.
pub struct Corosensei(corosensei::Coroutine<(), (), ()>);

impl Coroutine for Corosensei {
    type Yielder<'y> = &'y Yielder<(), ()>;

    fn new<F>(stack: usize, body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static,
    {
        let stack = DefaultStack::new(stack)?;
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
}

fn admits(condition: &Condition) -> Result<(), Refusal> {
    admits_one_worker(condition)?;
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
        Offer::measured("yield", workload::yield_now::measure::<LabScheduler>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<LabScheduler, OneSlot<LabScheduler>>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<LabScheduler>),
    ],
    admits,
};
