//! Last words: what a process says when it touches memory that it must not.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::check;

/// Writes a sentence about a fault at an address into the buffer and gives its
/// length; 0 when it knows nothing about that address.
///
/// It runs in a signal handler: no allocation, no lock, no panic.
pub type Describe = fn(address: usize, sentence: &mut [u8]) -> usize;

static DESCRIBE: AtomicUsize = AtomicUsize::new(0);
static OLD: [OldAction; 2] = [OldAction::new(libc::SIGSEGV), OldAction::new(libc::SIGBUS)];

/// The action that stood before ours: read by the handler, so kept in atomics.
struct OldAction {
    signal: libc::c_int,
    handler: AtomicUsize,
    wants_info: AtomicBool,
}

impl OldAction {
    const fn new(signal: libc::c_int) -> Self {
        OldAction {
            signal,
            handler: AtomicUsize::new(libc::SIG_DFL),
            wants_info: AtomicBool::new(false),
        }
    }
}

/// From now on a fault that `describe` knows is told in a sentence on standard
/// error, and the process then dies of the signal as it would have; every
/// other fault goes on to the handler that stood before.
///
/// The sentence needs an alternate signal stack on the thread that faults;
/// the standard library gives one to the main thread and to its own.
///
/// # Errors
/// The kernel's.
pub fn tell(describe: Describe) -> io::Result<()> {
    static ONCE: AtomicBool = AtomicBool::new(false);
    DESCRIBE.store(describe as usize, Ordering::Release);
    if ONCE.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    for old in &OLD {
        // SAFETY: an all-zero sigaction is a valid value of that plain struct.
        let (mut ours, mut before): (libc::sigaction, libc::sigaction) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        ours.sa_sigaction = handle as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: only asks what stands now.
        check(unsafe { libc::sigaction(old.signal, std::ptr::null(), &mut before) })?;
        old.handler.store(before.sa_sigaction, Ordering::Release);
        let wants_info = before.sa_flags & libc::SA_SIGINFO != 0;
        old.wants_info.store(wants_info, Ordering::Release);
        // SAFETY: `handle` has the signature that SA_SIGINFO asks for and makes
        // async-signal-safe calls only.
        check(unsafe { libc::sigaction(old.signal, &ours, std::ptr::null_mut()) })?;
    }
    Ok(())
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid siginfo to a handler with SA_SIGINFO,
    // and these two signals carry an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let describe = DESCRIBE.load(Ordering::Acquire);
    // SAFETY: only ever set from a value of this very type, before the handler.
    let describe: Describe = unsafe { std::mem::transmute(describe) };
    let mut sentence = [0; 160];
    let length = describe(address, &mut sentence).min(sentence.len());
    if length > 0 {
        // SAFETY: the buffer holds that many bytes. A failed write changes
        // nothing: the signal kills the process either way.
        unsafe { libc::write(libc::STDERR_FILENO, sentence.as_ptr().cast(), length) };
        restore_default(signal);
        return; // the access is repeated, and kills
    }
    let Some(old) = OLD.iter().find(|old| old.signal == signal) else {
        return restore_default(signal);
    };
    match old.handler.load(Ordering::Acquire) {
        libc::SIG_DFL | libc::SIG_IGN => restore_default(signal),
        handler if old.wants_info.load(Ordering::Acquire) => {
            // SAFETY: it was installed with SA_SIGINFO, so has this signature.
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: it was installed without SA_SIGINFO, so has this signature.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// The signal's own action, by which the access that is repeated ends the
/// process under the signal's name.
fn restore_default(signal: libc::c_int) {
    // SAFETY: sets the default action of a signal, which is async-signal-safe.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
