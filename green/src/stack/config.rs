//! How a pool is made: sizes, guards, colours, and what becomes of idle memory.

use super::{Colours, Guard};

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
    pub(super) classes: Vec<usize>,
    pub(super) guard: Option<Guard>,
    pub(super) colours: Colours,
    pub(super) release: Release,
    pub(super) huge_pages: bool,
    pub(super) cached: usize,
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
