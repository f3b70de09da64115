//! What a batch asks of the heap, counted by an allocator that stands before
//! the system's.
//!
//! It counts only in trials of their own, never while a time is measured: a
//! child is told to by its parent. Otherwise it costs a load and a branch an
//! allocation, for everybody alike.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a count of what is asked of it. A runner whose
/// heap should be counted has it as its global allocator:
///
/// ```
/// #[global_allocator]
/// static HEAP: corolab_lab::heap::Counting = corolab_lab::heap::Counting;
/// ```
#[derive(Debug)]
pub struct Counting;

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[inline(always)]
fn count(bytes: usize) {
    if COUNTING.load(Ordering::Relaxed) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// What was asked of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Allocations; one that grows counts as one, with what it grew by.
    pub allocations: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Asked {
    /// What was asked since `earlier`.
    pub fn since(self, earlier: Asked) -> Asked {
        Asked {
            allocations: self.allocations - earlier.allocations,
            bytes: self.bytes - earlier.bytes,
        }
    }
}

/// From now on the heap is counted in this process. Returns whether anybody
/// counts: the allocator may be another one.
pub fn begin() -> bool {
    COUNTING.store(true, Ordering::SeqCst);
    let before = asked();
    drop(black_box(Box::new(black_box(0_u64))));
    asked() != before
}

/// All that was asked so far, where it is counted.
#[inline(always)]
pub fn asked() -> Option<Asked> {
    if COUNTING.load(Ordering::Relaxed) {
        Some(Asked {
            allocations: ALLOCATIONS.load(Ordering::SeqCst),
            bytes: BYTES.load(Ordering::SeqCst),
        })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static HEAP: Counting = Counting;

    /// Other tests of this process allocate meanwhile: the counts are bounds.
    #[test]
    fn what_is_asked_is_counted_once_it_has_begun() {
        assert!(begin());
        let before = asked().unwrap();
        let mut grown: Vec<u8> = black_box(Vec::with_capacity(1_000));
        grown.reserve_exact(3_000);
        let told = asked().unwrap().since(before);
        assert!(told.allocations >= 2 && told.bytes >= 3_000, "{told:?}");
    }
}
