//! tokio: the current-thread and the multi-thread scheduler.

use std::future::Future;
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

use crate::route::{Direct, Dyn, Hop, InPlace};
use crate::stackless::{BlockInPlace, Channel, SpawnBlocking, Stackless, Timer};
use crate::workload;

/// The scheduler on the thread that runs it.
pub struct TokioCurrent(Runtime);

/// The scheduler with worker threads.
pub struct TokioMulti(Runtime);

/// tokio finds a task's runtime by itself.
#[derive(Clone, Copy)]
pub struct Cx;

fn built(mut builder: Builder) -> Result<Runtime, Refusal> {
    builder
        .enable_time()
        .build()
        .map_err(|why| Refusal::new(Status::NotSupported, format!("no tokio runtime: {why}")))
}

/// Spawns the body as a task: the future of `block_on` is not one.
fn run<T, F, B>(runtime: &Runtime, body: B) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
    B: FnOnce(Cx) -> F,
{
    joined(runtime.block_on(runtime.spawn(body(Cx))))
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

        fn run<T, F, B>(&mut self, body: B) -> T
        where
            T: Send + 'static,
            F: Future<Output = T> + Send + 'static,
            B: FnOnce(Cx) -> F,
        {
            run(&self.0, body)
        }

        fn spawn<T, F, B>(cx: &Cx, body: B) -> task::JoinHandle<T>
        where
            T: Send + 'static,
            F: Future<Output = T> + Send + 'static,
            B: FnOnce(Cx) -> F,
        {
            task::spawn(body(*cx))
        }

        async fn join<T: Send + 'static>(_: &Cx, task: task::JoinHandle<T>) -> T {
            joined(task.await)
        }

        fn yield_now(_: &Cx) -> impl Future<Output = ()> + Send {
            task::yield_now()
        }
    };
}

impl Stackless for TokioCurrent {
    fn start(_: &Settings) -> Result<Self, Refusal> {
        built(Builder::new_current_thread()).map(TokioCurrent)
    }

    on_tokio!();
}

impl Stackless for TokioMulti {
    fn start(settings: &Settings) -> Result<Self, Refusal> {
        let workers = usize::try_from(settings.workers).unwrap_or(usize::MAX);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers); // counts before TOKIO_WORKER_THREADS
        built(builder).map(TokioMulti)
    }

    on_tokio!();
}

/// The optional parts that both schedulers share.
macro_rules! capabilities {
    ($($scheduler:ty),*) => {$(
        impl Timer for $scheduler {
            fn sleep(_: &Cx, time: Duration) -> impl Future<Output = ()> + Send {
                tokio::time::sleep(time)
            }
        }

        impl SpawnBlocking for $scheduler {
            async fn spawn_blocking<T, F>(work: F) -> T
            where
                T: Send + 'static,
                F: FnOnce() -> T + Send + 'static,
            {
                joined(task::spawn_blocking(work).await)
            }
        }
    )*};
}

capabilities!(TokioCurrent, TokioMulti);

impl BlockInPlace for TokioMulti {
    fn block_in_place<T, F: FnOnce() -> T>(work: F) -> T {
        task::block_in_place(work)
    }
}

fn foreign<S: Timer + SpawnBlocking>(
    assignment: &Assignment,
    turns: &mut dyn Turns,
) -> Result<(), Refusal> {
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => workload::foreign::measure::<S, Dyn>(assignment, turns, || Dyn),
        Some(foreign::SPAWN_BLOCKING) => {
            workload::foreign::measure::<S, Hop<S>>(assignment, turns, Hop::new)
        }
        _ => workload::foreign::measure::<S, Direct>(assignment, turns, || Direct),
    }
}

fn foreign_multi(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    if assignment.condition.params.word("route") != Some(foreign::BLOCK_IN_PLACE) {
        return foreign::<TokioMulti>(assignment, turns);
    }
    notes::say(foreign::HANDED_ON);
    let route = InPlace::<TokioMulti>::new;
    workload::foreign::measure::<TokioMulti, _>(assignment, turns, route)
}

