//! The lab scheduler, stackless: one thread, one run queue, futures.
//!
//! It is the least that futures need to have tasks that yield, park and join;
//! `green/src/lab_scheduler.rs` is the same for coroutines. A waker can be
//! sent anywhere by its type; here it is used on the scheduler's thread only,
//! which is checked.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use corolab_lab::condition::Settings;
use corolab_lab::sample::Refusal;
use corolab_lab::thread_bound::ThreadBound;
use futures_task::{ArcWake, waker_ref};

use crate::stackless::{Stackless, self_wake};

/// What is known of a task besides its future.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parking {
    /// In the run queue.
    Ready,
    Running,
    Parked,
    /// Woken while it ran: it goes to the end of the queue.
    Permitted,
}

struct Task {
    inner: ThreadBound<Inner>,
}

struct Inner {
    future: RefCell<Pin<Box<dyn Future<Output = ()>>>>,
    parking: Cell<Parking>,
    queue: Rc<RunQueue>,
}

/// The run queue. It owns the tasks that can go on; a parked task is owned by
/// its wakers, and is dropped when nobody can wake it any more.
#[derive(Default)]
struct RunQueue {
    ready: RefCell<VecDeque<Arc<Task>>>,
}

/// The scheduler.
pub struct LabScheduler {
    queue: Rc<RunQueue>,
}

/// The context of a running task.
#[derive(Clone)]
pub struct Cx {
    queue: ThreadBound<Rc<RunQueue>>,
}

/// Where a task leaves its value, and who waits for it.
struct Slot<T> {
    value: Cell<Option<T>>,
    waiter: Cell<Option<Waker>>,
}

/// A spawned task that can be joined once.
pub struct JoinHandle<T> {
    slot: ThreadBound<Rc<Slot<T>>>,
}

impl ArcWake for Task {
    fn wake_by_ref(task: &Arc<Self>) {
        let inner = task.inner.get();
        match inner.parking.get() {
            Parking::Parked => {
                inner.parking.set(Parking::Ready);
                inner.queue.ready.borrow_mut().push_back(task.clone());
            }
            Parking::Running => inner.parking.set(Parking::Permitted),
            Parking::Ready | Parking::Permitted => {}
        }
    }
}

impl RunQueue {
    fn spawn<T: 'static>(
        self: &Rc<Self>,
        future: impl Future<Output = T> + 'static,
    ) -> Rc<Slot<T>> {
        let slot = Rc::new(Slot {
            value: Cell::new(None),
            waiter: Cell::new(None),
        });
        let to_fill = slot.clone();
        let filling = async move {
            to_fill.value.set(Some(future.await));
            if let Some(waiter) = to_fill.waiter.take() {
                waiter.wake();
            }
        };
        let inner = Inner {
            future: RefCell::new(Box::pin(filling)),
            parking: Cell::new(Parking::Ready),
            queue: self.clone(),
        };
        let task = Arc::new(Task {
            inner: ThreadBound::new(inner),
        });
        self.ready.borrow_mut().push_back(task);
        slot
    }

    /// Polls the task at the head of the queue; false when there is none.
    fn step(&self) -> bool {
        let Some(task) = self.ready.borrow_mut().pop_front() else {
            return false;
        };
        let inner = task.inner.get();
        inner.parking.set(Parking::Running);
        let polled = {
            let waker = waker_ref(&task);
            inner
                .future
                .borrow_mut()
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
        };
        if polled.is_pending() {
            if inner.parking.replace(Parking::Parked) == Parking::Permitted {
                inner.parking.set(Parking::Ready);
                self.ready.borrow_mut().push_back(task);
            }
        } else {
            inner.parking.set(Parking::Ready); // ended: wakers that remain wake nobody
        }
        true
    }
}

impl Stackless for LabScheduler {
    type Cx = Cx;
    type Task<T: Send + 'static> = JoinHandle<T>;

    fn start(_: &Settings) -> Result<Self, Refusal> {
        Ok(LabScheduler {
            queue: Rc::default(),
        })
    }

    fn run<T, F, B>(&mut self, body: B) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        B: FnOnce(Cx) -> F,
    {
        let cx = Cx {
            queue: ThreadBound::new(self.queue.clone()),
        };
        let slot = self.queue.spawn(body(cx));
        loop {
            if let Some(value) = slot.value.take() {
                return value;
            }
            assert!(
                self.queue.step(),
                "every task is parked and nobody can wake one"
            );
        }
    }

    fn spawn<T, F, B>(cx: &Cx, body: B) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        B: FnOnce(Cx) -> F,
    {
        let slot = cx.queue.get().spawn(body(cx.clone()));
        JoinHandle {
            slot: ThreadBound::new(slot),
        }
    }

    async fn join<T: Send + 'static>(_: &Cx, task: JoinHandle<T>) -> T {
        std::future::poll_fn(|context| {
            let slot = task.slot.get();
            match slot.value.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    slot.waiter.set(Some(context.waker().clone()));
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn yield_now(_: &Cx) -> impl Future<Output = ()> + Send {
        self_wake()
    }
}

impl Drop for LabScheduler {
    fn drop(&mut self) {
        // Tasks that never ended hold the queue, and the queue holds them:
        // dropping them here, one by one, opens that ring.
        loop {
            let Some(task) = self.queue.ready.borrow_mut().pop_front() else {
                return;
            };
            drop(task);
        }
    }
}
