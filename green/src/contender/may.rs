//! may: a whole stackful runtime, with its own scheduler and channels.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use corolab_lab::child::Turns;
use corolab_lab::condition::{Condition, Settings};
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{footprint, ping_pong, yield_now};
use corolab_lab::{notes, versions};
use may::coroutine;
use tokio::runtime::{Builder, Runtime};

use super::generator::NO_OTHER_STACK;
use crate::route::{Direct, Dyn, Hop};
use crate::stackful::{Channel, SpawnBlocking, Stackful, Timer, stack_bytes};
use crate::workload;

/// The process's one may scheduler.
pub struct May;

/// may finds a coroutine's context by itself.
pub struct Cx;

impl Stackful for May {
    type Cx = Cx;
    type Task<T: Send + 'static> = coroutine::JoinHandle<T>;
    type Unparker = coroutine::Coroutine;

    fn start(settings: &Settings) -> Result<Self, Refusal> {
        // Configuration is global and counts only before the first spawn.
        static STARTED: OnceLock<(u64, u64)> = OnceLock::new();
        let wanted = (settings.workers, settings.stack);
        let standing = *STARTED.get_or_init(|| {
            let workers = usize::try_from(settings.workers).unwrap_or(usize::MAX);
            // Words, not bytes; whole pages keep the count even (an odd one
            // makes the crate fill every stack and print).
            let stack = stack_bytes(settings).min(usize::MAX / 2);
            let in_words = stack.next_multiple_of(4_096) / size_of::<usize>();
            let config = may::config();
            config.set_workers(workers).set_stack_size(in_words);
            config.set_worker_pin(false); // on by default; nobody else is pinned
            wanted
        });
        if standing == wanted {
            Ok(May)
        } else {
            Err(Refusal::new(
                Status::NotSupported,
                format!(
                    "may is configured once for a process: {} workers and {} B of stack stand, \
                     {} and {} were asked for; use a process of its own",
                    standing.0, standing.1, wanted.0, wanted.1
                ),
            ))
        }
    }

    fn run<T, F>(&mut self, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        join(spawn(body).expect("may spawns without an error"))
    }

    fn spawn<T, F>(_: &Cx, body: F) -> io::Result<coroutine::JoinHandle<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        spawn(body)
    }

    fn join<T: Send + 'static>(_: &Cx, task: coroutine::JoinHandle<T>) -> T {
        join(task)
    }

    fn yield_now(_: &Cx) {
        coroutine::yield_now();
    }

    fn park(_: &Cx) {
        coroutine::park();
    }

    fn unparker(_: &Cx) -> coroutine::Coroutine {
        coroutine::current()
    }

    fn unpark(unparker: coroutine::Coroutine) {
        unparker.unpark();
    }
}

fn spawn<T, F>(body: F) -> io::Result<coroutine::JoinHandle<T>>
where
    T: Send + 'static,
    F: FnOnce(&Cx) -> T + Send + 'static,
{
    // SAFETY: the workloads' bodies hold no thread-local across a suspension,
    // and their frames stay far below the stack's usable bytes.
    unsafe { coroutine::Builder::new().spawn(move || body(&Cx)) }
}

fn join<T>(task: coroutine::JoinHandle<T>) -> T {
    task.join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Timer for May {
    fn sleep(_: &Cx, time: Duration) {
        coroutine::sleep(time);
    }
}

/// may has no threads for work that blocks. Here it borrows tokio's, so that
/// everybody hops to the same pool; the way back is may's own.
impl SpawnBlocking for May {
    fn spawn_blocking<T, F>(_: &Cx, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let done = Arc::new(Mutex::new(None));
        let (tell, caller) = (done.clone(), coroutine::current());
        blocking_threads().spawn_blocking(move || {
            let value = work();
            *tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            caller.unpark();
        });
        loop {
            let value = done.lock().unwrap_or_else(PoisonError::into_inner).take();
            match value {
                Some(value) => return value,
                None => coroutine::park(),
            }
        }
    }
}

fn blocking_threads() -> &'static Runtime {
    static THREADS: OnceLock<Runtime> = OnceLock::new();
    THREADS.get_or_init(|| {
        let runtime = Builder::new_current_thread().build();
        runtime.expect("a runtime that has neither timers nor sockets")
    })
}

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    use workload::foreign::measure;
    if foreign::Case::of(assignment)?.beside {
        notes::say(
            "a coroutine that sleeps goes on upon may's timer thread, which no call of a worker \
             blocks: its heartbeat beats on while those that were ready stand still",
        );
    }
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => measure::<May, _>(assignment, turns, || Dyn),
        Some(foreign::SPAWN_BLOCKING) => measure::<May, _>(assignment, turns, Hop::<May>::new),
        _ => measure::<May, _>(assignment, turns, || Direct),
    }
}

