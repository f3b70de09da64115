//! How a call leaves a stackful task. `stackless/src/route.rs` is the same for
//! futures, with the routes that these have.

use std::cell::{Cell, RefCell};
use std::io;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use corolab_lab::sample::Batch;
use corolab_lab::stopwatch::nanos;
use corolab_lab::tails::{QUEUE_WAIT, Recorder, Tails};
use corolab_lab::workload::foreign;
use corolab_syscalls::callee::Callee;
use corosensei::Yielder;
use corosensei::stack::DefaultStack;

use crate::fiber;
use crate::stack::StackPool;
use crate::stackful::{BlockInPlace, Coroutine, SpawnBlocking, Stackful};

/// A way out of a task and back; `X` is what the task has in hand.
pub trait Route<X> {
    /// That many calls, one after the other; the last count.
    ///
    /// # Errors
    /// The callee's.
    fn calls<K: Callee>(&mut self, cx: &mut X, callee: &Arc<K>, rounds: u64) -> io::Result<u64>;

    /// What the calls told beside their time.
    fn tails(self) -> Tails
    where
        Self: Sized,
    {
        Tails::default()
    }
}

/// A route with what it calls. Whoever runs it knows neither: one call through
/// a pointer for a whole batch, and a spawn for each scheduler instead of one
/// for each pair.
pub trait Caller<X> {
    /// One batch of calls.
    ///
    /// # Errors
    /// The callee's.
    fn timed(self: Box<Self>, cx: &mut X, rounds: u64) -> io::Result<Batch>;

    /// One call.
    ///
    /// # Errors
    /// The callee's.
    fn call(&mut self, cx: &mut X) -> io::Result<u64>;

    /// What the calls told beside their time.
    fn tails(self: Box<Self>) -> Tails;
}

/// A caller in a task of `S`.
pub type TaskCaller<S> = Box<dyn for<'c> Caller<&'c <S as Stackful>::Cx> + Send>;
/// A caller in a bare coroutine of `C`.
pub type BareCaller<C> = Box<dyn for<'y> Caller<<C as Coroutine>::Yielder<'y>>>;

/// From where the task is.
#[derive(Clone, Copy, Debug)]
pub struct Direct;

impl<X> Route<X> for Direct {
    fn calls<K: Callee>(&mut self, _: &mut X, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        foreign::direct(&**callee, rounds)
    }
}

/// The same through a trait object.
#[derive(Clone, Copy, Debug)]
pub struct Dyn;

impl<X> Route<X> for Dyn {
    fn calls<K: Callee>(&mut self, _: &mut X, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        foreign::through_object(&**callee, rounds)
    }
}

/// On the stack of whoever resumed the task: what .NET had to do for code that
/// expects a thread's stack.
#[derive(Clone, Copy, Debug)]
pub struct ParentStack;

/// Who can do that.
pub trait OnParentStack {
    /// Runs `work` on the stack of whoever resumed this task.
    fn on_parent_stack<T, F: FnOnce() -> T + Send>(&self, work: F) -> T;
}

impl OnParentStack for &Yielder<(), ()> {
    #[inline(always)]
    fn on_parent_stack<T, F: FnOnce() -> T + Send>(&self, work: F) -> T {
        Yielder::on_parent_stack(self, work)
    }
}

impl OnParentStack for &fiber::Cx {
    #[inline(always)]
    fn on_parent_stack<T, F: FnOnce() -> T + Send>(&self, work: F) -> T {
        fiber::Cx::on_parent_stack(self, work)
    }
}

impl<X: OnParentStack> Route<X> for ParentStack {
    fn calls<K: Callee>(&mut self, cx: &mut X, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            count = cx.on_parent_stack(|| callee.call(count))?;
        }
        Ok(count)
    }
}

/// On a larger stack of a pool, taken for each call.
#[derive(Clone, Debug)]
pub struct BigStack(pub StackPool);

impl<X> Route<X> for BigStack {
    fn calls<K: Callee>(&mut self, _: &mut X, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            let stack = self.0.stack(foreign::BIG)?;
            count = corosensei::on_stack(stack, || callee.call(count))?;
        }
        Ok(count)
    }
}

/// On a larger stack that the task keeps for all its calls.
#[derive(Clone)]
pub struct KeptStack(Rc<RefCell<DefaultStack>>);

impl KeptStack {
    /// That stack.
    pub fn new(stack: DefaultStack) -> Self {
        KeptStack(Rc::new(RefCell::new(stack)))
    }
}

impl<X> Route<X> for KeptStack {
    fn calls<K: Callee>(&mut self, _: &mut X, callee: &Arc<K>, rounds: u64) -> io::Result<u64> {
        let mut stack = self.0.borrow_mut();
        let mut count = 0;
        for _ in 0..rounds {
            count = corosensei::on_stack(&mut *stack, || callee.call(count))?;
        }
        Ok(count)
    }
}

/// Where a coroutine asks whoever resumes it to make a call.
#[derive(Debug, Default)]
pub struct Request {
    asked: Cell<Option<u64>>,
    answer: Cell<u64>,
}

impl Request {
    /// The count to call with, if a call was asked for.
    #[inline(always)]
    pub fn take(&self) -> Option<u64> {
        self.asked.take()
    }

    /// What the call gave.
    #[inline(always)]
    pub fn answer(&self, count: u64) {
        self.answer.set(count);
    }
}

/// By whoever resumed the coroutine, which suspends meanwhile.
pub struct Suspend<C> {
    request: Rc<Request>,
    of: PhantomData<fn() -> C>,
}

impl<C> Suspend<C> {
    /// Asks there.
    pub fn by(request: &Rc<Request>) -> Self {
        Suspend {
            request: request.clone(),
            of: PhantomData,
        }
    }
}

impl<'y, C: Coroutine> Route<C::Yielder<'y>> for Suspend<C> {
    fn calls<K: Callee>(
        &mut self,
        yielder: &mut C::Yielder<'y>,
        _: &Arc<K>,
        rounds: u64,
    ) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            self.request.asked.set(Some(count));
            C::suspend(yielder);
            count = self.request.answer.get();
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

impl<'c, S: BlockInPlace> Route<&'c S::Cx> for InPlace<S> {
    fn calls<K: Callee>(
        &mut self,
        _: &mut &'c S::Cx,
        callee: &Arc<K>,
        rounds: u64,
    ) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            count = S::block_in_place(|| callee.call(count))?;
        }
        Ok(count)
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

impl<'c, S: SpawnBlocking> Route<&'c S::Cx> for Hop<S> {
    fn calls<K: Callee>(
        &mut self,
        cx: &mut &'c S::Cx,
        callee: &Arc<K>,
        rounds: u64,
    ) -> io::Result<u64> {
        let mut count = 0;
        for _ in 0..rounds {
            let callee = callee.clone();
            let asked = Instant::now();
            let (wait, called) =
                S::spawn_blocking(cx, move || (asked.elapsed(), callee.call(count)));
            self.waits.record(nanos(wait));
            count = called?;
        }
        Ok(count)
    }

    fn tails(self) -> Tails {
        Tails::of(QUEUE_WAIT, self.waits.tail())
    }
}
