//! Limits that the kernel sets, read from where it states them.

use std::{fs, io};

use crate::check;

/// How many mappings a process may have (`vm.max_map_count`).
///
/// # Errors
/// The file cannot be read, or does not hold a number.
pub fn max_map_count() -> io::Result<u64> {
    fs::read_to_string("/proc/sys/vm/max_map_count")?
        .trim()
        .parse()
        .map_err(io::Error::other)
}

/// Bytes of a page of memory.
///
/// # Errors
/// The kernel does not say.
pub fn page_bytes() -> io::Result<u64> {
    // SAFETY: takes a number and touches no memory of ours.
    let told = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    check(libc::c_int::try_from(told).map_err(io::Error::other)?)?;
    u64::try_from(told).map_err(io::Error::other)
}

/// How many descriptors this process may have open (RLIMIT_NOFILE).
///
/// # Errors
/// The kernel's.
pub fn open_files() -> io::Result<u64> {
    Ok(limit_on_files()?.rlim_cur)
}

/// Sets how many descriptors this process may have open, up to its hard limit.
///
/// # Errors
/// The kernel's: more than the hard limit.
pub fn allow_open_files(files: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: files,
        ..limit_on_files()?
    };
    // SAFETY: `limit` is only read.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }).map(drop)
}

fn limit_on_files() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is writable for the whole call.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_power_of_two() {
        assert!(page_bytes().unwrap().is_power_of_two());
    }
}
