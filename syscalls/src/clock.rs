//! Clocks: how fine the wall clock is, and how much CPU a process has used.

use std::io;
use std::time::Duration;

use crate::check;

/// The step in which the monotonic clock counts, as the kernel states it.
///
/// # Errors
/// The kernel's, where the clock does not exist.
pub fn resolution() -> io::Result<Duration> {
    let mut step = ZERO;
    // SAFETY: `step` is a writable timespec for the whole call.
    check(unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut step) })?;
    Ok(duration(step))
}

/// CPU time that all threads of this process have used so far.
///
/// # Errors
/// The kernel's, where the clock does not exist.
pub fn own_cpu_time() -> io::Result<Duration> {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that all threads of process `pid` have used so far.
///
/// # Errors
/// The kernel's: no such process, or not ours to ask about.
pub fn cpu_time_of(pid: u32) -> io::Result<Duration> {
    let mut clock: libc::clockid_t = 0;
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: `clock` is writable for the whole call.
    let failed = unsafe { libc::clock_getcpuclockid(pid, &mut clock) };
    if failed != 0 {
        return Err(io::Error::from_raw_os_error(failed));
    }
    read(clock)
}

const ZERO: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

fn read(clock: libc::clockid_t) -> io::Result<Duration> {
    let mut now = ZERO;
    // SAFETY: `now` is a writable timespec for the whole call.
    check(unsafe { libc::clock_gettime(clock, &mut now) })?;
    Ok(duration(now))
}

fn duration(time: libc::timespec) -> Duration {
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_our_own_pid_is_our_own_clock() {
        let before = own_cpu_time().unwrap();
        let by_pid = cpu_time_of(std::process::id()).unwrap();
        let after = own_cpu_time().unwrap();
        assert!(before <= by_pid && by_pid <= after);
    }

    #[test]
    fn a_process_that_is_not_there_has_no_clock() {
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        assert!(cpu_time_of(gone.id()).is_err());
        assert!(cpu_time_of(u32::MAX).is_err());
    }

    #[test]
    fn the_resolution_is_stated() {
        assert!(resolution().unwrap() > Duration::ZERO);
    }
}
