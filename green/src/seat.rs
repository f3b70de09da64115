//! A coroutine that sits on its own stack: whoever owns it holds one pointer.
//!
//! ```text
//! | ... frames ... | entry, parent link | coroutine | base of the stack
//!                  |<------- one cache line -------->|
//! ```
//!
//! A runtime's task of it is as small as tasks get (tokio's cells come in steps
//! of 128 bytes), and what a resume reads first lies in the cache line that it
//! needs anyway.

use std::ptr::NonNull;

use corosensei::stack::{STACK_ALIGNMENT, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};

use crate::stack::PooledStack;

/// The stack below the seat.
pub(crate) struct Below {
    stack: PooledStack,
    seat: usize,
}

// SAFETY: as the stack's own, less the seat at its base, whose size is a
// multiple of the alignment. That leaves enough: a pooled stack has 8 KiB more
// than its class (see `stack::layout`), and the seat takes some dozen bytes.
unsafe impl Stack for Below {
    #[inline]
    fn base(&self) -> StackPointer {
        let below = self.stack.base().get() - self.seat;
        StackPointer::new(below).unwrap_or(StackPointer::MIN)
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
}

pub(crate) type Sitting<I, Y, R> = Coroutine<I, Y, R, Below>;

/// A coroutine on its own stack.
pub(crate) struct Seated<I, Y, R>(NonNull<Sitting<I, Y, R>>);

impl<I: 'static, Y: 'static, R: 'static> Seated<I, Y, R> {
    /// A coroutine that has not started.
    pub(crate) fn new<F>(stack: PooledStack, body: F) -> Self
    where
        F: FnOnce(&Yielder<I, Y>, I) -> R + 'static,
    {
        const { assert!(align_of::<Sitting<(), (), ()>>() <= STACK_ALIGNMENT) };
        let seat = size_of::<Sitting<I, Y, R>>().next_multiple_of(STACK_ALIGNMENT);
        let below = Below { stack, seat };
        let at = below.base().get() as *mut Sitting<I, Y, R>;
        let coroutine = Coroutine::with_stack(below, body);
        // SAFETY: `seat` bytes from there to the stack's base are the stack's
        // own and below what the coroutine takes for its base, so nobody else
        // writes to them; they are aligned as bases are.
        unsafe { at.write(coroutine) };
        // SAFETY: an address within a mapping is not null.
        Seated(unsafe { NonNull::new_unchecked(at) })
    }
}

impl<I, Y, R> Seated<I, Y, R> {
    /// The coroutine.
    #[inline]
    pub(crate) fn get(&self) -> &Sitting<I, Y, R> {
        // SAFETY: written by `new`, dropped by `drop`, borrowed as self is.
        unsafe { self.0.as_ref() }
    }

    /// The coroutine, to resume it.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Sitting<I, Y, R> {
        // SAFETY: as in `get`.
        unsafe { self.0.as_mut() }
    }
}

impl<I, Y, R> Drop for Seated<I, Y, R> {
    #[inline]
    fn drop(&mut self) {
        // Unwinding a suspended coroutine resumes it once more. It owns the
        // stack that it sits on, so it leaves its seat before it goes.
        // SAFETY: it is read once, and nobody looks at the seat after that.
        drop(unsafe { self.0.read() });
    }
}
