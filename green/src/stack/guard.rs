//! Guards: what lies below a stack, so that overflowing it is a fault and not
//! a neighbour's data.

use std::io;

use corolab_syscalls::limits;
use corolab_syscalls::memory::{self, Advice, Range};

use super::StackError;

/// What lies below each stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A guard region: a page that faults and splits no mapping. Needs
    /// Linux 6.13, and memory that is not locked.
    Region,
    /// A page without access. It takes two mappings a stack, of which a
    /// process has 65,530 unless vm.max_map_count says otherwise.
    Protected,
    /// The next stack. Asked for by an unsafe call only.
    None,
}

impl Guard {
    /// The best that this kernel has, by what it said of a region on trial.
    pub(super) fn best(regions: &io::Result<()>) -> Guard {
        match regions {
            Ok(()) => Guard::Region,
            Err(_) => Guard::Protected,
        }
    }

    /// The strategy in the words that rows use.
    pub const fn name(self) -> &'static str {
        match self {
            Guard::Region => "guard regions (MADV_GUARD_INSTALL)",
            Guard::Protected => "protected pages (mprotect)",
            Guard::None => "no guards",
        }
    }

    /// Bytes of a guard.
    pub(super) const fn bytes(self, page: usize) -> usize {
        match self {
            Guard::Region | Guard::Protected => page,
            Guard::None => 0,
        }
    }

    /// Itself, unless this kernel does not have it.
    pub(super) fn checked(self, regions: io::Result<()>) -> Result<Guard, StackError> {
        match (self, regions) {
            (Guard::Region, Err(why)) => Err(StackError::NoGuardRegions { why }),
            _ => Ok(self),
        }
    }

    /// Makes each range a guard.
    ///
    /// # Errors
    /// The kernel's; doing it again for ranges that are guards does no harm.
    ///
    /// # Safety
    /// The ranges belong to a mapping of the caller, and nobody uses them.
    pub(super) unsafe fn install(self, ranges: &[Range]) -> io::Result<()> {
        match self {
            // SAFETY: by this function's contract.
            Guard::Region => unsafe { memory::advise_all(ranges, Advice::Guard) },
            Guard::Protected => ranges.iter().try_for_each(|range| {
                // SAFETY: by this function's contract.
                unsafe { memory::forbid(*range) }
            }),
            Guard::None => Ok(()),
        }
    }

    /// What helps when the kernel refuses one more guard.
    pub(super) fn way_out(self, why: &io::Error) -> String {
        let limit = limits::max_map_count();
        match (self, limit) {
            (Guard::Protected, Ok(limit)) => format!(
                "vm.max_map_count is {limit} and a protected stack takes two maps; raise it, or \
                 use guard regions"
            ),
            (Guard::Region, _) if why.kind() == io::ErrorKind::InvalidInput => {
                "memory that is locked (mlockall) has no guard regions; make the pool afterwards, or \
                 with protected pages"
                    .to_owned()
            }
            _ => "the kernel has no memory for page tables; bring stacks back".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_old() -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }

    #[test]
    fn without_regions_the_best_is_a_protected_page() {
        assert_eq!(Guard::best(&Ok(())), Guard::Region);
        assert_eq!(Guard::best(&too_old()), Guard::Protected);
    }

    #[test]
    fn regions_on_a_kernel_without_them_are_refused_with_the_way_out() {
        let told = Guard::Region.checked(too_old()).unwrap_err().to_string();
        assert!(
            told.contains("6.13") && told.contains("protected_pages"),
            "{told}"
        );
        for other in [Guard::Protected, Guard::None] {
            assert_eq!(other.checked(too_old()).unwrap(), other);
        }
    }
}
