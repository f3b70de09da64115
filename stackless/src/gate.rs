//! How tasks of this family stand at the start gate.

use std::task::Waker;

use corolab_lab::workload::Gate;

use crate::stackless::{park, unparker};

/// A task arrives and parks until the gate opens.
pub async fn enter(gate: &Gate<Waker>) {
    if let Some(root) = gate.arrive(unparker().await) {
        root.wake();
    }
    while gate.is_closed() {
        park().await;
    }
}

/// The root parks until every task has arrived.
pub async fn gather(gate: &Gate<Waker>) {
    while gate.awaits(unparker().await) {
        park().await;
    }
}

/// The root lets every task go on.
pub fn open(gate: &Gate<Waker>) {
    gate.open().into_iter().for_each(Waker::wake);
}
