//! Futures without a runtime: bare in the switch layer, on the lab scheduler
//! in the scheduled layer.

use corolab_lab::child::Turns;
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Assignment, Contender, Family, Offer, admits_one_worker};
use corolab_lab::sample::Refusal;
use corolab_lab::versions;
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{footprint, ping_pong, switch, yield_now};

use crate::lab_scheduler::LabScheduler;
use crate::one_slot::OneSlot;
use crate::route::{Direct, Dyn, Suspend};
use crate::workload;

fn footprint(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    if footprint::Case::of(assignment)?.bare {
        workload::footprint::measure_bare(assignment, turns)
    } else {
        workload::footprint::measure::<LabScheduler>(assignment, turns)
    }
}

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    use workload::foreign::measure_bare;
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => measure_bare(assignment, turns, |_| Dyn),
        Some(foreign::SUSPEND) => measure_bare(assignment, turns, Suspend::by),
        _ => measure_bare(assignment, turns, |_| Direct),
    }
}

const ON_ITS_THREAD: &str = "a future is polled on its thread's stack already; direct is measured";
const NOBODY_ELSE: &str = "it has no scheduler whose other tasks could run meanwhile";

const LACKS: &[foreign::Lack] = &[
    (foreign::PARENT_STACK, foreign::senseless, ON_ITS_THREAD),
    (foreign::BIG_STACK, foreign::senseless, ON_ITS_THREAD),
    (foreign::BLOCK_IN_PLACE, foreign::senseless, NOBODY_ELSE),
    (foreign::SPAWN_BLOCKING, foreign::senseless, NOBODY_ELSE),
];

fn admits(condition: &Condition) -> Result<(), Refusal> {
    admits_one_worker(condition)?;
    foreign::admits(condition, Ground::Thread, false, LACKS)?;
    switch::one_layout(&condition.params)?;
    yield_now::one_way_to_yield(&condition.params)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

/// Futures polled by hand.
pub const CONTENDER: Contender = Contender {
    name: "hand-polled",
    family: Family::Stackless,
    package: "corolab-stackless",
    version: versions::of("corolab-stackless"),
    about: "Boxed futures polled through a pointer with a waker that does nothing; scheduled rows \
            run on the lab scheduler (one thread, one run queue, one-slot channel over park and \
            wake), where yielding is waking oneself.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        Offer::measured("switch", workload::switch::measure),
        Offer::measured("create", workload::create::measure),
        Offer::measured("yield", workload::yield_now::measure::<LabScheduler>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<LabScheduler, OneSlot>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<LabScheduler>),
        Offer::measured("footprint", footprint),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
