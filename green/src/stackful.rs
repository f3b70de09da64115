//! What a stackful contender has to offer to be measured.

use std::io;
use std::time::Duration;

use corolab_lab::condition::Settings;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::Refusal;

/// The switch layer: one coroutine that is resumed by hand.
pub trait Coroutine: Sized + 'static {
    /// What the body suspends through; it lives on the coroutine's stack.
    type Yielder<'y>;
    /// Where stacks come from, for all threads.
    type Stacks: Clone + Send + 'static;
    /// What a thread keeps of a coroutine that has ended, for its next one;
    /// nothing where [`Coroutine::Stacks`] does that.
    type Kept: Default;

    /// Stacks of the settings' size, in the form that the condition asks for.
    ///
    /// # Errors
    /// What the crate or the machine does not have.
    fn stacks(assignment: &Assignment) -> Result<Self::Stacks, Refusal>;

    /// A coroutine that has not started.
    ///
    /// # Errors
    /// The kernel gave no stack.
    fn new<F>(stacks: &Self::Stacks, kept: &mut Self::Kept, body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static;

    /// Suspends the coroutine that `yielder` belongs to.
    fn suspend(yielder: &mut Self::Yielder<'_>);

    /// Runs the coroutine until it suspends or ends.
    fn resume(&mut self);

    /// Drops a coroutine that has ended; its stack is there for the next one
    /// if the condition asks for reuse.
    fn end(self, stacks: &Self::Stacks, kept: &mut Self::Kept);
}

/// Usable bytes of each stack, as the settings have them.
pub fn stack_bytes(settings: &Settings) -> usize {
    usize::try_from(settings.stack).unwrap_or(usize::MAX)
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

    /// Goes to the end of the run queue by the runtime's own call.
    fn yield_now(cx: &Self::Cx);

    /// Goes to the end of the run queue by waking itself; whoever has no such
    /// way of its own refuses to be measured by it.
    fn self_wake(cx: &Self::Cx) {
        Self::yield_now(cx);
    }

    /// Waits until unparked; returns at once if that has already happened.
    fn park(cx: &Self::Cx);

    /// The means to unpark the current task.
    fn unparker(cx: &Self::Cx) -> Self::Unparker;

    /// Lets the task go on, or its next [`Stackful::park`] return at once.
    fn unpark(unparker: Self::Unparker);
}

/// An optional capability: tasks that sleep.
pub trait Timer: Stackful {
    /// Waits for that long at the least, while others run.
    fn sleep(cx: &Self::Cx, time: Duration);
}

/// An optional capability: a worker that hands its other tasks on before it
/// blocks.
pub trait BlockInPlace: Stackful {
    /// Does `work` here, after the other tasks of this worker were handed on.
    fn block_in_place<T, F: FnOnce() -> T>(work: F) -> T;
}

/// An optional capability: a hop to a thread that may block, and back.
pub trait SpawnBlocking: Stackful {
    /// Does `work` on another thread, and waits for it while others run.
    fn spawn_blocking<T, F>(cx: &Self::Cx, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;
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