const LACKS: &[foreign::Lack] = &[
    (
        foreign::SUSPEND,
        foreign::senseless,
        "whoever resumes it is may's scheduler, which makes no calls for its coroutines",
    ),
    (
        foreign::BLOCK_IN_PLACE,
        foreign::not_offered,
        "may has nothing for calls that block; its documentation asks not to make them",
    ),
];

/// may's channel for many senders; it has no bound, and a ping-pong never has
/// more than one message in it.
pub struct Mpsc;

impl Channel<May> for Mpsc {
    type Sender = may::sync::mpsc::Sender<u64>;
    type Receiver = may::sync::mpsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        may::sync::mpsc::channel()
    }

    fn send(_: &Cx, sender: &mut Self::Sender, message: u64) {
        sender
            .send(message)
            .expect("the receiver lives as long as its task");
    }

    fn receive(_: &Cx, receiver: &mut Self::Receiver) -> u64 {
        receiver
            .recv()
            .expect("the sender lives as long as its task")
    }
}

/// may's channel for one sender; without a bound as well.
pub struct Spsc;

impl Channel<May> for Spsc {
    type Sender = may::sync::spsc::Sender<u64>;
    type Receiver = may::sync::spsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        may::sync::spsc::channel()
    }

    fn send(_: &Cx, sender: &mut Self::Sender, message: u64) {
        sender
            .send(message)
            .expect("the receiver lives as long as its task");
    }

    fn receive(_: &Cx, receiver: &mut Self::Receiver) -> u64 {
        receiver
            .recv()
            .expect("the sender lives as long as its task")
    }
}

fn ping_pong(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    if assignment.condition.params.word("queue") == Some(ping_pong::SPSC) {
        workload::ping_pong::measure::<May, Spsc>(assignment, turns)
    } else {
        workload::ping_pong::measure::<May, Mpsc>(assignment, turns)
    }
}

const ON_A_SCHEDULER: &str = "coroutines of may are on its scheduler; form=task is measured";

fn admits(condition: &Condition) -> Result<(), Refusal> {
    foreign::admits(condition, Ground::OwnStack, true, LACKS)?;
    foreign::admits(condition, Ground::OwnStack, true, NO_OTHER_STACK)?;
    footprint::only(footprint::TASK, &condition.params, ON_A_SCHEDULER)?;
    yield_now::one_way_to_yield(&condition.params)
}

/// may.
pub const CONTENDER: Contender = Contender {
    name: "may",
    family: Family::Stackful,
    package: "may",
    version: versions::of("may"),
    about: "A whole runtime on the generator crate. Worker pinning is off and the stack is set in \
            bytes as for everybody else; the pool keeps its default 1,000 stacks; its channels \
            have no bound.",
    prices: None,
    maps_per_task: 2,
    offers: &[
        Offer::not_offered(
            "switch",
            "may resumes coroutines only through its scheduler; generator is its switch",
        ),
        Offer::not_offered(
            "create",
            "may starts coroutines only through its scheduler; see spawn, and generator here",
        ),
        Offer::measured("yield", workload::yield_now::measure::<May>),
        Offer::measured("ping_pong", ping_pong),
        Offer::measured("spawn", workload::spawn::measure::<May>),
        Offer::measured("footprint", workload::footprint::measure::<May>),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
