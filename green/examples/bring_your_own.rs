//! Bring your own stackful contender: one file, `impl Stackful` and a `main`
//! of one line.
//!
//! ```text
//! cargo build --release -p corolab-green --example bring_your_own_stackful
//! corolab run --runner target/release/examples/bring_your_own_stackful
//! ```
//!
//! The contender here starts a thread for each task; put your crate's calls in
//! their place. What it cannot do it says so, and the report shows that too.

use std::io;
use std::process::ExitCode;
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use corolab_green::route::{Direct, Dyn};
use corolab_green::stackful::{Stackful, Timer};
use corolab_green::workload;
use corolab_lab::condition::{Condition, Settings};
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::heap::Counting;
use corolab_lab::sample::Refusal;
use corolab_lab::turns::Turns;
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{footprint, yield_now};
use corolab_lab::{child, versions};

/// Your scheduler; here the kernel's.
struct Mine;

/// What a running task has in hand; nothing here.
struct Cx;

impl Stackful for Mine {
    type Cx = Cx;
    type Task<T: Send + 'static> = JoinHandle<T>;
    type Unparker = Thread;

    fn start(_: &Settings) -> Result<Self, Refusal> {
        Ok(Mine)
    }

    fn run<T, F>(&mut self, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        thread::spawn(|| body(&Cx))
            .join()
            .expect("the first task ends well")
    }

    fn spawn<T, F>(_: &Cx, body: F) -> io::Result<JoinHandle<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        thread::Builder::new().spawn(|| body(&Cx))
    }

    fn join<T: Send + 'static>(_: &Cx, task: JoinHandle<T>) -> T {
        task.join().expect("the task ends well")
    }

    fn yield_now(_: &Cx) {
        thread::yield_now();
    }

    fn park(_: &Cx) {
        thread::park();
    }

    fn unparker(_: &Cx) -> Thread {
        thread::current()
    }

    fn unpark(unparker: Thread) {
        unparker.unpark();
    }
}

impl Timer for Mine {
    fn sleep(_: &Cx, time: Duration) {
        thread::sleep(time);
    }
}

/// Calls out of a task; further routes are types in `corolab_green::route`.
fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => workload::foreign::measure::<Mine, _>(assignment, turns, || Dyn),
        _ => workload::foreign::measure::<Mine, _>(assignment, turns, || Direct),
    }
}

/// What a batch asks of the heap is counted by the runner's own allocator.
#[global_allocator]
static HEAP: Counting = Counting;

fn admits(condition: &Condition) -> Result<(), Refusal> {
    let why = "the example brings no other route";
    foreign::admits_direct(condition, Ground::OwnStack, true, foreign::not_offered, why)?;
    footprint::only(footprint::TASK, &condition.params, "nothing here is bare")?;
    yield_now::one_way_to_yield(&condition.params)
}

const MINE: Contender = Contender {
    name: "my-threads",
    family: Family::Stackful,
    package: "std",
    version: versions::of("std"),
    about: "An example: a thread for each task.",
    prices: None,
    maps_per_task: 2,
    offers: &[
        Offer::not_offered("switch", "nothing here is resumed by hand"),
        Offer::not_offered("create", "nothing here is resumed by hand"),
        Offer::measured("yield", workload::yield_now::measure::<Mine>),
        Offer::not_offered("ping_pong", "the example brings no channel"),
        Offer::measured("spawn", workload::spawn::measure::<Mine>),
        Offer::measured("footprint", workload::footprint::measure::<Mine>),
        Offer::measured("foreign", foreign),
    ],
    admits,
};

fn main() -> ExitCode {
    child::main(&[&MINE])
}
