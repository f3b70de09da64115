//! What a stackful contender has to offer to be measured.

use std::io;

use corolab_lab::condition::Settings;
use corolab_lab::sample::Refusal;

/// The switch layer: one coroutine that is resumed by hand.
pub trait Coroutine: Sized + 'static {
    /// What the body suspends through; it lives on the coroutine's stack.
    type Yielder<'y>;

    /// A coroutine that has not started, with `stack` usable bytes.
    ///
    /// # Errors
    /// The kernel gave no stack.
    fn new<F>(stack: usize, body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static;

    /// Suspends the coroutine that `yielder` belongs to.
    fn suspend(yielder: &mut Self::Yielder<'_>);

    /// Runs the coroutine until it suspends or ends.
    fn resume(&mut self);
}

/// The scheduled layer: tasks with a stack each, on a scheduler.
///
/// A task's body gets the context of its own task, and passes it to every call
/// that may suspend.
pub trait Stackful: Sized + 'static {
    /// What a running task has in hand to spawn, yield, park and join.
    type Cx;
    /// A spawned task that can be joined once.
    type Task<T: Send + 'static>: Send + 'static;
    /// By this, others can unpark a task.
    type Unparker: Send + 'static;

    /// Starts the scheduler.
    ///
    /// # Errors
    /// What the crate or the machine does not have.
    fn start(settings: &Settings) -> Result<Self, Refusal>;

    /// Runs `body` as a task of its own and waits for it outside the scheduler.
    fn run<T, F>(&mut self, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(&Self::Cx) -> T + Send + 'static;

    /// Starts a task.
    ///
    /// # Errors
    /// The kernel gave no stack or no thread.
    fn spawn<T, F>(cx: &Self::Cx, body: F) -> io::Result<Self::Task<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Self::Cx) -> T + Send + 'static;

    /// Waits for a task to end and takes its value.
    ///
    /// # Panics
    /// When the task panicked.
    fn join<T: Send + 'static>(cx: &Self::Cx, task: Self::Task<T>) -> T;

    /// Goes to the end of the run queue.
    fn yield_now(cx: &Self::Cx);

    /// Waits until unparked; returns at once if that has already happened.
    fn park(cx: &Self::Cx);

    /// The means to unpark the current task.
    fn unparker(cx: &Self::Cx) -> Self::Unparker;

    /// Lets the task go on, or its next [`Stackful::park`] return at once.
    fn unpark(unparker: Self::Unparker);
}

/// An optional capability: a channel of numbers with room for one, between
/// tasks of `S`.
pub trait Channel<S: Stackful>: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// The end that receives.
    type Receiver: Send + 'static;

    /// An empty channel.
    fn new() -> (Self::Sender, Self::Receiver);

    /// Sends, waiting while the slot is taken.
    fn send(cx: &S::Cx, sender: &mut Self::Sender, message: u64);

    /// Receives, waiting while the slot is empty.
    fn receive(cx: &S::Cx, receiver: &mut Self::Receiver) -> u64;
}