const ON_ITS_THREAD: &str = "a future is polled on its thread's stack already; direct is measured";

const LACKS: &[foreign::Lack] = &[
    (foreign::PARENT_STACK, foreign::senseless, ON_ITS_THREAD),
    (foreign::BIG_STACK, foreign::senseless, ON_ITS_THREAD),
    (
        foreign::SUSPEND,
        foreign::senseless,
        "whoever polls it is tokio's scheduler, which makes no calls for its tasks",
    ),
];

const NO_OTHER_WORKER: &[foreign::Lack] = &[(
    foreign::BLOCK_IN_PLACE,
    foreign::senseless,
    "block_in_place panics on the current-thread scheduler: there is no other worker to hand tasks to",
)];

/// tokio's bounded channel with room for one.
pub struct Mpsc;

impl Channel for Mpsc {
    type Sender = mpsc::Sender<u64>;
    type Receiver = mpsc::Receiver<u64>;
    type Closed = mpsc::error::SendError<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::channel(1)
    }

    fn send(
        sender: &mut Self::Sender,
        message: u64,
    ) -> impl Future<Output = Result<(), Self::Closed>> + Send {
        sender.send(message)
    }

    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send {
        receiver.recv()
    }
}

fn admits_current(condition: &Condition) -> Result<(), Refusal> {
    admits_one_worker(condition)?;
    foreign::admits(condition, Ground::Thread, true, NO_OTHER_WORKER)?;
    admits_multi(condition)
}

fn admits_multi(condition: &Condition) -> Result<(), Refusal> {
    foreign::admits(condition, Ground::Thread, true, LACKS)?;
    footprint::only(footprint::TASK, &condition.params, ON_A_SCHEDULER)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

const ON_A_SCHEDULER: &str = "tasks of tokio are on its scheduler; form=task is measured";

const NO_SWITCH: Offer = Offer::not_applicable(
    "switch",
    "tokio polls futures only as tasks; hand-polled is the bare poll",
);

const NO_CREATE: Offer = Offer::not_applicable(
    "create",
    "tokio makes futures into tasks only on its scheduler; see spawn",
);

/// tokio's current-thread scheduler.
pub const CURRENT: Contender = Contender {
    name: "tokio-current",
    family: Family::Stackless,
    package: "tokio",
    version: versions::of("tokio"),
    about: "The current-thread scheduler, spawned tasks on both ends, mpsc::channel(1). Time driver \
            on, I/O driver off: nothing here waits for a socket, and with it each idle tick of \
            yield_now also asks epoll.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        NO_SWITCH,
        NO_CREATE,
        Offer::measured("yield", workload::yield_now::measure::<TokioCurrent>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<TokioCurrent, Mpsc>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<TokioCurrent>),
        Offer::measured("footprint", workload::footprint::measure::<TokioCurrent>),
        Offer::measured("foreign", foreign::<TokioCurrent>),
    ],
    admits: admits_current,
};

/// tokio's multi-thread scheduler.
pub const MULTI: Contender = Contender {
    name: "tokio-multi",
    family: Family::Stackless,
    package: "tokio",
    version: versions::of("tokio"),
    about: "The work-stealing scheduler with as many workers as the block has, spawned tasks on both \
            ends, mpsc::channel(1). Time driver on, I/O driver off.",
    prices: None,
    maps_per_task: 0,
    offers: &[
        NO_SWITCH,
        NO_CREATE,
        Offer::measured("yield", workload::yield_now::measure::<TokioMulti>),
        Offer::measured(
            "ping_pong",
            workload::ping_pong::measure::<TokioMulti, Mpsc>,
        ),
        Offer::measured("spawn", workload::spawn::measure::<TokioMulti>),
        Offer::measured("footprint", workload::footprint::measure::<TokioMulti>),
        Offer::measured("foreign", foreign_multi),
    ],
    admits: admits_multi,
};
