//! What the kernel has counted for this process.

use std::io;

use crate::check;

/// Context switches of all threads of this process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// A thread gave its CPU up: it blocked or yielded.
    pub voluntary: u64,
    /// A thread lost its CPU to another.
    pub involuntary: u64,
}

/// Reads the context switches of this process.
///
/// # Errors
/// The kernel's.
pub fn switches() -> io::Result<Switches> {
    // SAFETY: an all-zero rusage is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is writable for the whole call.
    check(unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) })?;
    Ok(Switches {
        voluntary: u64::try_from(usage.ru_nvcsw).unwrap_or(0),
        involuntary: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_a_voluntary_switch() {
        let before = switches().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(switches().unwrap().voluntary > before.voluntary);
    }
}
