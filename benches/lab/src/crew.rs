//! Threads that stand ready to do the same work at the same time.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::sample::Refusal;

/// What one thread does: that many rounds, and what they came to.
pub trait Work: FnMut(u64) -> Result<u64, Refusal> {}
impl<W: FnMut(u64) -> Result<u64, Refusal>> Work for W {}

/// A crew of threads, each with work of its own making. Alone, the work is
/// done by the caller, with nothing in between.
pub enum Crew<W> {
    /// The caller itself.
    Alone(W),
    /// Threads of their own, which keep their work from batch to batch.
    Hands(Vec<Hand>),
}

/// One thread of a crew.
pub struct Hand {
    orders: Option<Sender<u64>>,
    results: Receiver<Result<u64, Refusal>>,
    thread: Option<JoinHandle<()>>,
}

impl<W: Work + 'static> Crew<W> {
    /// A crew of that many threads; `make` runs once on each.
    pub fn new(threads: u64, make: impl Fn() -> W + Clone + Send + 'static) -> Self {
        if threads <= 1 {
            return Crew::Alone(make());
        }
        Crew::Hands((0..threads).map(|_| Hand::new(make.clone())).collect())
    }

    /// Everybody does that many rounds; the sum of what they came to.
    ///
    /// # Errors
    /// The first refusal, or a thread that has panicked.
    pub fn work(&mut self, rounds: u64) -> Result<u64, Refusal> {
        match self {
            Crew::Alone(work) => work(rounds),
            Crew::Hands(hands) => {
                for hand in hands.iter() {
                    hand.order(rounds)?;
                }
                // Everybody is waited for, whatever the others say.
                let results: Vec<_> = hands.iter().map(Hand::result).collect();
                results.into_iter().sum()
            }
        }
    }
}

impl Hand {
    fn new<W: Work>(make: impl FnOnce() -> W + Send + 'static) -> Self {
        let (orders, ordered) = channel();
        let (tell, results) = channel();
        let thread = std::thread::spawn(move || {
            let mut work = make();
            for rounds in ordered {
                if tell.send(work(rounds)).is_err() {
                    return; // nobody waits any more
                }
            }
        });
        Hand {
            orders: Some(orders),
            results,
            thread: Some(thread),
        }
    }

    fn order(&self, rounds: u64) -> Result<(), Refusal> {
        let sent = self.orders.as_ref().map(|orders| orders.send(rounds));
        sent.and_then(Result::ok).ok_or_else(gone)
    }

    fn result(&self) -> Result<u64, Refusal> {
        self.results.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.orders.take(); // the thread's loop ends
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // its panic was told as a refusal
        }
    }
}

fn gone() -> Refusal {
    Refusal::failed("a thread of the crew has panicked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn everybody_does_the_rounds_with_work_of_their_own() {
        for threads in [1, 2, 16] {
            let mut crew = Crew::new(threads, || {
                let mut done = 0;
                move |rounds| {
                    done += rounds;
                    Ok(done)
                }
            });
            assert_eq!(crew.work(3).unwrap(), 3 * threads);
            assert_eq!(crew.work(4).unwrap(), 7 * threads);
        }
    }

    #[test]
    fn alone_nobody_else_works() {
        let caller = thread::current().id();
        let mut crew = Crew::new(1, move || {
            move |_| Ok(u64::from(thread::current().id() == caller))
        });
        assert_eq!(crew.work(1).unwrap(), 1);
    }

    #[test]
    fn a_refusal_and_a_panic_are_told() {
        let mut crew = Crew::new(2, || |_| Err(Refusal::infeasible("no room")));
        assert_eq!(crew.work(1).unwrap_err().to_string(), "infeasible: no room");
        let mut crew: Crew<fn(u64) -> Result<u64, Refusal>> =
            Crew::new(2, || (|_| panic!("on purpose")) as fn(u64) -> _);
        assert!(crew.work(1).unwrap_err().reason.contains("panicked"));
    }
}
