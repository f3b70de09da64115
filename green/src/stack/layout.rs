//! Where everything lies within a stack's slot.
//!
//! ```text
//! low                                             base     top
//!  | guard | for unwinding | usable bytes ........ | colour | next guard
//!                                    <- grows down
//! ```

use corolab_syscalls::memory::Range;

use super::{Colours, Guard};

/// Bytes below the usable ones. Dropping a suspended coroutine unwinds it, and
/// that runs on its own stack: it was seen to take 5.2 KiB in a release build
/// and 6.2 KiB in a debug build, more than the smallest stack has. They are
/// address space until then, and two page table entries.
const UNWINDING: usize = 8 << 10;

/// Where everything lies within a stack's slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub page: usize,
    pub guard: Guard,
    pub colours: Colours,
    /// Bytes that every stack of the class has at the least.
    pub usable: usize,
    /// Bytes from one stack to the next.
    pub stride: usize,
}

impl Layout {
    /// A slot with room for the guard, the usable bytes and every colour.
    pub fn new(page: usize, usable: usize, guard: Guard, colours: Colours) -> Option<Self> {
        let usable = usable.checked_next_multiple_of(page)?;
        let room = colours.room().next_multiple_of(page);
        let stride = usable
            .checked_add(guard.bytes(page) + room + UNWINDING.next_multiple_of(page))
            .filter(|stride| *stride < isize::MAX as usize)?;
        // An odd number of pages: tops a power of two of pages apart would
        // share the sets of the TLB as uncoloured tops share the cache's.
        let stride = if (stride / page).is_multiple_of(2) {
            stride + page
        } else {
            stride
        };
        Some(Layout {
            page,
            guard,
            colours,
            usable,
            stride,
        })
    }

    /// The lowest address of the slot of the stack with that base, its guard
    /// included. Colours are smaller than a page, so rounding up finds the top.
    pub fn low(&self, base: usize) -> usize {
        base.next_multiple_of(self.page) - self.stride
    }

    /// What is given back of a stack of which `kept` bytes stay.
    pub fn let_go(&self, base: usize, kept: usize) -> Range {
        let start = self.low(base) + self.guard.bytes(self.page);
        let top = base.next_multiple_of(self.page);
        let end = match kept {
            0 => top,
            kept => base.saturating_sub(kept) & !(self.page - 1),
        };
        Range {
            start,
            bytes: end.saturating_sub(start),
        }
    }
}
