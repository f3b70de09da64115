//! Kernel threads: the standard library's, one for each task.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use corolab_lab::child::Turns;
use corolab_lab::condition::{Condition, Settings};
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::sample::Refusal;
use corolab_lab::versions;
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{footprint, ping_pong, yield_now};

use crate::route::{Direct, Dyn};
use crate::stackful::{Channel, Stackful, Timer, stack_bytes};
use crate::workload;

/// The kernel's scheduler; the child's CPU set bounds its workers.
pub struct OsThread(Cx);

/// What a thread needs to start others like it.
#[derive(Clone, Copy)]
pub struct Cx {
    stack: usize,
}

impl Cx {
    fn spawn<T, F>(self, body: F) -> io::Result<thread::JoinHandle<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        thread::Builder::new()
            .stack_size(self.stack)
            .spawn(move || body(&self))
    }
}

impl Stackful for OsThread {
    type Cx = Cx;
    type Task<T: Send + 'static> = thread::JoinHandle<T>;
    type Unparker = thread::Thread;

    fn start(settings: &Settings) -> Result<Self, Refusal> {
        let stack = stack_bytes(settings);
        Ok(OsThread(Cx { stack }))
    }

    fn run<T, F>(&mut self, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        join(self.0.spawn(body).expect("no thread for the first task"))
    }

    fn spawn<T, F>(cx: &Cx, body: F) -> io::Result<thread::JoinHandle<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        cx.spawn(body)
    }

    fn join<T: Send + 'static>(_: &Cx, task: thread::JoinHandle<T>) -> T {
        join(task)
    }

    fn yield_now(_: &Cx) {
        thread::yield_now();
    }

    fn park(_: &Cx) {
        thread::park();
    }

    fn unparker(_: &Cx) -> thread::Thread {
        thread::current()
    }

    fn unpark(unparker: thread::Thread) {
        unparker.unpark();
    }
}

fn join<T>(task: thread::JoinHandle<T>) -> T {
    task.join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Timer for OsThread {
    fn sleep(_: &Cx, time: Duration) {
        thread::sleep(time);
    }
}

/// The standard library's bounded channel, with room for one.
pub struct Sync;

impl Channel<OsThread> for Sync {
    type Sender = SyncSender<u64>;
    type Receiver = Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        sync_channel(1)
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

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    use workload::foreign::measure;
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => measure::<OsThread, _>(assignment, turns, || Dyn),
        _ => measure::<OsThread, _>(assignment, turns, || Direct),
    }
}

const ITS_OWN: &str = "a thread calls from a stack of its own and may block: direct is measured";

const ON_A_SCHEDULER: &str = "threads are on the kernel's scheduler; form=task is measured";

fn admits(condition: &Condition) -> Result<(), Refusal> {
    foreign::admits_direct(
        condition,
        Ground::OwnStack,
        true,
        foreign::senseless,
        ITS_OWN,
    )?;
    footprint::only(footprint::TASK, &condition.params, ON_A_SCHEDULER)?;
    yield_now::one_way_to_yield(&condition.params)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

/// Kernel threads.
pub const CONTENDER: Contender = Contender {
    name: "os-thread",
    family: Family::Kernel,
    package: "std",
    version: versions::of("std"),
    about: "One kernel thread for each task, from the standard library, confined to the block's \
            CPUs; a yield is sched_yield, the channel is sync_channel(1).",
    prices: None,
    maps_per_task: 2,
    offers: &[
        Offer::not_applicable(
            "switch",
            "the kernel switches threads by its own scheduler; see yield and ping_pong",
        ),
        Offer::not_applicable(
            "create",
            "the kernel starts threads on its own scheduler; see spawn",
        ),
        Offer::measured("yield", workload::yield_now::measure::<OsThread>),
        Offer::measured("ping_pong", workload::ping_pong::measure::<OsThread, Sync>),
        Offer::measured("spawn", workload::spawn::measure::<OsThread>),
        Offer::measured("footprint", workload::footprint::measure::<OsThread>),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
