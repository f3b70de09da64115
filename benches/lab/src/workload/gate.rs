//! The gates of workloads whose tasks must all stand while the clock opens and
//! closes: nothing of their making or ending is timed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The two gates of a batch.
///
/// Tasks wait at the second one too, so that the freeing of their stacks and
/// states falls behind the closing of the clock: with a stack mapped for each
/// task it costs a thousand times what a yield costs.
#[derive(Debug)]
pub struct Gates<U> {
    /// Opens when the clock does.
    pub start: Gate<U>,
    /// Everybody has arrived when the clock closes; then it opens.
    pub finish: Gate<U>,
}

impl<U> Gates<U> {
    /// Closed gates, the first for `starting` tasks, the second for `finishing`.
    pub fn new(starting: u64, finishing: u64) -> Self {
        Gates {
            start: Gate::new(starting),
            finish: Gate::new(finishing),
        }
    }
}

/// Tasks park at the gate until it opens; the root parks until all are there.
///
/// Nobody polls or yields while waiting: may takes newly spawned coroutines up
/// only when its local queue is empty, so that a task which yields until the
/// others have come waits for ever.
///
/// `U` is the means by which a family unparks a task.
#[derive(Debug)]
pub struct Gate<U> {
    expected: u64,
    open: AtomicBool,
    parked: Mutex<Parked<U>>,
}

#[derive(Debug)]
struct Parked<U> {
    tasks: Vec<U>,
    arrived: u64,
    root: Option<U>,
}

impl<U> Gate<U> {
    /// A closed gate for `expected` tasks.
    pub fn new(expected: u64) -> Self {
        let parked = Parked {
            tasks: Vec::with_capacity(expected as usize),
            arrived: 0,
            root: None,
        };
        Gate {
            expected,
            open: AtomicBool::new(false),
            parked: Mutex::new(parked),
        }
    }

    /// One more task stands at the gate; it gives the root back when that one
    /// waits and nobody is missing any more.
    pub fn arrive(&self, task: U) -> Option<U> {
        let mut parked = self.parked();
        parked.tasks.push(task);
        parked.arrived += 1;
        if parked.arrived == self.expected {
            parked.root.take()
        } else {
            None
        }
    }

    /// Whether tasks are missing; if so, the last one will find the root here.
    pub fn awaits(&self, root: U) -> bool {
        let mut parked = self.parked();
        let missing = parked.arrived < self.expected;
        if missing {
            parked.root = Some(root);
        }
        missing
    }

    /// Whether the gate is still closed.
    pub fn is_closed(&self) -> bool {
        !self.open.load(Ordering::Acquire)
    }

    /// Opens the gate and gives back the tasks to unpark.
    pub fn open(&self) -> Vec<U> {
        self.open.store(true, Ordering::Release);
        std::mem::take(&mut self.parked().tasks)
    }

    /// A task that panicked at the gate leaves nothing half done in here.
    fn parked(&self) -> MutexGuard<'_, Parked<U>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_arrive_finds_the_root_that_waits() {
        let gate = Gate::new(2);
        assert_eq!(gate.arrive("a"), None);
        assert!(gate.awaits("root"));
        assert_eq!(gate.arrive("b"), Some("root"));
        assert!(!gate.awaits("root"));
        assert!(gate.is_closed());
        assert_eq!(gate.open(), ["a", "b"]);
        assert!(!gate.is_closed());
    }
}
