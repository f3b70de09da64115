//! A coroutine as a future: green threads on the scheduler, the timers and the
//! sockets that futures have.
//!
//! [`Fiber`] is polled by whoever runs futures; its poll resumes the coroutine
//! within. Inside, code is written as for a thread, and waits by
//! [`Cx::wait`]: that polls any future on the fiber's behalf and suspends the
//! whole stack while it is pending.
//!
//! ```
//! use corolab_green::fiber::Fiber;
//! use corolab_green::stack::StackPool;
//! use std::time::Duration;
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! let pool = StackPool::new()?;
//! let fiber = Fiber::new(pool.stack(64 * 1024)?, |cx| {
//!     let mut sum = 0;
//!     for step in 1..=3 {
//!         cx.wait(tokio::time::sleep(Duration::from_millis(1)));
//!         sum += step;
//!     }
//!     sum
//! });
//! assert_eq!(runtime.block_on(fiber), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use corosensei::{CoroutineResult, Yielder};

use crate::seat::Seated;
use crate::stack::{Kin, PooledStack, StackError};

/// The context of the poll that resumes; it lives as long as that poll.
type Polled = NonNull<Context<'static>>;

/// A task with a stack of its own that is a future to others.
///
/// A panic inside comes out of `poll`, where a runtime makes it the task's
/// error. A fiber that is dropped while it waits is unwound, so that each
/// destructor on its stack runs once; one that is dropped before its first
/// poll frees its closure.
///
/// A fiber stays on the thread that made it, unless [`Fiber::into_send`].
///
/// It is one pointer: 48 of its stack's bytes are its own state.
pub struct Fiber<T> {
    coroutine: Seated<Polled, (), T>,
}

impl<T: 'static> Fiber<T> {
    /// A fiber that runs `body` on that stack; nothing runs before the first
    /// poll.
    pub fn new<F>(stack: PooledStack, body: F) -> Self
    where
        F: FnOnce(&Cx) -> T + 'static,
    {
        let kin = stack.kin();
        let on_it = move |yielder: &Yielder<Polled, ()>, polled| {
            body(&Cx {
                yielder: NonNull::from(yielder),
                polled: Cell::new(Some(polled)),
                kin,
            })
        };
        Fiber {
            coroutine: Seated::new(stack, on_it),
        }
    }

    /// The same fiber, free to be polled and dropped on any thread.
    ///
    /// # Safety
    /// The compiler checks what an async block holds across an await; it does
    /// not see what a stack holds across a wait. So the caller promises that
    /// whenever the fiber is suspended, in `wait` or below it:
    ///
    /// - nothing on its stack, and nothing that its closure captured, is bound
    ///   to a thread: no `Rc`, no guard of a `std` mutex, no value that is not
    ///   `Send`;
    /// - no reference into a thread-local, nor its address, is kept, not even
    ///   in a frame of foreign code. (Resuming and suspending are calls that
    ///   are never inlined, so the compiler itself keeps none across them.)
    pub unsafe fn into_send(self) -> SendFiber<T> {
        SendFiber(self)
    }
}

impl<T: 'static> Future for Fiber<T> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let polled = NonNull::from(context).cast();
        match resume(&mut self.get_mut().coroutine, polled) {
            CoroutineResult::Yield(()) => Poll::Pending,
            CoroutineResult::Return(value) => Poll::Ready(value),
        }
    }
}

/// A call that is never inlined, so that no address of a thread-local that the
/// poller has at hand is taken to be the same afterwards.
#[inline(never)]
fn resume<T>(coroutine: &mut Seated<Polled, (), T>, polled: Polled) -> CoroutineResult<(), T> {
    coroutine.get_mut().resume(polled)
}

/// A call that is never inlined either: what the future does with thread-locals
/// lies in a frame of its own, which is gone whenever the fiber suspends.
#[inline(never)]
fn poll<F: Future>(future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
    future.poll(context)
}

impl<T> fmt::Debug for Fiber<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber")
            .field("started", &self.coroutine.get().started())
            .field("done", &self.coroutine.get().done())
            .finish()
    }
}

/// A [`Fiber`] that its maker has promised to be free of threads.
#[derive(Debug)]
pub struct SendFiber<T>(Fiber<T>);

// SAFETY: whoever called `Fiber::into_send` promised that nothing that the
// fiber holds while suspended is bound to a thread; its stack and its value
// can be sent by their types.
unsafe impl<T: Send> Send for SendFiber<T> {}

impl<T: 'static> Future for SendFiber<T> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.get_mut().0).poll(context)
    }
}

/// What a running fiber has in hand to wait.
pub struct Cx {
    yielder: NonNull<Yielder<Polled, ()>>,
    /// The context of the poll that resumed, unless a future holds it.
    polled: Cell<Option<Polled>>,
    kin: Kin,
}

