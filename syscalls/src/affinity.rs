//! The CPUs that a thread may use. CPU numbers are ids, never positions.

use std::io;
use std::mem::{size_of, size_of_val};

use crate::check;

/// Ids of the CPUs that the calling thread may run on, ascending.
///
/// The mask grows until the kernel accepts it, so machines with more than
/// 1,024 CPUs are read whole.
///
/// # Errors
/// The kernel's, when the mask cannot be read.
pub fn allowed() -> io::Result<Vec<u32>> {
    let mut words = 16_usize;
    loop {
        let mut mask = vec![0_u64; words];
        // SAFETY: the pointer and the byte length describe `mask`, which is
        // writable for that length; pid 0 names the calling thread.
        let read = unsafe {
            libc::sched_getaffinity(0, words * size_of::<u64>(), mask.as_mut_ptr().cast())
        };
        match check(read) {
            Ok(_) => return Ok(ids(&mask)),
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) && words < 1 << 14 => words *= 2,
            Err(e) => return Err(e),
        }
    }
}

/// Confines the calling thread, and threads that it starts later, to `cpus`.
///
/// # Errors
/// An empty list, or the kernel's refusal (no CPU of the list is allowed here).
pub fn confine(cpus: &[u32]) -> io::Result<()> {
    apply(&mask(cpus)?)
}

/// The kernel's form of a list of CPUs: one bit for each id.
pub(crate) fn mask(cpus: &[u32]) -> io::Result<Vec<u64>> {
    let Some(last) = cpus.iter().max() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "an empty list of CPUs",
        ));
    };
    let mut mask = vec![0_u64; *last as usize / 64 + 1];
    for cpu in cpus {
        mask[*cpu as usize / 64] |= 1 << (cpu % 64);
    }
    Ok(mask)
}

/// Confines the calling thread to the CPUs of `mask`; one system call, no
/// allocation, so that it may run between fork and exec.
pub(crate) fn apply(mask: &[u64]) -> io::Result<()> {
    // SAFETY: the pointer and the byte length describe `mask`, which is only
    // read; pid 0 names the calling thread.
    let set = unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) };
    check(set).map(drop)
}

/// Id of the CPU that the calling thread is on at this moment.
///
/// # Errors
/// The kernel's, where the call does not exist.
pub fn current_cpu() -> io::Result<u32> {
    // SAFETY: takes no argument and touches no memory of ours.
    let cpu = check(unsafe { libc::sched_getcpu() })?;
    Ok(u32::try_from(cpu).unwrap_or(0))
}

fn ids(mask: &[u64]) -> Vec<u32> {
    let mut ids = Vec::new();
    for (word, bits) in mask.iter().enumerate() {
        ids.extend(
            (0..64)
                .filter(|bit| bits >> bit & 1 == 1)
                .map(|bit| word as u32 * 64 + bit),
        );
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_read_as_ids() {
        assert_eq!(ids(&[0b101, 0, 1 << 63]), [0, 2, 191]);
    }

    #[test]
    fn a_thread_confined_to_one_cpu_reads_it_back() {
        let all = allowed().unwrap();
        let last = *all.last().unwrap();
        std::thread::spawn(move || {
            confine(&[last]).unwrap();
            assert_eq!(allowed().unwrap(), [last]);
            assert_eq!(current_cpu().unwrap(), last);
        })
        .join()
        .unwrap();
        assert_eq!(allowed().unwrap(), all, "the caller keeps its own mask");
    }

    #[test]
    fn no_cpus_at_all_is_an_error() {
        assert_eq!(
            confine(&[]).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}
