//! corosensei on tokio: each task is a fiber on a pooled stack, spawned on
//! tokio's own scheduler. Beside the tokio contenders only the representation
//! of a task differs.

use std::io;
use std::pin::pin;
use std::time::Duration;

use corolab_lab::child::Turns;
use corolab_lab::condition::{Condition, Settings};
use corolab_lab::contender::{Assignment, Contender, Family, Offer, admits_one_worker};
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{footprint, ping_pong};
use corolab_lab::{notes, versions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task;

use super::corosensei_pooled::{large_stacks, pool};
use crate::fiber::{Cx, Fiber};
use crate::route::{Direct, Dyn, Hop, InPlace, ParentStack};
use crate::stack::{Config, StackPool};
use crate::stackful::{BlockInPlace, Channel, SpawnBlocking, Stackful, Timer, stack_bytes};
use crate::workload;

/// The scheduler on the thread that runs it.
pub struct OnTokioCurrent(OnTokio);

/// The scheduler with worker threads.
pub struct OnTokioMulti(OnTokio);

struct OnTokio {
    runtime: Runtime,
    stacks: StackPool,
    bytes: usize,
}

impl OnTokio {
    fn start(mut builder: Builder, settings: &Settings) -> Result<Self, Refusal> {
        let bytes = stack_bytes(settings);
        let no_runtime =
            |why: io::Error| Refusal::new(Status::NotSupported, format!("no tokio runtime: {why}"));
        Ok(OnTokio {
            runtime: builder.enable_time().build().map_err(no_runtime)?,
            stacks: pool(Config::default(), bytes)?,
            bytes,
        })
    }

    /// Spawns the body as a task, as the twin does.
    fn run<T, F>(&self, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        let stack = self.stacks.stack(self.bytes);
        let fiber = Fiber::new(stack.expect("no stack for the first task"), body);
        joined(self.runtime.block_on(self.runtime.spawn(sendable(fiber))))
    }
}

fn sendable<T: Send + 'static>(fiber: Fiber<T>) -> impl Future<Output = T> + Send {
    // SAFETY: the workloads' bodies are written for schedulers that move their
    // tasks: they hold nothing that is bound to a thread across a suspension,
    // and keep no address of a thread-local.
    unsafe { fiber.into_send() }
}

fn joined<T>(ended: Result<T, task::JoinError>) -> T {
    ended.unwrap_or_else(|why| match why.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(why) => panic!("a task was cancelled: {why}"),
    })
}

/// The parts that both schedulers share: all but the start.
macro_rules! on_tokio {
    () => {
        type Cx = Cx;
        type Task<T: Send + 'static> = task::JoinHandle<T>;
        type Unparker = std::task::Waker;

        fn run<T, F>(&mut self, body: F) -> T
        where
            T: Send + 'static,
            F: FnOnce(&Cx) -> T + Send + 'static,
        {
            self.0.run(body)
        }

        fn spawn<T, F>(cx: &Cx, body: F) -> io::Result<task::JoinHandle<T>>
        where
            T: Send + 'static,
            F: FnOnce(&Cx) -> T + Send + 'static,
        {
            Ok(task::spawn(sendable(cx.fiber(body)?)))
        }

        #[inline(always)] // as what it calls: it suspends
        fn join<T: Send + 'static>(cx: &Cx, task: task::JoinHandle<T>) -> T {
            joined(cx.wait(task))
        }

        #[inline(always)] // as what it calls: it suspends
        fn yield_now(cx: &Cx) {
            // Once it has asked to be woken there is nothing left to poll.
            if cx.poll(pin!(task::yield_now())).is_pending() {
                cx.park();
            }
        }

        #[inline(always)] // as what it calls: it suspends
        fn self_wake(cx: &Cx) {
            cx.yield_now();
        }

        #[inline(always)] // as what it calls: it suspends
        fn park(cx: &Cx) {
            cx.park();
        }

        fn unparker(cx: &Cx) -> std::task::Waker {
            cx.waker()
        }

        fn unpark(unparker: std::task::Waker) {
            unparker.wake();
        }
    };
}

impl Stackful for OnTokioCurrent {
    fn start(settings: &Settings) -> Result<Self, Refusal> {
        OnTokio::start(Builder::new_current_thread(), settings).map(OnTokioCurrent)
    }

    on_tokio!();
}

impl Stackful for OnTokioMulti {
    fn start(settings: &Settings) -> Result<Self, Refusal> {
        let workers = usize::try_from(settings.workers).unwrap_or(usize::MAX);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers); // counts before TOKIO_WORKER_THREADS
        OnTokio::start(builder, settings).map(OnTokioMulti)
    }

    on_tokio!();
}

/// The optional parts that both schedulers share.
macro_rules! capabilities {
    ($($scheduler:ty),*) => {$(
        impl Timer for $scheduler {
            #[inline(always)] // as above
            fn sleep(cx: &Cx, time: Duration) {
                cx.wait(tokio::time::sleep(time));
            }
        }

        impl SpawnBlocking for $scheduler {
            #[inline(always)] // as above
            fn spawn_blocking<T, F>(cx: &Cx, work: F) -> T
            where
                T: Send + 'static,
                F: FnOnce() -> T + Send + 'static,
            {
                joined(cx.wait(task::spawn_blocking(work)))
            }
        }
    )*};
}

