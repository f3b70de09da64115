//! Limits that the kernel sets, read from where it states them.

use std::{fs, io};

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
