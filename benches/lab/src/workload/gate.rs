//! The start gate of workloads whose tasks must all stand before the clock opens.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Tasks arrive and yield until it opens; the root opens it when all are there.
#[derive(Debug, Default)]
pub struct Gate {
    open: AtomicBool,
    arrived: AtomicU64,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more task stands at the gate.
    pub fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::Release);
    }

    /// Whether fewer than `tasks` stand at the gate.
    pub fn awaits(&self, tasks: u64) -> bool {
        self.arrived.load(Ordering::Acquire) < tasks
    }

    /// Lets every task through.
    #[inline]
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    /// Whether the gate is still closed.
    #[inline]
    pub fn is_closed(&self) -> bool {
        !self.open.load(Ordering::Acquire)
    }
}
