//! A stack of a pool, as corosensei takes it.

use std::fmt;
use std::ptr::NonNull;

use corosensei::stack::{Stack, StackPointer};

use super::class::Class;
use super::{Guard, StackError, cache};

/// A stack of a pool, to make a corosensei `Coroutine` with; it goes back to
/// the pool when dropped, on whatever thread.
pub struct PooledStack {
    base: StackPointer,
    class: NonNull<Class>,
}

// SAFETY: a stack is memory that nobody else uses, and its class is shared by
// all threads (`Class` is Sync) and outlives it, see `PooledStack::class`.
unsafe impl Send for PooledStack {}
// SAFETY: as above; a shared reference only reads two addresses.
unsafe impl Sync for PooledStack {}

impl PooledStack {
    #[inline]
    pub(super) fn of(class: &Class) -> Result<Self, StackError> {
        let base = cache::take(class)?;
        Ok(PooledStack {
            // A mapping never lies at address 0.
            base: StackPointer::new(base).ok_or(StackError::Closed)?,
            class: NonNull::from(class),
        })
    }

    /// By this, code that runs on the stack gets others like it.
    #[inline]
    pub(crate) fn kin(&self) -> Kin {
        Kin { class: self.class }
    }

    /// Usable bytes: no fewer than asked for, net of guard and colour.
    pub fn usable(&self) -> usize {
        let layout = self.class().rules.layout;
        let low = layout.low(self.base.get());
        self.base.get() - low - layout.guard.bytes(layout.page)
    }

    /// The guards in force.
    pub fn guard(&self) -> Guard {
        self.class().rules.layout.guard
    }

    #[inline]
    fn class(&self) -> &Class {
        // SAFETY: a class keeps itself alive while stacks of it are lent, and
        // this one is until it is dropped (see `Class::lend`).
        unsafe { self.class.as_ref() }
    }
}

// SAFETY: base and limit bound memory that is this stack's alone. A guard page
// lies at the limit unless the pool was made by `Config::unguarded`, whose
// caller answers for that. Classes are at least one page, and 4,096 bytes of
// it are usable. Bases are a page boundary less a multiple of the alignment.
unsafe impl Stack for PooledStack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        let low = self.class().rules.layout.low(self.base.get());
        StackPointer::new(low).unwrap_or(StackPointer::MIN)
    }
}

impl Drop for PooledStack {
    #[inline]
    fn drop(&mut self) {
        let kept_alive = cache::put(self.class(), self.base.get());
        drop(kept_alive); // the class with it, if it was the last stack of a closed pool
    }
}

/// The pool and size that a stack is of, without a hold on them.
#[derive(Clone, Copy)]
pub(crate) struct Kin {
    class: NonNull<Class>,
}

impl Kin {
    /// Another stack of the same pool and size.
    ///
    /// # Errors
    /// As [`StackPool::stack`].
    ///
    /// # Safety
    /// The stack that it was taken from has not been dropped.
    #[inline]
    pub(crate) unsafe fn stack(self) -> Result<PooledStack, StackError> {
        // SAFETY: a class keeps itself alive while a stack of it is lent.
        PooledStack::of(unsafe { self.class.as_ref() })
    }
}

impl fmt::Debug for PooledStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledStack")
            .field("base", &format_args!("{:#x}", self.base))
            .field("usable", &self.usable())
            .finish()
    }
}
