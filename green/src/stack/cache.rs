//! The few idle stacks that each thread keeps to itself, so that most stacks
//! come and go without a lock.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::StackError;
use super::class::Class;

thread_local! {
    // No method here suspends, so no borrow of it is held across a switch.
    static CACHES: RefCell<Caches> = const { RefCell::new(Caches(Vec::new())) };
}

/// A cache for each class that this thread uses, the last used one first.
struct Caches(Vec<Cache>);

struct Cache {
    class: Arc<Class>,
    idle: Vec<usize>,
    /// The length of `idle`, for others to read.
    told: Arc<AtomicUsize>,
}

/// The base of a stack that is the caller's from now on.
#[inline]
pub(super) fn take(class: &Class) -> Result<usize, StackError> {
    class.check()?;
    let taken = CACHES.try_with(|caches| caches.borrow_mut().of(class).map(Cache::pop));
    match taken {
        Ok(Some(taken)) => taken,
        // The thread is ending, or the class caches nothing.
        Ok(None) | Err(_) => one(class),
    }
}

/// Takes a stack back whose base came from [`take`]; see [`Class::take_back`]
/// for what it gives.
#[inline]
#[must_use = "it may free the class"]
pub(super) fn put(class: &Class, base: usize) -> Option<Arc<Class>> {
    if class.is_elsewhere() {
        return None; // not even a cache is made: the class's lock may be held for ever
    }
    let kept = CACHES.try_with(|caches| match caches.borrow_mut().of(class) {
        Some(cache) => {
            cache.push(base);
            true
        }
        None => false,
    });
    if matches!(kept, Ok(true)) {
        None
    } else {
        class.take_back(&[base])
    }
}

/// Brings this thread's idle stacks of a class back.
pub(super) fn flush(class: &Class) {
    // A thread that is ending has brought them back already.
    let _ = CACHES.try_with(|caches| {
        let mut caches = caches.borrow_mut();
        if let Some(cache) = caches.find(class) {
            cache.bring_back(0);
        }
    });
}

#[cold]
fn one(class: &Class) -> Result<usize, StackError> {
    let mut taken = Vec::with_capacity(1);
    class.lend(1, &mut taken)?;
    taken.pop().ok_or(StackError::Closed)
}

impl Caches {
    #[inline]
    fn of(&mut self, class: &Class) -> Option<&mut Cache> {
        match self.0.first() {
            Some(first) if std::ptr::eq(&*first.class, class) => self.0.first_mut(),
            _ => self.brought_first(class),
        }
    }

    fn find(&mut self, class: &Class) -> Option<&mut Cache> {
        self.0
            .iter_mut()
            .find(|cache| std::ptr::eq(&*cache.class, class))
    }

    /// The class's cache, made if there is none, at the first place; `None`
    /// where the class wants no caches.
    #[cold]
    fn brought_first(&mut self, class: &Class) -> Option<&mut Cache> {
        if class.rules.cached == 0 {
            return None;
        }
        let at = self
            .0
            .iter()
            .position(|cache| std::ptr::eq(&*cache.class, class));
        if let Some(at) = at {
            self.0.swap(0, at);
        } else {
            // Classes that were closed meanwhile wait for what lies here.
            self.0.retain(|cache| !cache.class.is_closed());
            let told = Arc::new(AtomicUsize::new(0));
            class.enlist(&told);
            let cache = Cache {
                class: class.shared()?,
                idle: Vec::with_capacity(class.rules.cached + 1),
                told,
            };
            self.0.insert(0, cache);
        }
        self.0.first_mut()
    }
}

impl Cache {
    #[inline]
    fn pop(&mut self) -> Result<usize, StackError> {
        let base = match self.idle.pop() {
            Some(base) => base,
            None => self.refilled()?,
        };
        self.tell();
        Ok(base)
    }

    #[inline]
    fn push(&mut self, base: usize) {
        self.idle.push(base);
        if self.idle.len() > self.class.rules.cached || self.class.is_closed() {
            self.overflowed();
        }
        self.tell();
    }

    #[inline]
    fn tell(&self) {
        self.told.store(self.idle.len(), Ordering::Relaxed);
    }

    #[cold]
    fn refilled(&mut self) -> Result<usize, StackError> {
        let half = self.class.rules.cached.div_ceil(2);
        self.class.lend(half, &mut self.idle)?;
        self.idle.pop().ok_or(StackError::Closed)
    }

    /// Keeps half, the stacks that were used last; nothing of a closed class.
    #[cold]
    fn overflowed(&mut self) {
        let kept = if self.class.is_closed() {
            0
        } else {
            self.class.rules.cached / 2
        };
        self.bring_back(kept);
    }

    fn bring_back(&mut self, kept: usize) {
        let count = self.idle.len().saturating_sub(kept);
        // This cache holds the class, so that nothing is freed here.
        drop(self.class.take_back(&self.idle[..count]));
        self.idle.drain(..count);
        self.tell();
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.bring_back(0);
    }
}
