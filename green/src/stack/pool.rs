//! The pool: what a program makes, configures, asks and closes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use corolab_syscalls::{limits, memory};

use super::class::{Class, Rules};
use super::layout::Layout;
use super::{Config, Guard, PooledStack, StackError, cache};

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
        let mut sizes = config.classes;
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

    /// How it stands; zeros in a fork. Exact while no other thread takes or
    /// returns a stack.
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
    /// one has come home. Or this process is a fork of the pool's.
    pub fn close(self) -> Result<(), StackError> {
        for class in &self.shared.classes {
            class.check_process()?;
        }
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