/// The context of the current poll, borrowed from a [`Cx`] and given back.
struct Borrowed<'c> {
    cx: &'c Cx,
    polled: Polled,
}

impl Drop for Borrowed<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.cx.polled.set(Some(self.polled));
    }
}

// Everything on the way to a suspension is inlined into the code that waits.
// A function that is left after a switch returns to where the processor does
// not expect it, since the return addresses that it remembers are those of the
// resumer: each costs two mispredicted returns, a fifth of a yield. It would
// also protect nobody: the frame that calls it may keep the address of a
// thread-local all the same (see `Fiber::into_send`).
impl Cx {
    /// Waits for a future, which is polled here, on the fiber's stack.
    ///
    /// # Panics
    /// When called by a future that this fiber waits for, or by a destructor
    /// while the fiber is being unwound (where a panic aborts).
    #[inline(always)]
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        loop {
            let mut borrowed = self.borrow();
            match poll(future.as_mut(), borrowed.context()) {
                Poll::Ready(value) => return value,
                Poll::Pending => {
                    std::mem::forget(borrowed); // the poll that it belongs to returns now
                    self.suspend();
                }
            }
        }
    }

    /// Polls a future once on the fiber's behalf: what it registers wakes the
    /// fiber.
    ///
    /// # Panics
    /// As [`Cx::wait`].
    #[inline(always)]
    pub fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        poll(future, self.borrow().context())
    }

    /// Suspends until the fiber's waker is woken, or the fiber polled for
    /// another reason; goes on in the next poll if it was woken before.
    ///
    /// # Panics
    /// As [`Cx::wait`].
    #[inline(always)]
    pub fn park(&self) {
        std::mem::forget(self.borrow());
        self.suspend();
    }

    /// Wakes itself and suspends: goes to the end of the run queue.
    ///
    /// # Panics
    /// As [`Cx::wait`].
    #[inline(always)]
    pub fn yield_now(&self) {
        self.borrow().context().waker().wake_by_ref();
        self.park();
    }

    /// Runs `work` on the stack of whoever polls, which is the thread's unless
    /// another fiber waits for this one: for calls into code that needs more
    /// stack than this fiber has. It takes as long as suspending and resuming,
    /// and nobody else runs on this thread meanwhile. (`work` is `Send`, so that
    /// it cannot wait through this context, on a stack that is not the fiber's.)
    ///
    /// A panic inside comes out of here.
    #[inline(always)]
    pub fn on_parent_stack<T, F: FnOnce() -> T + Send>(&self, work: F) -> T {
        // SAFETY: the yielder outlives the body that it was passed to, and a
        // Cx is made in that body's frame and only ever lent out from there.
        unsafe { self.yielder.as_ref() }.on_parent_stack(work)
    }

    /// By this, others can wake the fiber.
    ///
    /// # Panics
    /// As [`Cx::wait`].
    pub fn waker(&self) -> Waker {
        self.borrow().context().waker().clone()
    }

    /// A fiber of the same pool and stack size as this one.
    ///
    /// # Errors
    /// As for any stack of the pool.
    pub fn fiber<T, F>(&self, body: F) -> Result<Fiber<T>, StackError>
    where
        T: 'static,
        F: FnOnce(&Cx) -> T + 'static,
    {
        // SAFETY: this code runs on a stack of that kin.
        let stack = unsafe { self.kin.stack() }?;
        Ok(Fiber::new(stack, body))
    }

    /// The context of the current poll, by whoever asks first.
    #[inline(always)]
    fn borrow(&self) -> Borrowed<'_> {
        let polled = self.polled.take().unwrap_or_else(|| out_of_turn());
        Borrowed { cx: self, polled }
    }

    /// Ends the current poll; its context is borrowed and never given back.
    #[inline(always)]
    fn suspend(&self) {
        // SAFETY: the yielder outlives the body that it was passed to, and a
        // Cx is made in that body's frame and only ever lent out from there.
        let polled = unsafe { self.yielder.as_ref() }.suspend(());
        self.polled.set(Some(polled));
    }
}

impl<'c> Borrowed<'c> {
    #[inline(always)]
    fn context(&mut self) -> &mut Context<'c> {
        // SAFETY: it is the context of the poll that resumed this fiber, which
        // does not return while the fiber runs; being taken out of its place
        // it is borrowed once at a time, and whoever suspends lets go of it.
        unsafe { self.polled.cast::<Context<'c>>().as_mut() }
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").finish_non_exhaustive()
    }
}

#[cold]
#[inline(never)]
fn out_of_turn() -> ! {
    panic!(
        "a fiber can wait neither inside a future that it waits for, nor in a destructor while it \
         is unwound"
    );
}
