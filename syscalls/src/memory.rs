//! Address space, and what becomes of its pages: mappings, advice, guards.
//!
//! Nothing here decides a policy. Ranges are given in bytes and have to lie on
//! page boundaries; the kernel says so when they do not.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use crate::check;

/// Makes a range a guard region: whoever touches it gets SIGSEGV, and no
/// mapping is split for it. Linux 6.13.
const MADV_GUARD_INSTALL: libc::c_int = 102;
/// "This process" where a pidfd is asked for. Linux 6.14.
const PIDFD_SELF: libc::c_long = -10_000;
/// Ranges that one system call takes (the kernel's UIO_MAXIOV is 1,024).
const BATCH: usize = 128;

/// Private anonymous memory, readable and writable, without a page behind it
/// until one is touched, and not counted against the commit limit where the
/// kernel lets a process choose. Unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is an address and a length; it gives no access by itself.
unsafe impl Send for Mapping {}
// SAFETY: as above; no method changes it through a shared reference.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps that many bytes.
    ///
    /// # Errors
    /// The kernel's: no room in the address space or below a limit (ENOMEM),
    /// or a length of 0 (EINVAL).
    pub fn new(bytes: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: no address is asked for, so that nothing mapped is replaced.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Mapping { start, bytes })
    }

    /// Address of the first byte.
    pub fn start(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new` and is unmapped once. That
        // nobody uses it any more is what owning the mapping means.
        let unmapped = unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
        debug_assert_eq!(unmapped, 0, "a whole mapping can be unmapped");
    }
}

/// Some bytes of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Address of the first byte.
    pub start: usize,
    /// Length in bytes.
    pub bytes: usize,
}

/// What the kernel is told about a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Its contents may be dropped when memory is short (MADV_FREE).
    Free,
    /// Its contents are dropped now; it reads as zeros (MADV_DONTNEED).
    DontNeed,
    /// Huge pages are welcome (MADV_HUGEPAGE).
    HugePages,
    /// No huge pages (MADV_NOHUGEPAGE).
    NoHugePages,
    /// It becomes a guard region (MADV_GUARD_INSTALL).
    Guard,
}

impl Advice {
    const fn number(self) -> libc::c_int {
        match self {
            Advice::Free => libc::MADV_FREE,
            Advice::DontNeed => libc::MADV_DONTNEED,
            Advice::HugePages => libc::MADV_HUGEPAGE,
            Advice::NoHugePages => libc::MADV_NOHUGEPAGE,
            Advice::Guard => MADV_GUARD_INSTALL,
        }
    }
}

/// Gives one piece of advice about a range.
///
/// # Errors
/// The kernel's: it does not know the advice (EINVAL), or has no memory for
/// the page tables that it needs (ENOMEM).
///
/// # Safety
/// The range belongs to a mapping of the caller, and nobody relies on contents
/// that the advice lets go.
pub unsafe fn advise(range: Range, advice: Advice) -> io::Result<()> {
    loop {
        // SAFETY: by this function's contract.
        let done = unsafe {
            libc::madvise(
                ptr::without_provenance_mut(range.start),
                range.bytes,
                advice.number(),
            )
        };
        match check(done) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            ended => return ended.map(drop),
        }
    }
}

/// Gives one piece of advice about many ranges, by as few system calls as the
/// kernel offers.
///
/// # Errors
/// As [`advise`]; ranges before the one that failed have been advised.
///
/// # Safety
/// As [`advise`], for each range.
pub unsafe fn advise_all(ranges: &[Range], advice: Advice) -> io::Result<()> {
    static ONE_BY_ONE: AtomicBool = AtomicBool::new(false);
    for batch in ranges.chunks(BATCH) {
        let mut advised = 0;
        if batch.len() > 1 && !ONE_BY_ONE.load(Ordering::Relaxed) {
            // SAFETY: by this function's contract.
            match unsafe { advise_batch(batch, advice) } {
                Ok(count) => advised = count,
                Err(why) if why.kind() == io::ErrorKind::OutOfMemory => {}
                // Kernels before 6.14, and filters that refuse the call.
                Err(_) => ONE_BY_ONE.store(true, Ordering::Relaxed),
            }
        }
        for range in &batch[advised..] {
            // SAFETY: by this function's contract.
            unsafe { advise(*range, advice) }?;
        }
    }
    Ok(())
}

/// How many whole ranges one call has advised.
///
/// # Safety
/// As [`advise`], for each range.
unsafe fn advise_batch(batch: &[Range], advice: Advice) -> io::Result<usize> {
    let empty = libc::iovec {
        iov_base: ptr::null_mut(),
        iov_len: 0,
    };
    let mut vector = [empty; BATCH];
    for (entry, range) in vector.iter_mut().zip(batch) {
        entry.iov_base = ptr::without_provenance_mut(range.start);
        entry.iov_len = range.bytes;
    }
    // SAFETY: the vector holds as many entries as the count says; for the
    // ranges in it, by this function's contract.
    let bytes = unsafe {
        libc::syscall(
            libc::SYS_process_madvise,
            PIDFD_SELF,
            vector.as_ptr(),
            batch.len(),
            advice.number(),
            0,
        )
    };
    let mut bytes = usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?;
    let mut whole = 0;
    for range in batch {
        if bytes < range.bytes {
            break;
        }
        bytes -= range.bytes;
        whole += 1;
    }
    Ok(whole)
}

/// Takes all access to a range away (mprotect); the mapping is split for it.
///
/// # Errors
/// The kernel's: the process has as many mappings as it may have (ENOMEM).
///
/// # Safety
/// The range belongs to a mapping of the caller, and nobody uses it.
pub unsafe fn forbid(range: Range) -> io::Result<()> {
    // SAFETY: by this function's contract.
    let done = unsafe {
        libc::mprotect(
            ptr::without_provenance_mut(range.start),
            range.bytes,
            libc::PROT_NONE,
        )
    };
    check(done).map(drop)
}

/// Whether this kernel makes guard regions, found out on a page of its own.
///
/// # Errors
/// The kernel's: EINVAL before Linux 6.13, and where memory is locked.
pub fn guard_regions(page: usize) -> io::Result<()> {
    let scratch = Mapping::new(page)?;
    let range = Range {
        start: scratch.start(),
        bytes: page,
    };
    // SAFETY: the page was mapped here and nobody else knows of it.
    unsafe { advise(range, Advice::Guard) }
}

/// A word that reads 0 in a forked child until somebody there sets it.
///
/// # Errors
/// The kernel's: it has no MADV_WIPEONFORK (before Linux 4.14).
pub fn wiped_on_fork(page: usize) -> io::Result<&'static AtomicU32> {
    static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());
    let mut word = WORD.load(Ordering::Acquire);
    if word.is_null() {
        let mapping = Mapping::new(page)?;
        // SAFETY: the page was mapped here, and nobody else knows of it yet.
        check(unsafe {
            libc::madvise(
                mapping.start.as_ptr().cast(),
                mapping.bytes,
                libc::MADV_WIPEONFORK,
            )
        })?;
        let ours = mapping.start.as_ptr().cast();
        match WORD.compare_exchange(word, ours, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                std::mem::forget(mapping); // stays for as long as the process
                word = ours;
            }
            Err(theirs) => word = theirs,
        }
    }
    // SAFETY: it points to a zeroed, page-aligned word that is never unmapped,
    // and every access to it is atomic.
    Ok(unsafe { &*word })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4_096;

    fn first_byte(mapping: &Mapping, page: usize) -> *mut u8 {
        mapping.start.as_ptr().wrapping_add(page * PAGE)
    }

    fn pages(mapping: &Mapping, pages: std::ops::Range<usize>) -> Vec<Range> {
        let range = |page| Range {
            start: mapping.start() + page * PAGE,
            bytes: PAGE,
        };
        pages.map(range).collect()
    }

    #[test]
    fn memory_that_is_not_needed_reads_as_zeros_again_each_range_of_it() {
        let mapping = Mapping::new(300 * PAGE).unwrap();
        for page in 0..300 {
            // SAFETY: the page lies within the mapping.
            unsafe { first_byte(&mapping, page).write(7) };
        }
        let let_go = pages(&mapping, 1..299);
        // SAFETY: nobody relies on these pages but this test, which wants them gone.
        unsafe { advise_all(&let_go, Advice::DontNeed) }.unwrap();
        // SAFETY: the pages lie within the mapping.
        let read = |page| unsafe { first_byte(&mapping, page).read() };
        assert_eq!((read(0), read(299)), (7, 7));
        assert!((1..299).all(|page| read(page) == 0));
    }

    #[test]
    fn a_length_that_cannot_be_is_the_kernels_error() {
        assert_eq!(
            Mapping::new(0).unwrap_err().raw_os_error(),
            Some(libc::EINVAL)
        );
        let absurd = usize::MAX / PAGE * PAGE;
        assert_eq!(
            Mapping::new(absurd).unwrap_err().kind(),
            io::ErrorKind::OutOfMemory
        );
    }

    #[test]
    fn advice_about_what_is_not_mapped_fails_at_the_range_it_names() {
        let mapping = Mapping::new(4 * PAGE).unwrap();
        let mut ranges = pages(&mapping, 0..3);
        ranges[1].start += 1; // not on a page boundary
        // SAFETY: the ranges lie within the mapping, which nobody else uses.
        let refused = unsafe { advise_all(&ranges, Advice::DontNeed) }.unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn the_word_is_one_for_the_process_and_keeps_what_it_is_set_to() {
        let word = wiped_on_fork(PAGE).unwrap();
        word.store(5, Ordering::Relaxed);
        assert_eq!(wiped_on_fork(PAGE).unwrap().load(Ordering::Relaxed), 5);
    }
}
