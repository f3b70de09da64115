//! How tasks of this family stand at the start gate.

use corolab_lab::workload::Gate;

use crate::stackful::Stackful;

/// A task arrives and parks until the gate opens.
pub fn enter<S: Stackful>(cx: &S::Cx, gate: &Gate<S::Unparker>) {
    if let Some(root) = gate.arrive(S::unparker(cx)) {
        S::unpark(root);
    }
    while gate.is_closed() {
        S::park(cx);
    }
}

/// The root parks until every task has arrived.
pub fn gather<S: Stackful>(cx: &S::Cx, gate: &Gate<S::Unparker>) {
    while gate.awaits(S::unparker(cx)) {
        S::park(cx);
    }
}

/// The root lets every task go on.
pub fn open<S: Stackful>(gate: &Gate<S::Unparker>) {
    gate.open().into_iter().for_each(S::unpark);
}
