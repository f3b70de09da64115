//! How a call leaves a stackless task. `green/src/route.rs` is the same for
//! coroutines, with the routes that these have.

use std::future::{Future, poll_fn};
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Instant;

use corolab_lab::sample::Batch;
use corolab_lab::stopwatch::nanos;
use corolab_lab::tails::{QUEUE_WAIT, Recorder, Tails};
use corolab_lab::workload::foreign;
use corolab_syscalls::callee::Callee;

use crate::stackless::{BlockInPlace, SpawnBlocking};

/// A way out of a task and back.
pub trait Route: Send + 'static {
    /// That many calls, one after the other; the last count.
    ///
    /// # Errors
    /// The callee's.
    fn calls<K: Callee>(
        &mut self,
        callee: &Arc<K>,
        rounds: u64,
    ) -> impl Future<Output = io::Result<u64>> + Send;

    /// One call, by a route on which a task never waits.
    fn at_once<K: Callee>(&mut self, callee: &Arc<K>) -> Option<io::Result<u64>> {
        let _ = callee;
        None
    }

    /// What the calls told beside their time.
    fn tails(self) -> Tails
    where
        Self: Sized,
    {
        Tails::default()
    }
}

/// A route with what it calls. Whoever runs it knows neither: one box for a
/// whole batch, and a spawn for each scheduler instead of one for each pair.
pub trait Caller: Send {
    /// One batch of calls.
    fn timed(self: Box<Self>, rounds: u64) -> Calling<'static, Batch>;

    /// One call; a box of its own only where the task may wait.
    ///
    /// # Errors
    /// The callee's.
    fn call(&mut self) -> Result<io::Result<u64>, Calling<'_, u64>>;

    /// What the calls told beside their time.
    fn tails(self: Box<Self>) -> Tails;
}

/// Calls that may have to wait.
pub type Calling<'c, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'c>>;

/// From where the task is.
#[derive(Clone, Copy, Debug)]
pub struct Direct;

impl Route for Direct {
    async fn calls<K: Callee>(&mut self, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        foreign::direct(&**callee, rounds)
    }

    fn at_once<K: Callee>(&mut self, callee: &Arc<K>) -> Option<io::Result<u64>> {
        Some(callee.call(0))
    }
}

/// The same through a trait object.
#[derive(Clone, Copy, Debug)]
pub struct Dyn;

impl Route for Dyn {
    async fn calls<K: Callee>(&mut self, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        foreign::through_object(&**callee, rounds)
    }
}

/// Where a future asks whoever polls it to make a call.
#[derive(Debug, Default)]
pub struct Request {
    is_asked: AtomicBool,
    count: AtomicU64,
}

// Relaxed, since future and poller are on one thread: plain loads and stores.
impl Request {
    /// The count to call with, if a call was asked for.
    #[inline(always)]
    pub fn take(&self) -> Option<u64> {
        if self.is_asked.load(Ordering::Relaxed) {
            self.is_asked.store(false, Ordering::Relaxed);
            Some(self.count.load(Ordering::Relaxed))
        } else {
            None
        }
    }

    /// What the call gave.
    #[inline(always)]
    pub fn answer(&self, count: u64) {
        self.count.store(count, Ordering::Relaxed);
    }

    /// Asks on the first poll; by the second there is an answer.
    #[inline(always)]
    fn poll(&self, count: u64, asked: &mut bool) -> Poll<u64> {
        if *asked {
            return Poll::Ready(self.count.load(Ordering::Relaxed));
        }
        *asked = true;
        self.count.store(count, Ordering::Relaxed);
        self.is_asked.store(true, Ordering::Relaxed);
        Poll::Pending
    }
}

/// By whoever polled the future, which is pending meanwhile.
#[derive(Debug)]
pub struct Suspend {
    request: Arc<Request>,
}

impl Suspend {
    /// Asks there.
    pub fn by(request: &Arc<Request>) -> Self {
        Suspend {
            request: request.clone(),
        }
    }
}

impl Route for Suspend {
    async fn calls<K: Callee>(&mut self, _: &Arc<K>, rounds: u64) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            let mut asked = false;
            count = poll_fn(|_| self.request.poll(count, &mut asked)).await;
        }
        Ok(count)
    }
}

/// After the worker has handed its other tasks on.
pub struct InPlace<S>(PhantomData<fn() -> S>);

impl<S> InPlace<S> {
    /// The route.
    #[allow(
        clippy::new_without_default,
        reason = "a route is chosen, never by default"
    )]
    pub fn new() -> Self {
        InPlace(PhantomData)
    }
}

impl<S: BlockInPlace> Route for InPlace<S> {
    async fn calls<K: Callee>(&mut self, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            count = S::block_in_place(|| callee.call(count))?;
        }
        Ok(count)
    }

    fn at_once<K: Callee>(&mut self, callee: &Arc<K>) -> Option<io::Result<u64>> {
        Some(S::block_in_place(|| callee.call(0)))
    }
}

/// On another thread, for which the task waits.
pub struct Hop<S> {
    waits: Recorder,
    of: PhantomData<fn() -> S>,
}

impl<S> Hop<S> {
    /// The route, with no wait so far.
    #[allow(
        clippy::new_without_default,
        reason = "a route is chosen, never by default"
    )]
    pub fn new() -> Self {
        Hop {
            waits: Recorder::new(),
            of: PhantomData,
        }
    }
}

impl<S: SpawnBlocking> Route for Hop<S> {
    async fn calls<K: Callee>(&mut self, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            let callee = callee.clone();
            let asked = Instant::now();
            let (wait, called) =
                S::spawn_blocking(move || (asked.elapsed(), callee.call(count))).await;
            self.waits.record(nanos(wait));
            count = called?;
        }
        Ok(count)
    }

    fn tails(self) -> Tails {
        Tails::of(QUEUE_WAIT, self.waits.tail())
    }
}
