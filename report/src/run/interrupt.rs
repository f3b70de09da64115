//! Whether the run has been asked to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Result;

fn flag() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(Arc::default)
}

/// Whether a signal has asked the run to end.
pub fn interrupted() -> bool {
    flag().load(Ordering::Relaxed)
}

/// From now on SIGINT, SIGTERM and SIGHUP end the run between two samples
/// instead of ending the process.
///
/// # Errors
/// The kernel's.
pub fn catch_interrupts() -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, flag().clone())?;
    }
    Ok(())
}