capabilities!(OnTokioCurrent, OnTokioMulti);

impl BlockInPlace for OnTokioMulti {
    fn block_in_place<T, F: FnOnce() -> T>(work: F) -> T {
        task::block_in_place(work)
    }
}

fn foreign<S: Timer + SpawnBlocking + Stackful<Cx = Cx>>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    use workload::foreign::measure;
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => measure::<S, _>(assignment, turns, || Dyn),
        Some(foreign::PARENT_STACK) => measure::<S, _>(assignment, turns, || ParentStack),
        Some(foreign::BIG_STACK) => {
            let large = large_stacks()?;
            measure::<S, _>(assignment, turns, move || large.clone())
        }
        Some(foreign::SPAWN_BLOCKING) => measure::<S, _>(assignment, turns, Hop::<S>::new),
        _ => measure::<S, _>(assignment, turns, || Direct),
    }
}

fn foreign_multi(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    if assignment.condition.params.word("route") != Some(foreign::BLOCK_IN_PLACE) {
        return foreign::<OnTokioMulti>(assignment, turns);
    }
    notes::say(foreign::HANDED_ON);
    let route = InPlace::<OnTokioMulti>::new;
    workload::foreign::measure::<OnTokioMulti, _>(assignment, turns, route)
}

const LACKS: &[foreign::Lack] = &[(
    foreign::SUSPEND,
    foreign::senseless,
    "whoever resumes it is polled by tokio's scheduler; parent-stack calls from that stack",
)];

const NO_OTHER_WORKER: &[foreign::Lack] = &[(
    foreign::BLOCK_IN_PLACE,
    foreign::senseless,
    "block_in_place panics on the current-thread scheduler: there is no other worker to hand tasks to",
)];

/// tokio's bounded channel with room for one.
pub struct Mpsc;

impl<S: Stackful<Cx = Cx>> Channel<S> for Mpsc {
    type Sender = mpsc::Sender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::channel(1)
    }

    #[inline(always)] // as above
    fn send(cx: &Cx, sender: &mut Self::Sender, message: u64) {
        cx.wait(sender.send(message))
            .expect("the receiver lives as long as its task");
    }

    #[inline(always)] // as above
    fn receive(cx: &Cx, receiver: &mut Self::Receiver) -> u64 {
        cx.wait(receiver.recv())
            .expect("the sender lives as long as its task")
    }
}

fn admits_current(condition: &Condition) -> Result<(), Refusal> {
    admits_one_worker(condition)?;
    foreign::admits(condition, Ground::OwnStack, true, NO_OTHER_WORKER)?;
    admits_multi(condition)
}

fn admits_multi(condition: &Condition) -> Result<(), Refusal> {
    foreign::admits(condition, Ground::OwnStack, true, LACKS)?;
    footprint::only(footprint::TASK, &condition.params, ON_A_SCHEDULER)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

const ON_A_SCHEDULER: &str = "tasks of tokio are on its scheduler; form=task is measured";

const NO_SWITCH: Offer = Offer::not_applicable(
    "switch",
    "fibers are resumed only by tokio's scheduler; corosensei-pooled is their bare resume",
);

const NO_CREATE: Offer = Offer::not_applicable(
    "create",
    "fibers are made into tasks only on tokio's scheduler; see spawn, and corosensei-pooled here",
);

/// Fibers on tokio's current-thread scheduler.
pub const CURRENT: Contender = Contender {
    name: "corosensei-on-tokio-current",
    family: Family::Stackful,
    package: "corosensei",
    version: versions::of("corosensei"),
    about: "A fiber for each task, on stacks of our pool, spawned on tokio's current-thread \
            scheduler with tokio's own mpsc::channel(1) and yield_now; all settings as for \
            tokio-current.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        NO_SWITCH,
        NO_CREATE,
        Offer::measured("yield", workload::yield_now::measure::<OnTokioCurrent>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<OnTokioCurrent, Mpsc>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<OnTokioCurrent>),
        Offer::measured("footprint", workload::footprint::measure::<OnTokioCurrent>),
        Offer::measured("foreign", foreign::<OnTokioCurrent>),
    ],
    admits: admits_current,
};

/// Fibers on tokio's multi-thread scheduler.
pub const MULTI: Contender = Contender {
    name: "corosensei-on-tokio-multi",
    family: Family::Stackful,
    package: "corosensei",
    version: versions::of("corosensei"),
    about: "A fiber for each task, on stacks of our pool, spawned on tokio's work-stealing \
            scheduler, between whose workers fibers move; all settings as for tokio-multi.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        NO_SWITCH,
        NO_CREATE,
        Offer::measured("yield", workload::yield_now::measure::<OnTokioMulti>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<OnTokioMulti, Mpsc>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<OnTokioMulti>),
        Offer::measured("footprint", workload::footprint::measure::<OnTokioMulti>),
        Offer::measured("foreign", foreign_multi),
    ],
    admits: admits_multi,
};
