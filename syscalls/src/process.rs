//! Children: how one is bound to its parent, found, signalled and reaped.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use crate::{affinity, check};

/// What a child is started with, beside its command line.
#[derive(Debug, Default)]
pub struct Binding<'a> {
    /// Descriptors that stay open across `exec`, under the same numbers.
    pub inherit: &'a [BorrowedFd<'a>],
    /// CPUs that the child is confined to; an empty list leaves it free.
    pub cpus: &'a [u32],
}

/// Makes `command` start a process group of its own, which dies with the
/// thread that spawned it, holds the inherited descriptors and is confined to
/// the CPUs given.
///
/// The descriptors need only live until `spawn` has returned.
///
/// What the kernel refuses in the child (a CPU outside the allowed set) comes
/// back as the error of `spawn`.
pub fn bind(command: &mut Command, binding: &Binding<'_>) {
    let inherit: Vec<RawFd> = binding.inherit.iter().map(AsRawFd::as_raw_fd).collect();
    let mask = affinity::mask(binding.cpus).ok();
    command.process_group(0);
    // SAFETY: the closure runs in the forked child before exec, where only
    // async-signal-safe calls are allowed: it makes plain system calls on
    // values moved into it, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            for fd in &inherit {
                check(libc::fcntl(*fd, libc::F_SETFD, 0))?;
            }
            if let Some(mask) = &mask {
                affinity::apply(mask)?;
            }
            Ok(())
        });
    }
}

/// A signal that the lab sends to a child's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End at once (SIGKILL).
    Kill,
    /// Stand still (SIGSTOP).
    Stop,
    /// Go on (SIGCONT).
    Continue,
}

/// Sends `signal` to every process of the group that `leader` leads.
///
/// # Errors
/// The kernel's: the group is gone, or not ours.
pub fn signal_group(leader: u32, signal: Signal) -> io::Result<()> {
    let group = libc::pid_t::try_from(leader).map_err(io::Error::other)?;
    if group <= 1 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a group led by process 0 or 1 is never a child's",
        ));
    }
    let number = match signal {
        Signal::Kill => libc::SIGKILL,
        Signal::Stop => libc::SIGSTOP,
        Signal::Continue => libc::SIGCONT,
    };
    // SAFETY: takes numbers only; the group is checked to be a real one.
    check(unsafe { libc::kill(-group, number) }).map(drop)
}

/// Whether child `pid` has ended; it is left to be reaped, so that its number
/// stays its own.
///
/// # Errors
/// The kernel's: no such child.
pub fn has_ended(pid: u32) -> io::Result<bool> {
    // SAFETY: an all-zero siginfo_t is a valid value of that plain C struct.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is writable for the whole call.
    check(unsafe { libc::waitid(libc::P_PID, pid, &mut info, how) })?;
    // SAFETY: waitid has filled the field, or left it 0 when nothing changed.
    Ok(unsafe { info.si_pid() } != 0)
}

/// Takes over a descriptor that this process inherited by number.
///
/// # Errors
/// The number names no open descriptor.
///
/// # Safety
/// Nothing else in this process owns the descriptor or will close it.
pub unsafe fn adopt(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD only asks whether the number is open. F_SETFD then
    // keeps the descriptor from children of this process.
    unsafe {
        check(libc::fcntl(fd, libc::F_GETFD))?;
        check(libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Waits until `fd` can be read, or until `timeout_ms` has passed.
///
/// Returns whether there is something to read (the other end having been
/// closed counts: reading then tells so).
///
/// # Errors
/// The kernel's. An interrupted wait is an error of kind `Interrupted`.
pub fn readable(fd: BorrowedFd<'_>, timeout_ms: u32) -> io::Result<bool> {
    let mut poll = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let timeout = libc::c_int::try_from(timeout_ms).unwrap_or(libc::c_int::MAX);
    // SAFETY: `poll` is one writable pollfd, as the count says.
    let ready = check(unsafe { libc::poll(&mut poll, 1, timeout) })?;
    Ok(ready > 0)
}

/// Does `act` in a fork of this process, which then ends with the code that it
/// gives, and waits for that.
///
/// # Errors
/// The kernel's: no more processes.
///
/// # Safety
/// Only the calling thread exists in the fork, so `act` must not wait for what
/// another one holds there, a lock of the allocator included.
pub unsafe fn in_fork(act: impl FnOnce() -> u8) -> io::Result<ExitStatus> {
    // SAFETY: by this function's contract.
    match check(unsafe { libc::fork() })? {
        0 => {
            let code = act();
            // SAFETY: ends the fork at once, without the handlers that this
            // process has set for its own end.
            unsafe { libc::_exit(code.into()) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is writable, and the child is ours.
            while check(unsafe { libc::waitpid(child, &mut status, 0) }).is_err() {
                let why = io::Error::last_os_error();
                if why.kind() != io::ErrorKind::Interrupted {
                    return Err(why);
                }
            }
            Ok(ExitStatus::from_raw(status))
        }
    }
}

/// The name of signal `number`, as in `SIGSEGV`.
pub fn signal_name(number: i32) -> &'static str {
    match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        _ => "a signal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_group_dies_by_the_signal_sent_to_it() {
        let mut command = Command::new("sleep");
        command.arg("60");
        bind(&mut command, &Binding::default());
        let mut child = command.spawn().unwrap();
        signal_group(child.id(), Signal::Stop).unwrap();
        signal_group(child.id(), Signal::Continue).unwrap();
        assert!(!has_ended(child.id()).unwrap());
        signal_group(child.id(), Signal::Kill).unwrap();
        while !has_ended(child.id()).unwrap() {
            std::thread::yield_now();
        }
        let ended = child.wait().unwrap();
        assert_eq!(ended.signal(), Some(libc::SIGKILL));
        assert_eq!(signal_name(libc::SIGKILL), "SIGKILL");
    }

    #[test]
    fn groups_that_cannot_be_a_childs_are_refused() {
        assert!(signal_group(0, Signal::Kill).is_err());
        assert!(signal_group(1, Signal::Kill).is_err());
    }

    #[test]
    fn a_pipe_is_readable_once_written_to() {
        let (reader, mut writer) = io::pipe().unwrap();
        assert!(!readable(reader.as_fd(), 0).unwrap());
        io::Write::write_all(&mut writer, b"x").unwrap();
        assert!(readable(reader.as_fd(), 1_000).unwrap());
    }

    #[test]
    fn only_the_descriptors_named_reach_the_child() {
        let (reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("echo ok >&{}", writer.as_raw_fd()));
        bind(
            &mut command,
            &Binding {
                inherit: &[writer.as_fd()],
                cpus: &[],
            },
        );
        assert!(command.status().unwrap().success());
        drop(writer);
        assert_eq!(io::read_to_string(reader).unwrap(), "ok\n");
    }
}
