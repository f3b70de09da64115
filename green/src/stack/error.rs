//! Why there is no stack, with the numbers and the way out.

use std::io;

/// Why there is no stack, or why a pool is not what was wished for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// Nothing was asked for.
    #[error("a stack of 0 bytes was asked for; the smallest class of this pool has {smallest} B")]
    Zero {
        /// Usable bytes of the smallest class.
        smallest: usize,
    },
    /// More was asked for than any class has.
    #[error(
        "a stack of {asked} B was asked for and the largest class of this pool has {largest} B; \
         give the pool a class for it (Config::classes)"
    )]
    TooLarge {
        /// Bytes asked for.
        asked: usize,
        /// Usable bytes of the largest class.
        largest: usize,
    },
    /// The list of classes is empty, or holds a size that cannot be.
    #[error(
        "a pool needs classes from 1 B to {largest} B each; {wrong:?} was given (Config::classes)"
    )]
    Classes {
        /// The size that cannot be; `None` for an empty list.
        wrong: Option<usize>,
        /// The largest that can.
        largest: usize,
    },
    /// Colours that do not fit into a page.
    #[error(
        "{count} colours of {step} B each do not fit: the step is a multiple of 16 B, and step \
         times count is at most 4096 B"
    )]
    Colours {
        /// Bytes from one to the next.
        step: usize,
        /// How many.
        count: usize,
    },
    /// This kernel has no guard regions.
    #[error(
        "this kernel makes no guard regions ({why}); Linux 6.13 does, for memory that is not \
         locked: leave the choice to the pool, or take Config::protected_pages (two mappings a stack)"
    )]
    NoGuardRegions {
        /// The kernel's reason.
        why: io::Error,
    },
    /// The kernel gives no more address space.
    #[error(
        "no room for one more stack of {usable} B ({why}); {made} of them are made: bring stacks \
         back, or raise the limit on address space (ulimit -v) or on committed memory \
         (vm.overcommit_memory)"
    )]
    Map {
        /// Usable bytes of the class.
        usable: usize,
        /// Stacks of the class made so far.
        made: usize,
        /// The kernel's reason.
        why: io::Error,
    },
    /// The kernel gives no guard, so the stack is not handed out.
    #[error(
        "no guard for one more stack of {usable} B ({why}); {made} of them are made: {way_out}"
    )]
    Guard {
        /// Usable bytes of the class.
        usable: usize,
        /// Stacks of the class made so far.
        made: usize,
        /// What would help.
        way_out: String,
        /// The kernel's reason.
        why: io::Error,
    },
    /// This process was forked from the one that made the pool.
    #[error(
        "this pool was made by process {made_in}, and this is its fork {here}: make a pool of its \
         own here"
    )]
    Forked {
        /// Who made the pool.
        made_in: u32,
        /// Who asks.
        here: u32,
    },
    /// The pool is closed.
    #[error("this pool is closed: it takes stacks back and hands none out")]
    Closed,
    /// The pool was closed while stacks were out.
    #[error(
        "the pool was closed with {out} stacks out and {idle} idle in other threads' caches: their \
         memory goes when the last one has come home; drop the coroutines first to have it at once"
    )]
    StillOut {
        /// Stacks in use.
        out: usize,
        /// Idle stacks that threads keep until they next use the pool, or end.
        idle: usize,
    },
}

impl From<StackError> for io::Error {
    fn from(error: StackError) -> Self {
        let kind = match &error {
            StackError::Map { .. } | StackError::Guard { .. } => io::ErrorKind::OutOfMemory,
            StackError::NoGuardRegions { .. } => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error)
    }
}
