//! The lab scheduler, stackful: one thread, one run queue, coroutines.
//!
//! It is the least that corosensei needs to have tasks that yield, park and
//! join; `stackless/src/lab_scheduler.rs` is the same for futures. Nothing
//! here is atomic and nothing leaves the thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;

use corolab_lab::condition::Settings;
use corolab_lab::sample::Refusal;
use corolab_lab::thread_bound::ThreadBound;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::stackful::{Stackful, stack_bytes};

/// Why a task suspends.
enum Pause {
    Yield,
    Park,
}

/// What is known of a task besides its coroutine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parking {
    Running,
    Parked,
    /// Unparked before it parked: the next park returns at once.
    Permitted,
}

struct Task {
    coroutine: RefCell<Coroutine<(), Pause, ()>>,
    parking: Cell<Parking>,
}

/// The run queue. It owns the tasks that can go on; a parked task is owned by
/// its unparkers, and is dropped when nobody can unpark it any more.
struct RunQueue {
    ready: RefCell<VecDeque<Rc<Task>>>,
    current: RefCell<Option<Rc<Task>>>,
    stack: usize,
}

/// The scheduler.
pub struct LabScheduler {
    queue: Rc<RunQueue>,
}

/// The context of a running task; it lives on the task's stack.
pub struct Cx {
    yielder: NonNull<Yielder<(), Pause>>,
    queue: Rc<RunQueue>,
}

/// Where a task leaves its value, and who waits for it.
struct Slot<T> {
    value: Cell<Option<T>>,
    waiter: Cell<Option<Rc<Task>>>,
}

/// A spawned task that can be joined once.
pub struct JoinHandle<T> {
    slot: ThreadBound<Rc<Slot<T>>>,
}

/// By this, others can unpark a task.
pub struct Unparker {
    task: ThreadBound<Rc<Task>>,
    queue: ThreadBound<Rc<RunQueue>>,
}

impl RunQueue {
    fn spawn<T: 'static>(
        self: &Rc<Self>,
        body: impl FnOnce(&Cx) -> T + 'static,
    ) -> io::Result<Rc<Slot<T>>> {
        let slot = Rc::new(Slot {
            value: Cell::new(None),
            waiter: Cell::new(None),
        });
        let stack = DefaultStack::new(self.stack)?;
        let (queue, to_fill) = (self.clone(), slot.clone());
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), Pause>, ()| {
            let cx = Cx {
                yielder: NonNull::from(yielder),
                queue,
            };
            to_fill.value.set(Some(body(&cx)));
            if let Some(waiter) = to_fill.waiter.take() {
                cx.queue.unpark(waiter);
            }
        });
        self.ready.borrow_mut().push_back(Rc::new(Task {
            coroutine: RefCell::new(coroutine),
            parking: Cell::new(Parking::Running),
        }));
        Ok(slot)
    }

    fn unpark(&self, task: Rc<Task>) {
        match task.parking.get() {
            Parking::Parked => {
                task.parking.set(Parking::Running);
                self.ready.borrow_mut().push_back(task);
            }
            Parking::Running | Parking::Permitted => task.parking.set(Parking::Permitted),
        }
    }

    /// Resumes the task at the head of the queue; false when there is none.
    fn step(&self) -> bool {
        let Some(task) = self.ready.borrow_mut().pop_front() else {
            return false;
        };
        *self.current.borrow_mut() = Some(task.clone());
        let paused = task.coroutine.borrow_mut().resume(());
        if let CoroutineResult::Yield(Pause::Yield) = paused {
            self.ready.borrow_mut().push_back(task);
        }
        true
    }
}

impl Cx {
    fn suspend(&self, pause: Pause) {
        // SAFETY: the yielder outlives the body that it was passed to, and a
        // Cx is made in that body's frame and only ever lent out from there.
        unsafe { self.yielder.as_ref() }.suspend(pause);
    }

    fn task(&self) -> Rc<Task> {
        self.queue
            .current
            .borrow()
            .clone()
            .expect("a running task is the current one")
    }

    fn park(&self) {
        let task = self.task();
        if task.parking.get() == Parking::Permitted {
            task.parking.set(Parking::Running);
            return;
        }
        task.parking.set(Parking::Parked);
        drop(task); // a parked task does not own itself
        self.suspend(Pause::Park);
    }
}

impl Stackful for LabScheduler {
    type Cx = Cx;
    type Task<T: Send + 'static> = JoinHandle<T>;
    type Unparker = Unparker;

    fn start(settings: &Settings) -> Result<Self, Refusal> {
        let stack = stack_bytes(settings);
        Ok(LabScheduler {
            queue: Rc::new(RunQueue {
                ready: RefCell::default(),
                current: RefCell::default(),
                stack,
            }),
        })
    }

    fn run<T, F>(&mut self, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        let slot = self.queue.spawn(body).expect("no stack for the first task");
        loop {
            if let Some(value) = slot.value.take() {
                return value;
            }
            assert!(
                self.queue.step(),
                "every task is parked and nobody can unpark one"
            );
        }
    }

    fn spawn<T, F>(cx: &Cx, body: F) -> io::Result<JoinHandle<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Cx) -> T + Send + 'static,
    {
        let slot = cx.queue.spawn(body)?;
        Ok(JoinHandle {
            slot: ThreadBound::new(slot),
        })
    }

    fn join<T: Send + 'static>(cx: &Cx, task: JoinHandle<T>) -> T {
        let slot = task.slot.into_inner();
        loop {
            if let Some(value) = slot.value.take() {
                return value;
            }
            slot.waiter.set(Some(cx.task()));
            cx.park();
        }
    }

    fn yield_now(cx: &Cx) {
        cx.suspend(Pause::Yield);
    }

    fn park(cx: &Cx) {
        cx.park();
    }

    fn unparker(cx: &Cx) -> Unparker {
        Unparker {
            task: ThreadBound::new(cx.task()),
            queue: ThreadBound::new(cx.queue.clone()),
        }
    }

    fn unpark(unparker: Unparker) {
        unparker.queue.get().unpark(unparker.task.into_inner());
    }
}

impl Drop for LabScheduler {
    fn drop(&mut self) {
        // Tasks that never ended hold the queue on their stacks, and the queue
        // holds them: unwinding them here, one by one, opens that ring.
        self.queue.current.borrow_mut().take();
        loop {
            let Some(task) = self.queue.ready.borrow_mut().pop_front() else {
                return;
            };
            drop(task);
        }
    }
}
