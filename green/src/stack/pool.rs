//! The pool: what a program makes, configures, asks and closes.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use corolab_syscalls::{limits, memory};
use corosensei::stack::{Stack, StackPointer};

use super::class::{Class, Layout, Rules};
use super::{Colours, Guard, StackError, cache};

/// What becomes of the memory of stacks that come back to the shared part of
/// the pool. `kept` bytes below each top stay in any case; what a thread keeps
/// in its cache stays whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// It stays. The fastest, and the largest.
    Keep,
    /// The kernel may take it when memory is short (MADV_FREE).
    Free {
        /// The high-water mark: bytes from the top that stay.
        kept: usize,
    },
    /// The kernel takes it at once (MADV_DONTNEED).
    DontNeed {
        /// The high-water mark: bytes from the top that stay.
        kept: usize,
    },
}

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct Config {
    classes: Vec<usize>,
    guard: Option<Guard>,
    colours: Colours,
    release: Release,
    huge_pages: bool,
    cached: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            classes: (12..=23).map(|power| 1 << power).collect(),
            guard: None,
            colours: Colours::LINES,
            release: Release::Keep,
            huge_pages: false,
            cached: 32,
        }
    }
}

impl Config {
    /// Usable bytes of each size class, in any order; a stack comes from the
    /// smallest that has what is asked for. By default the powers of two from
    /// 4 KiB to 8 MiB.
    #[must_use]
    pub fn classes(mut self, bytes: impl Into<Vec<usize>>) -> Self {
        self.classes = bytes.into();
        self
    }

    /// Guard regions or nothing, instead of the best that the kernel has.
    #[must_use]
    pub fn guard_regions(mut self) -> Self {
        self.guard = Some(Guard::Region);
        self
    }

    /// Protected pages, instead of the best that the kernel has.
    #[must_use]
    pub fn protected_pages(mut self) -> Self {
        self.guard = Some(Guard::Protected);
        self
    }

    /// No guards.
    ///
    /// # Safety
    /// No coroutine on a stack of this pool ever uses more than the bytes that
    /// were asked for it. One that does overwrites its neighbour.
    #[must_use]
    pub unsafe fn unguarded(mut self) -> Self {
        self.guard = Some(Guard::None);
        self
    }

    /// Where tops lie within their pages; [`Colours::LINES`] by default.
    #[must_use]
    pub fn colours(mut self, colours: Colours) -> Self {
        self.colours = colours;
        self
    }

    /// What becomes of idle stacks' memory; [`Release::Keep`] by default.
    #[must_use]
    pub fn release(mut self, release: Release) -> Self {
        self.release = release;
        self
    }

    /// Whether huge pages are welcome: fewer misses of the TLB, but one touched
    /// byte makes 2 MiB resident, and a guard within them prevents them. Off by
    /// default.
    #[must_use]
    pub fn huge_pages(mut self, welcome: bool) -> Self {
        self.huge_pages = welcome;
        self
    }

    /// Idle stacks of a class that each thread keeps to itself, 32 by default;
    /// with 0 every stack comes and goes under the pool's lock.
    #[must_use]
    pub fn cached(mut self, stacks: usize) -> Self {
        self.cached = stacks;
        self
    }
}

/// How a pool stands; sums over its classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Stacks made so far.
    pub made: usize,
    /// Stacks in use.
    pub out: usize,
    /// Idle stacks in threads' caches.
    pub cached: usize,
    /// Mappings that stacks are cut from.
    pub mappings: usize,
    /// Bytes of address space in them.
    pub mapped: usize,
}

/// Stacks of several sizes for coroutines on any thread. A clone is the same
/// pool.
///
/// When the last clone goes, the pool is closed: its memory goes with the last
/// stack that comes home.
#[derive(Clone, Debug)]
pub struct StackPool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The smallest first.
    classes: Vec<Arc<Class>>,
    guard: Guard,
}

impl StackPool {
    /// A pool as the defaults have it.
    ///
    /// # Errors
    /// As [`StackPool::with`].
    pub fn new() -> Result<Self, StackError> {
        Self::with(Config::default())
    }

