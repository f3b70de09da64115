//! Tasks that want to run while another one calls: who had a turn meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::stopwatch::nanos;
use crate::tails::{HEARTBEAT_GAP, Recorder, Tails};

/// Time that a heartbeat task sleeps between two beats.
pub const BEAT: Duration = Duration::from_millis(1);

/// Bystanders, each parked until all are made ready at once; then each has one
/// turn. `U` is the means by which a family unparks a task.
#[derive(Debug)]
pub struct Crowd<U> {
    round: AtomicU64,
    over: AtomicBool,
    places: Vec<Place<U>>,
}

#[derive(Debug)]
struct Place<U> {
    parked: Mutex<Option<U>>,
    /// The round of its last turn.
    had: AtomicU64,
}

/// What a bystander does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It has had its turn in this round: it asks again.
    Again,
    /// It parks, and asks again once unparked.
    Park,
    /// It ends.
    End,
}

impl<U> Crowd<U> {
    /// Places for that many, who have yet to come.
    pub fn new(bystanders: u64) -> Self {
        let place = || Place {
            parked: Mutex::new(None),
            had: AtomicU64::new(0),
        };
        Crowd {
            round: AtomicU64::new(0),
            over: AtomicBool::new(false),
            places: (0..bystanders).map(|_| place()).collect(),
        }
    }

    /// The bystander at `place` runs, and asks what to do.
    pub fn next(&self, place: usize, unparker: U) -> Next {
        let place = &self.places[place];
        let mut parked = locked(&place.parked);
        let round = self.round.load(Ordering::Acquire);
        if place.had.swap(round, Ordering::AcqRel) != round {
            Next::Again
        } else if self.is_over() {
            Next::End
        } else {
            *parked = Some(unparker);
            Next::Park
        }
    }

    /// Begins a round: whoever is to be unparked for it.
    pub fn ready(&self) -> Vec<U> {
        self.round.fetch_add(1, Ordering::AcqRel);
        self.parked()
    }

    /// How many have had no turn since the round began.
    pub fn standing(&self) -> u64 {
        let round = self.round.load(Ordering::Acquire);
        let waits = |place: &&Place<U>| place.had.load(Ordering::Acquire) != round;
        self.places.iter().filter(waits).count() as u64
    }

    /// Whether everybody may go.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Everybody may go: whoever is to be unparked for it.
    pub fn end(&self) -> Vec<U> {
        self.over.store(true, Ordering::Release);
        self.parked()
    }

    fn parked(&self) -> Vec<U> {
        let parked = self.places.iter().map(|place| locked(&place.parked).take());
        parked.flatten().collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a heartbeat task keeps: the times between its beats.
#[derive(Debug)]
pub struct Pulse {
    last: Instant,
    gaps: Recorder,
}

impl Pulse {
    /// The first beat.
    #[allow(
        clippy::new_without_default,
        reason = "a default clock would hide a reading of it"
    )]
    pub fn new() -> Self {
        Pulse {
            last: Instant::now(),
            gaps: Recorder::new(),
        }
    }

    /// One more.
    pub fn beat(&mut self) {
        let now = Instant::now();
        self.gaps.record(nanos(now - self.last));
        self.last = now;
    }

    /// All gaps.
    pub fn tails(self) -> Tails {
        Tails::of(HEARTBEAT_GAP, self.gaps.tail())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_turn_a_round_and_who_had_none_stands() {
        let crowd = Crowd::new(2);
        assert_eq!(crowd.next(0, "a"), Next::Park);
        assert_eq!(crowd.ready(), ["a"]);
        assert_eq!(crowd.standing(), 2);
        assert_eq!(crowd.next(0, "a"), Next::Again);
        assert_eq!(crowd.next(0, "a"), Next::Park);
        assert_eq!(crowd.standing(), 1);
        assert_eq!(
            crowd.next(1, "b"),
            Next::Again,
            "it comes late, and has its turn"
        );
        assert_eq!(crowd.standing(), 0);
        assert_eq!(crowd.end(), ["a"]);
        assert_eq!(
            (crowd.next(0, "a"), crowd.next(1, "b")),
            (Next::End, Next::End)
        );
    }

    #[test]
    fn a_pulse_keeps_the_time_between_beats() {
        let mut pulse = Pulse::new();
        std::thread::sleep(Duration::from_millis(2));
        pulse.beat();
        let tails = pulse.tails();
        let (gap, _) = tails.get(HEARTBEAT_GAP).unwrap().pairs().next().unwrap();
        assert!(gap >= 2_000_000, "{gap} ns");
    }
}
