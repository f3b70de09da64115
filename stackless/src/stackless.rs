//! What a stackless contender has to offer to be measured.

use std::fmt::Debug;
use std::future::Future;
use std::task::{Poll, Waker};
use std::time::Duration;

use corolab_lab::condition::Settings;
use corolab_lab::sample::Refusal;

/// The scheduled layer: tasks that are state machines, on a scheduler.
///
/// A task's body gets the context of its own task. Parking needs nothing from
/// a contender: every future has a waker, see [`park`] and [`unparker`].
pub trait Stackless: Sized + 'static {
    /// What a running task has in hand to spawn.
    type Cx: Clone + Send + Sync + 'static;
    /// A spawned task that can be joined once.
    type Task<T: Send + 'static>: Send + 'static;

    /// Starts the scheduler.
    ///
    /// # Errors
    /// What the crate or the machine does not have.
    fn start(settings: &Settings) -> Result<Self, Refusal>;

    /// Runs `body` as a task of its own and waits for it outside the scheduler.
    fn run<T, F, B>(&mut self, body: B) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        B: FnOnce(Self::Cx) -> F;

    /// Starts a task.
    fn spawn<T, F, B>(cx: &Self::Cx, body: B) -> Self::Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        B: FnOnce(Self::Cx) -> F;

    /// Waits for a task to end and takes its value.
    ///
    /// # Panics
    /// When the task panicked.
    fn join<T: Send + 'static>(
        cx: &Self::Cx,
        task: Self::Task<T>,
    ) -> impl Future<Output = T> + Send;

    /// Goes to the end of the run queue by the runtime's own call.
    fn yield_now(cx: &Self::Cx) -> impl Future<Output = ()> + Send;
}

/// An optional capability: tasks that sleep.
pub trait Timer: Stackless {
    /// Waits for that long at the least, while others run.
    fn sleep(cx: &Self::Cx, time: Duration) -> impl Future<Output = ()> + Send;
}

/// An optional capability: a worker that hands its other tasks on before it
/// blocks.
pub trait BlockInPlace: Stackless {
    /// Does `work` here, after the other tasks of this worker were handed on.
    fn block_in_place<T, F: FnOnce() -> T>(work: F) -> T;
}

/// An optional capability: a hop to a thread that may block, and back.
pub trait SpawnBlocking: Stackless {
    /// Does `work` on another thread, and waits for it while others run.
    fn spawn_blocking<T, F>(work: F) -> impl Future<Output = T> + Send
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;
}

/// Goes to the end of the run queue by waking itself.
pub async fn self_wake() {
    let mut woken = false;
    std::future::poll_fn(|context| {
        if woken {
            return Poll::Ready(());
        }
        woken = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Waits until the current task is woken; it may be woken for another reason.
pub async fn park() {
    let mut parked = false;
    std::future::poll_fn(|_| {
        if parked {
            return Poll::Ready(());
        }
        parked = true;
        Poll::Pending
    })
    .await;
}

/// The means to unpark the current task.
pub async fn unparker() -> Waker {
    std::future::poll_fn(|context| Poll::Ready(context.waker().clone())).await
}

/// An optional capability: a channel of numbers with room for one.
///
/// The methods give the crate's own futures back as they are: one more async
/// function around each would cost 3 to 7% of a ping-pong.
pub trait Channel: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// The end that receives.
    type Receiver: Send + 'static;
    /// What a sender is told when nobody can receive any more.
    type Closed: Debug + Send;

    /// An empty channel.
    fn new() -> (Self::Sender, Self::Receiver);

    /// Sends, waiting while the slot is taken.
    fn send(
        sender: &mut Self::Sender,
        message: u64,
    ) -> impl Future<Output = Result<(), Self::Closed>> + Send;

    /// Receives, waiting while the slot is empty; `None` when nobody can send
    /// any more.
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;
}
