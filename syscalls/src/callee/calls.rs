//! The calls themselves.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;

use super::{Call, Callee};
use crate::check;

unsafe extern "C" {
    // They take a number and give one back; `corolab_deep` needs 64 KiB of
    // stack, which whoever calls it has to have.
    safe fn corolab_noop(count: u64) -> u64;
    safe fn corolab_adds16(count: u64) -> u64;
    safe fn corolab_adds20(count: u64) -> u64;
    safe fn corolab_deep(count: u64) -> u64;
}

/// A callee in C that needs nothing.
macro_rules! in_c {
    ($($(#[$about:meta])* $name:ident = $function:ident;)*) => {$(
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name;

        impl Callee for $name {
            fn new() -> io::Result<Self> {
                Ok($name)
            }
        }

        impl Call for $name {
            #[inline(always)]
            fn call(&self, count: u64) -> io::Result<u64> {
                Ok($function(count) + 1)
            }
        }
    )*};
}

in_c! {
    /// A function that gives its argument back.
    Noop = corolab_noop;
    /// The same with 16 dependent additions.
    Adds16 = corolab_adds16;
    /// The same with 20.
    Adds20 = corolab_adds20;
    /// A function that needs 64 KiB of stack.
    Deep = corolab_deep;
}

/// `clock_gettime`, which the kernel answers in user space.
#[derive(Debug)]
pub struct Vdso;

impl Callee for Vdso {
    fn new() -> io::Result<Self> {
        Ok(Vdso)
    }
}

impl Call for Vdso {
    #[inline(always)]
    fn call(&self, count: u64) -> io::Result<u64> {
        let mut now = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: `now` is writable for the whole call.
        check(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr()) })?;
        Ok(count + 1)
    }
}

/// The shortest system call.
#[derive(Debug)]
pub struct Getppid {
    parent: libc::c_long,
}

impl Callee for Getppid {
    fn new() -> io::Result<Self> {
        Ok(Getppid { parent: getppid()? })
    }
}

impl Call for Getppid {
    #[inline(always)]
    fn call(&self, count: u64) -> io::Result<u64> {
        if getppid()? == self.parent {
            Ok(count + 1)
        } else {
            Err(io::Error::other("getppid names another parent than before"))
        }
    }
}

/// By number: the C library's own function hides a refusal, since by its
/// documentation there is none.
#[inline(always)]
fn getppid() -> io::Result<libc::c_long> {
    // SAFETY: takes nothing and touches no memory.
    checked(unsafe { libc::syscall(libc::SYS_getppid) })
}

/// A system call that wakes nobody.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
}

impl Callee for Futex {
    fn new() -> io::Result<Self> {
        Ok(Futex {
            word: AtomicU32::new(0),
        })
    }
}

impl Call for Futex {
    #[inline(always)]
    fn call(&self, count: u64) -> io::Result<u64> {
        let wake = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word lives as long as self, and a wake only takes its
        // address for a name.
        let woken = unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), wake, 1) };
        match checked(woken)? {
            0 => Ok(count + 1),
            woken => Err(io::Error::other(format!(
                "{woken} woken where nobody waits"
            ))),
        }
    }
}

/// A byte written to a pipe, and read.
#[derive(Debug)]
pub struct Pipe1 {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Callee for Pipe1 {
    fn new() -> io::Result<Self> {
        let mut ends = [0; 2];
        // Neither end waits: a pipe that has filled, or is empty, says so.
        let how = libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: `ends` has room for the two descriptors.
        check(unsafe { libc::pipe2(ends.as_mut_ptr(), how) })?;
        // SAFETY: both were opened just now, for us alone.
        let [reader, writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        Ok(Pipe1 { reader, writer })
    }
}

impl Call for Pipe1 {
    #[inline(always)]
    fn call(&self, count: u64) -> io::Result<u64> {
        let mut byte = count as u8;
        self.write(byte)?;
        byte = !byte;
        let read = again(|| {
            // SAFETY: one byte, writable for the whole call.
            unsafe { libc::read(self.reader.as_raw_fd(), (&raw mut byte).cast(), 1) }
        });
        if read? == 1 && byte == count as u8 {
            Ok(count + 1)
        } else {
            Err(io::Error::other(
                "a pipe gave another byte than it was given",
            ))
        }
    }
}

impl Pipe1 {
    #[inline(always)]
    fn write(&self, byte: u8) -> io::Result<()> {
        let written = again(|| {
            // SAFETY: one byte, readable for the whole call.
            unsafe { libc::write(self.writer.as_raw_fd(), (&raw const byte).cast(), 1) }
        });
        written.map(drop).map_err(filled)
    }
}

#[cold]
fn filled(why: io::Error) -> io::Error {
    if why.kind() == io::ErrorKind::WouldBlock {
        io::Error::new(
            why.kind(),
            "the pipe is full: nobody has read what was written",
        )
    } else {
        why
    }
}

/// 4 KiB read from `/dev/zero`.
#[derive(Debug)]
pub struct Read4k {
    zeros: File,
}

impl Callee for Read4k {
    fn new() -> io::Result<Self> {
        Ok(Read4k {
            zeros: File::open("/dev/zero")?,
        })
    }
}

impl Call for Read4k {
    #[inline(always)]
    fn call(&self, count: u64) -> io::Result<u64> {
        let mut page = MaybeUninit::<[u8; 4_096]>::uninit();
        let read = again(|| {
            // SAFETY: the page is writable for the whole call.
            unsafe { libc::read(self.zeros.as_raw_fd(), page.as_mut_ptr().cast(), 4_096) }
        });
        match read? {
            4_096 => Ok(count + 1),
            other => Err(io::Error::other(format!(
                "/dev/zero gave {other} of 4096 B"
            ))),
        }
    }
}

/// The thread sleeps a millisecond.
#[derive(Debug)]
pub struct Sleep1ms;

impl Callee for Sleep1ms {
    fn new() -> io::Result<Self> {
        Ok(Sleep1ms)
    }
}

impl Call for Sleep1ms {
    #[inline(always)]
    fn call(&self, count: u64) -> io::Result<u64> {
        // It sleeps on for the rest when interrupted.
        let mut left = libc::timespec {
            tv_sec: 0,
            tv_nsec: 1_000_000,
        };
        let slept = again(|| {
            let wanted = left;
            // SAFETY: both are valid for the whole call; the kernel writes what
            // is left to the second when it is interrupted.
            unsafe { libc::nanosleep(&wanted, &mut left) as isize }
        });
        slept.map(|_| count + 1)
    }
}

/// Calls until nothing interrupts.
#[inline(always)]
fn again(mut call: impl FnMut() -> isize) -> io::Result<isize> {
    loop {
        let returned = call();
        if returned >= 0 {
            return Ok(returned);
        }
        let why = io::Error::last_os_error();
        if why.kind() != io::ErrorKind::Interrupted {
            return Err(why);
        }
    }
}

#[inline(always)]
fn checked(returned: libc::c_long) -> io::Result<libc::c_long> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}

/// Whether a call is refused by whoever watches over this process (a seccomp
/// filter, a container) or is not in this kernel.
pub fn is_refused(why: &io::Error) -> bool {
    matches!(
        why.raw_os_error(),
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS)
    )
}

/// Whether there are no descriptors left, in this process or on this machine.
pub fn descriptors_are_short(why: &io::Error) -> bool {
    matches!(why.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
