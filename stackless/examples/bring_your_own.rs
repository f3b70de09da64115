//! Bring your own stackless contender: one file, `impl Stackless` and a `main`
//! of one line.
//!
//! ```text
//! cargo build --release -p corolab-stackless --example bring_your_own_stackless
//! corolab run --runner target/release/examples/bring_your_own_stackless
//! ```
//!
//! The contender here polls each task on a thread of its own; put your crate's
//! calls in their place. What it cannot do it says so, and the report shows
//! that too.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use corolab_lab::condition::{Condition, Settings};
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::sample::Refusal;
use corolab_lab::turns::Turns;
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{footprint, yield_now};
use corolab_lab::{child, versions};
use corolab_stackless::route::{Direct, Dyn};
use corolab_stackless::stackless::{Stackless, Timer, self_wake};
use corolab_stackless::workload;

/// Your scheduler; here the kernel's.
struct Mine;

/// What a running task has in hand; nothing here.
#[derive(Clone)]
struct Cx;

/// A task's value once it has ended, and who waits for it.
type Slot<T> = Arc<Mutex<(Option<T>, Option<Waker>)>>;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

impl Stackless for Mine {
    type Cx = Cx;
    type Task<T: Send + 'static> = Slot<T>;

    fn start(_: &Settings) -> Result<Self, Refusal> {
        Ok(Mine)
    }

    fn run<T, F, B>(&mut self, body: B) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        B: FnOnce(Cx) -> F,
    {
        block_on(body(Cx))
    }

    fn spawn<T, F, B>(cx: &Cx, body: B) -> Slot<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        B: FnOnce(Cx) -> F,
    {
        let future = body(cx.clone());
        let slot = Slot::<T>::default();
        let to_fill = slot.clone();
        thread::spawn(move || {
            let value = block_on(future);
            let mut slot = to_fill.lock().expect("nobody panics with the slot in hand");
            slot.0 = Some(value);
            slot.1.take().into_iter().for_each(Waker::wake);
        });
        slot
    }

    async fn join<T: Send + 'static>(_: &Cx, task: Slot<T>) -> T {
        poll_fn(|context| {
            let mut slot = task.lock().expect("nobody panics with the slot in hand");
            match slot.0.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    slot.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    async fn yield_now(_: &Cx) {
        thread::yield_now();
        self_wake().await;
    }
}

impl Timer for Mine {
    async fn sleep(_: &Cx, time: Duration) {
        thread::sleep(time); // its thread polls nobody else
    }
}

/// Calls out of a task; further routes are types in `corolab_stackless::route`.
fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => workload::foreign::measure::<Mine, _>(assignment, turns, || Dyn),
        _ => workload::foreign::measure::<Mine, _>(assignment, turns, || Direct),
    }
}

fn admits(condition: &Condition) -> Result<(), Refusal> {
    let why = "the example brings no other route";
    foreign::admits_direct(condition, Ground::Thread, true, foreign::not_offered, why)?;
    footprint::only(footprint::TASK, &condition.params, "nothing here is bare")?;
    yield_now::one_way_to_yield(&condition.params)
}

const MINE: Contender = Contender {
    name: "my-futures",
    family: Family::Stackless,
    package: "std",
    version: versions::of("std"),
    about: "An example: each task polled on a thread of its own.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        Offer::not_offered("switch", "nothing here is polled by hand"),
        Offer::not_offered("create", "nothing here is polled by hand"),
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
