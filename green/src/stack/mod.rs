//! Stacks for coroutines, as cheap as a stack can be.
//!
//! A stack that is mapped for one coroutine costs two mappings, of which a
//! process has 65,530; two system calls to make and one to drop; and its top
//! lies at a page boundary like every other stack's, in the same few sets of
//! the first-level cache. A [`StackPool`] does away with all four:
//!
//! - **Large mappings.** Stacks are cut from mappings that double in size, so a
//!   million of them take about twenty.
//! - **Guards without mappings.** [`Guard::Region`] is a page that faults and
//!   splits nothing (Linux 6.13). Before that, [`Guard::Protected`]: two
//!   mappings a stack again, and the old ceiling. [`StackPool::guard`] tells
//!   which one is in force.
//! - **Coloured tops.** [`Colours`] moves each top down by some cache lines, in
//!   turn, and stacks lie an odd number of pages apart, so that neither the sets
//!   of the cache nor those of the TLB are shared by all. The usable bytes are
//!   net of that.
//! - **Reuse.** Each thread keeps a few idle stacks of each size; the rest lies
//!   under a lock that is taken once for half a cache. [`Release`] says what
//!   becomes of idle memory.
//!
//! # When to use it, and when not
//!
//! Use it where coroutines come and go, where more than a dozen live at once,
//! or where there may be more than 32,000. One long-lived coroutine is as well
//! off with corosensei's own `DefaultStack`.
//!
//! # Limits
//!
//! - Address space is never given back while the pool lives; with
//!   [`Release::Keep`], the default, neither is memory. The largest number of
//!   stacks that were ever out stays mapped.
//! - A stack's top page, once touched, stays with it, see below.
//! - A guard is one page. Rust code touches every page of a frame in order;
//!   foreign code that was built without stack clash protection may step over
//!   the guard.
//! - Dropping a suspended coroutine unwinds it on its own stack, so each has
//!   8 KiB more than its class; a destructor that needs more than is left of
//!   both overflows.
//! - An overflow ends the process. [`name_overflows`] has it say which size of
//!   stack it was.
//! - A fork gets no stacks from its parent's pool, but an error that says so.
//! - 64-bit Linux is what it is measured on. Huge pages do not form where
//!   guard regions lie.
//!
//! # Where the bytes go
//!
//! A waiting coroutine on the smallest stack, of a million, as `corolab run
//! --full -f footprint` reads it from outside:
//!
//! | bytes | what for |
//! |---|---|
//! | 4,096 | the one page that it has touched; with a guard there is no smaller unit. A second one for those that use more than the 512 B which [`Colours::LINES`] leaves to the lowest top |
//! | 40 | page table entries of its slot: guard, two pages for unwinding, usable page, colour page |
//! | 40 | the coroutine itself, where its owner keeps it |
//! | 0 | the pool: what is lent is not listed; an idle stack takes 8 |
//!
//! As a task on tokio, a [`Fiber`](crate::fiber::Fiber) keeps those 40 bytes on
//! its stack and is a pointer; tokio's cell of it is 128 B at an alignment of
//! 128, over which glibc loses as much again, and handle, waker and run queue
//! take another 8, 16 and 8.
//!
//! ```
//! use corolab_green::stack::{Config, Release, StackPool};
//! use corosensei::Coroutine;
//!
//! let pool = StackPool::with(
//!     Config::default().release(Release::DontNeed { kept: 4_096 }),
//! )?;
//! let stack = pool.stack(16 * 1024)?;
//! let mut coroutine = Coroutine::with_stack(stack, |yielder, first: u32| {
//!     let second = yielder.suspend(first + 1);
//!     second * 2
//! });
//! assert_eq!(coroutine.resume(1).as_yield(), Some(2));
//! assert_eq!(coroutine.resume(21).as_return(), Some(42));
//! drop(coroutine); // the stack is idle again
//! assert_eq!(pool.stats().out, 0);
//! # Ok::<(), corolab_green::stack::StackError>(())
//! ```

mod cache;
mod class;
mod colour;
mod config;
mod error;
mod guard;
mod layout;
mod overflow;
mod pool;
mod pooled;

pub use colour::Colours;
pub use config::{Config, Release};
pub use error::StackError;
pub use guard::Guard;
pub use overflow::name_overflows;
pub use pool::{StackPool, Stats};
pub(crate) use pooled::Kin;
pub use pooled::PooledStack;
