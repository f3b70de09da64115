//! The ground floor of corolab, and the only package that talks to libc.
//!
//! Each module wraps one kind of call in safe functions that return
//! [`std::io::Result`] with the kernel's own reason; what a kernel does not
//! offer is an error, never a made-up value.
//!
//! | module | what it asks of the kernel |
//! |---|---|
//! | [`affinity`] | the CPUs that a thread may use, and which one it is on |
//! | [`callee`] | what a task calls out to: the price list |
//! | [`clock`] | clock resolution; CPU time of this and of another process |
//! | [`fault`] | a sentence before a wrong access ends the process |
//! | [`limits`] | how much of a thing a process may have |
//! | [`memory`] | address space, advice about it, guards |
//! | [`process`] | groups, signals, inherited descriptors, the parent's death |
//! | [`usage`] | context switches of this process |

pub mod affinity;
pub mod callee;
pub mod clock;
pub mod fault;
pub mod limits;
pub mod memory;
pub mod process;
pub mod usage;

use std::io;

/// Turns a C return value below zero into the thread's `errno`.
fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}
