//! A value that only the thread which made it may touch.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};

/// Carries a value that is not `Send` through code that asks for `Send`.
///
/// A single-thread scheduler never takes its tasks' handles to another
/// thread, but the twins are written for every scheduler and so ask that
/// handles could be taken. The bound is met, and the promise checked: touching
/// the value from another thread panics, and so does dropping it there.
#[derive(Debug)]
pub struct ThreadBound<T> {
    owner: u64,
    value: ManuallyDrop<T>,
}

// SAFETY: every access to `value`, its drop included, first checks that the
// current thread is the one that made it; numbers of threads are never reused.
unsafe impl<T> Send for ThreadBound<T> {}
// SAFETY: as above: a shared reference gives access on the owner's thread only.
unsafe impl<T> Sync for ThreadBound<T> {}

impl<T> ThreadBound<T> {
    /// Binds `value` to the current thread.
    #[inline]
    pub fn new(value: T) -> Self {
        ThreadBound {
            owner: current(),
            value: ManuallyDrop::new(value),
        }
    }

    /// The value, on its own thread.
    ///
    /// # Panics
    /// On any other thread.
    #[inline]
    pub fn get(&self) -> &T {
        self.check();
        &self.value
    }

    /// Takes the value out, on its own thread.
    ///
    /// # Panics
    /// On any other thread.
    #[inline]
    pub fn into_inner(self) -> T {
        self.check();
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped, so the value is taken out once.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    #[inline]
    fn check(&self) {
        if self.owner != current() {
            elsewhere();
        }
    }
}

impl<T: Clone> Clone for ThreadBound<T> {
    #[inline]
    fn clone(&self) -> Self {
        ThreadBound {
            owner: self.owner,
            value: ManuallyDrop::new(self.get().clone()),
        }
    }
}

impl<T> Drop for ThreadBound<T> {
    #[inline]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            self.check();
            // SAFETY: dropped once, here, on the owner's thread.
            unsafe { ManuallyDrop::drop(&mut self.value) }
        }
    }
}

#[cold]
#[inline(never)]
fn elsewhere() -> ! {
    panic!("a value bound to one thread was touched from another");
}

/// A number for the current thread that no other thread ever has.
#[inline]
fn current() -> u64 {
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    static LAST: AtomicU64 = AtomicU64::new(0);
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        number.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn the_owner_gets_its_value_and_drops_it_once() {
        let shared = Rc::new(7);
        let bound = ThreadBound::new(shared.clone());
        assert_eq!(**bound.get(), 7);
        let again = bound.clone();
        assert_eq!(Rc::strong_count(&shared), 3);
        drop(again);
        assert_eq!(*bound.into_inner(), 7);
        assert_eq!(Rc::strong_count(&shared), 1);
    }

    #[test]
    fn any_other_thread_is_told_no() {
        let bound = ThreadBound::new(Cell::new(1));
        let touched = std::thread::scope(|scope| scope.spawn(|| bound.get().get()).join().is_err());
        assert!(touched);
    }
}
