//! Fibers: what they give back, how they wait, and how they end.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use corolab_green::fiber::{Cx, Fiber};
use corolab_green::stack::{Config, StackPool};
use tokio::sync::mpsc;

const STACK: usize = 64 << 10;

fn pool() -> StackPool {
    StackPool::with(Config::default().classes([STACK])).unwrap()
}

fn fiber<T: 'static>(pool: &StackPool, body: impl FnOnce(&Cx) -> T + 'static) -> Fiber<T> {
    Fiber::new(pool.stack(STACK).unwrap(), body)
}

fn poll<T: 'static>(fiber: &mut Fiber<T>) -> Poll<T> {
    Pin::new(fiber).poll(&mut Context::from_waker(Waker::noop()))
}

/// Counts how often it is dropped.
struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_fiber_is_one_pointer() {
    assert_eq!(size_of::<Fiber<[u64; 100]>>(), size_of::<usize>());
}

#[test]
fn it_waits_as_often_as_it_must_and_gives_its_value_once() {
    let pool = pool();
    let mut fiber = fiber(&pool, |cx| {
        let one = cx.wait(ready(1));
        cx.park();
        cx.yield_now();
        one + cx.wait(async { 2 })
    });
    assert_eq!(poll(&mut fiber), Poll::Pending);
    assert_eq!(poll(&mut fiber), Poll::Pending);
    assert_eq!(poll(&mut fiber), Poll::Ready(3));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut fiber))).is_err());
    drop(fiber);
    assert_eq!(pool.stats().out, 0);
}

/// A waker that counts.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn each_poll_brings_its_own_waker() {
    let pool = pool();
    let mut fiber = fiber(&pool, |cx| {
        for _ in 0..3 {
            cx.yield_now();
        }
        cx.waker().wake();
    });
    for polls in 0..4 {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let ended = Pin::new(&mut fiber).poll(&mut Context::from_waker(&waker));
        assert_eq!(ended.is_ready(), polls == 3);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        drop(waker);
        assert_eq!(Arc::strong_count(&woken), 1, "no old waker is kept");
    }
}

#[test]
fn a_panic_is_the_tasks_error_and_the_stack_comes_home() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let pool = pool();
    let failing = fiber(&pool, |cx| -> u32 {
        cx.yield_now();
        panic!("on purpose")
    });
    // SAFETY: its stack holds nothing while it waits.
    let task = runtime.spawn(unsafe { failing.into_send() });
    let error = runtime.block_on(task).unwrap_err();
    let words = *error.into_panic().downcast::<&str>().unwrap();
    assert_eq!(words, "on purpose");
    drop(runtime);
    assert_eq!(pool.stats().out, 0);
}

#[test]
fn dropped_while_it_waits_each_destructor_runs_once() {
    let pool = pool();
    let dropped = Rc::new(Cell::new(0));
    let (outer, inner) = (Counts(dropped.clone()), dropped.clone());
    let mut fiber = fiber(&pool, move |cx| {
        let _outer = outer;
        let held = Counts(inner);
        cx.wait(async move {
            let _held = held;
            pending::<()>().await;
        });
        unreachable!("nobody wakes it");
    });
    assert!(poll(&mut fiber).is_pending());
    assert_eq!(dropped.get(), 0);
    drop(fiber);
    assert_eq!(dropped.get(), 2);
    assert_eq!(pool.stats().out, 0);
}

#[test]
fn dropped_before_its_first_poll_it_frees_its_closure() {
    let pool = pool();
    let dropped = Rc::new(Cell::new(0));
    let captured = Counts(dropped.clone());
    drop(fiber(&pool, move |_| drop(captured)));
    assert_eq!((dropped.get(), pool.stats().out), (1, 0));
}

#[test]
fn the_value_and_what_the_body_captured_are_dropped_once() {
    let pool = pool();
    let dropped = Rc::new(Cell::new(0));
    let (captured, value) = (Counts(dropped.clone()), Counts(dropped.clone()));
    let mut fiber = fiber(&pool, move |_| {
        let _captured = captured;
        value
    });
    let Poll::Ready(value) = poll(&mut fiber) else {
        panic!("it does not wait")
    };
    assert_eq!(dropped.get(), 1);
    drop(fiber);
    assert_eq!(dropped.get(), 1);
    drop(value);
    assert_eq!(dropped.get(), 2);
}

#[inline(never)]
fn stack_address() -> usize {
    let here = std::hint::black_box(0_u8);
    std::hint::black_box(&raw const here) as usize
}