    /// A pool of that make. Nothing is mapped before a stack is asked for.
    ///
    /// # Errors
    /// No class, a class of 0 bytes or beyond the address space, or guard
    /// regions asked for where the kernel has none.
    pub fn with(config: Config) -> Result<Self, StackError> {
        let page = limits::page_bytes().map_or(4_096, |bytes| bytes as usize);
        let regions = memory::guard_regions(page);
        let guard = match config.guard {
            Some(guard) => guard.checked(regions)?,
            None => Guard::best(&regions),
        };
        let mut sizes = config.classes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        let largest = isize::MAX as usize / 2;
        let wrong = |wrong| StackError::Classes { wrong, largest };
        let mark = mark_of_this_process(page);
        let class = |bytes: usize| {
            let layout = Some(bytes)
                .filter(|bytes| (1..=largest).contains(bytes))
                .and_then(|bytes| Layout::new(page, bytes, guard, config.colours))
                .ok_or_else(|| wrong(Some(bytes)))?;
            let rules = Rules {
                layout,
                release: config.release,
                huge_pages: config.huge_pages,
                cached: config.cached,
            };
            Ok(Class::new(rules, mark))
        };
        let classes: Vec<_> = sizes.into_iter().map(class).collect::<Result<_, _>>()?;
        if classes.is_empty() {
            return Err(wrong(None));
        }
        let shared = Arc::new(Shared { classes, guard });
        Ok(StackPool { shared })
    }

    /// A stack of at least that many usable bytes.
    ///
    /// # Errors
    /// 0 bytes, or more than the largest class; no address space, no guard;
    /// the pool is closed, or this process is a fork of the pool's.
    pub fn stack(&self, bytes: usize) -> Result<PooledStack, StackError> {
        let classes = &self.shared.classes;
        let fits = |class: &&Arc<Class>| class.rules.layout.usable >= bytes;
        if bytes == 0 {
            let smallest = classes[0].rules.layout.usable;
            return Err(StackError::Zero { smallest });
        }
        match classes.iter().find(fits) {
            Some(class) => PooledStack::of(class),
            None => Err(StackError::TooLarge {
                asked: bytes,
                largest: classes[classes.len() - 1].rules.layout.usable,
            }),
        }
    }

    /// The guards in force.
    pub fn guard(&self) -> Guard {
        self.shared.guard
    }

    /// How it stands. Exact while no other thread takes or returns a stack.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        for class in &self.shared.classes {
            let standing = class.standing();
            stats.made += standing.made;
            stats.out += standing.lent.saturating_sub(standing.cached);
            stats.cached += standing.cached;
            stats.mappings += standing.mappings;
            stats.mapped += standing.mapped;
        }
        stats
    }

    /// Closes the pool, all its clones with it, and says whether its memory is
    /// gone.
    ///
    /// # Errors
    /// Stacks are out: they stay usable, and their memory goes when the last
    /// one has come home.
    pub fn close(self) -> Result<(), StackError> {
        let (lent, cached) = self.shared.close();
        if lent == 0 {
            return Ok(());
        }
        Err(StackError::StillOut {
            out: lent.saturating_sub(cached),
            idle: cached,
        })
    }
}

impl Shared {
    /// Closes every class; stacks lent and, of these, idle in caches.
    fn close(&self) -> (usize, usize) {
        let mut sum = (0, 0);
        for class in &self.classes {
            if class.is_elsewhere() {
                continue; // a fork: the pool is its maker's to close
            }
            cache::flush(class);
            let standing = class.close();
            sum = (sum.0 + standing.lent, sum.1 + standing.cached);
        }
        sum
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// The word by which a fork is known, set to this process's id.
fn mark_of_this_process(page: usize) -> &'static AtomicU32 {
    static UNWIPED: AtomicU32 = AtomicU32::new(0);
    // Before Linux 4.14 no word tells; there forks are not noticed.
    let mark = memory::wiped_on_fork(page).unwrap_or(&UNWIPED);
    mark.store(std::process::id(), Ordering::Relaxed);
    mark
}

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
    fn of(class: &Class) -> Result<Self, StackError> {
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