#[test]
fn work_on_the_parents_stack_has_its_room_and_the_fiber_goes_on() {
    let pool = pool();
    let mut suspended = fiber(&pool, move |cx| {
        let own = stack_address();
        // Eight times what the fiber has.
        let (there, sum) = cx.on_parent_stack(|| {
            let large = std::hint::black_box([1_u8; 8 * STACK]);
            let sum: usize = large.iter().map(|byte| usize::from(*byte)).sum();
            (stack_address(), sum)
        });
        cx.yield_now();
        (own.abs_diff(stack_address()), own.abs_diff(there), sum)
    });
    assert!(poll(&mut suspended).is_pending());
    let Poll::Ready((near, far, sum)) = poll(&mut suspended) else {
        panic!("it has nothing to wait for any more");
    };
    assert!(near < STACK && far > STACK, "{near} and {far} bytes away");
    assert_eq!(sum, 8 * STACK);
}

#[test]
fn a_panic_on_the_parents_stack_unwinds_the_fiber() {
    let pool = pool();
    let mut panics = fiber(&pool, |cx| -> u64 {
        cx.on_parent_stack(|| panic!("over there"));
        0
    });
    let caught = catch_unwind(AssertUnwindSafe(|| poll(&mut panics)));
    let words = caught.unwrap_err();
    assert_eq!(words.downcast_ref::<&str>(), Some(&"over there"));
    drop(panics);
    assert_eq!(pool.stats().out, 0, "the stack has come home");
}

#[test]
fn a_fiber_waits_for_a_fiber() {
    let pool = pool();
    let mut outer = fiber(&pool, |cx| {
        let inner = cx.fiber(|cx| {
            cx.yield_now();
            20
        });
        cx.wait(inner.unwrap()) + 1
    });
    assert!(poll(&mut outer).is_pending());
    assert_eq!(poll(&mut outer), Poll::Ready(21));
}

#[test]
fn waiting_inside_of_what_it_waits_for_is_refused() {
    let pool = pool();
    for park in [true, false] {
        let mut fiber = fiber(&pool, move |cx| {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                cx.wait(poll_fn(|_| {
                    if park {
                        cx.park();
                    } else {
                        cx.wait(ready(()));
                    }
                    Poll::Ready(())
                }));
            }));
            assert!(caught.is_err());
            cx.yield_now(); // the context was given back
            7
        });
        assert!(poll(&mut fiber).is_pending());
        assert_eq!(poll(&mut fiber), Poll::Ready(7));
    }
}

#[test]
fn a_future_can_be_polled_once_and_waited_for_later() {
    let pool = pool();
    let mut fiber = fiber(&pool, |cx| {
        let mut polls = 0;
        let mut third = pin!(poll_fn(move |_| {
            polls += 1;
            if polls == 3 {
                Poll::Ready(polls)
            } else {
                Poll::Pending
            }
        }));
        assert!(cx.poll(third.as_mut()).is_pending());
        cx.wait(third)
    });
    assert!(poll(&mut fiber).is_pending());
    assert_eq!(poll(&mut fiber), Poll::Ready(3));
}

#[test]
fn timers_channels_and_joins_of_tokio_are_waited_for() {
    for workers in [1, 4] {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_time()
            .build()
            .unwrap();
        let pool = pool();
        let (sender, mut receiver) = mpsc::channel(1);
        let far = fiber(&pool, move |cx| {
            let mut sum = 0;
            while let Some(number) = cx.wait(receiver.recv()) {
                sum += number;
            }
            sum
        });
        let near = fiber(&pool, move |cx| {
            // SAFETY: its stack holds a receiver and a sum, which are `Send`.
            let far = tokio::spawn(unsafe { far.into_send() });
            for number in 1..=100_u64 {
                if number % 25 == 0 {
                    cx.wait(tokio::time::sleep(Duration::from_micros(50)));
                }
                cx.wait(sender.send(number)).unwrap();
            }
            drop(sender);
            cx.wait(far).unwrap()
        });
        // SAFETY: its stack holds a sender, a handle and numbers: all `Send`.
        let task = runtime.spawn(unsafe { near.into_send() });
        assert_eq!(runtime.block_on(task).unwrap(), 5_050);
        drop(runtime);
        assert_eq!(pool.stats().out, 0);
    }
}

#[test]
fn a_runtime_that_goes_unwinds_the_fibers_that_wait_on_it() {
    let pool = pool();
    let dropped = Arc::new(Woken::default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    for _ in 0..100 {
        let held = Waker::from(dropped.clone());
        let waiting = fiber(&pool, move |cx| {
            let _held = held;
            cx.wait(pending::<()>());
        });
        // SAFETY: its stack holds a waker, which is `Send`.
        runtime.spawn(unsafe { waiting.into_send() });
    }
    drop(runtime);
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert_eq!(pool.stats().out, 0);
}
