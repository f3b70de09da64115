//! Distributions that a batch tells beside its time: of delays, where a mean
//! hides what matters. They merge.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How long a call waited for the thread that it hopped to, ns.
pub const QUEUE_WAIT: &str = "queue_wait";
/// Time between two beats of a heartbeat task, ns.
pub const HEARTBEAT_GAP: &str = "heartbeat_gap";
/// Of the tasks that were ready when a call began, how many had no turn before
/// it ended.
pub const STOOD_STILL: &str = "stood_still";

/// The largest value told apart: a minute, in ns.
const LARGEST: u64 = 60_000_000_000;

/// Takes values in while a clock runs, to three digits.
#[derive(Debug)]
pub struct Recorder(Histogram<u64>);

impl Recorder {
    /// Nothing recorded; all memory is there already.
    #[allow(clippy::new_without_default, reason = "it takes 200 KiB")]
    pub fn new() -> Self {
        // Bounds and digits are right for the crate, see its documentation.
        Recorder(Histogram::new_with_bounds(1, LARGEST, 3).expect("bounds of a minute in ns"))
    }

    /// Records one value; what is larger than a minute counts as a minute.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.0.saturating_record(value);
    }

    /// What was recorded.
    pub fn tail(&self) -> Tail {
        let recorded = self.0.iter_recorded();
        let pairs = recorded.map(|it| (it.value_iterated_to(), it.count_at_value()));
        Tail(pairs.collect())
    }
}

/// One distribution: values, each with how often it was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail(BTreeMap<u64, u64>);

impl Tail {
    /// Takes another's values in.
    pub fn merge(&mut self, other: &Tail) {
        for (value, count) in &other.0 {
            *self.0.entry(*value).or_default() += count;
        }
    }

    /// Values with how often they were recorded, the smallest first.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(value, count)| (*value, *count))
    }

    /// Values recorded.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }
}

/// As pairs.
impl Serialize for Tail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.pairs())
    }
}

impl<'de> Deserialize<'de> for Tail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tail = Tail::default();
        for (value, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            *tail.0.entry(value).or_default() += count;
        }
        Ok(tail)
    }
}

/// Distributions by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tails(BTreeMap<String, Tail>);

impl Tails {
    /// One distribution.
    pub fn of(name: &str, tail: Tail) -> Self {
        Tails(BTreeMap::from([(name.to_owned(), tail)]))
    }

    /// The distribution of that name.
    pub fn get(&self, name: &str) -> Option<&Tail> {
        self.0.get(name)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes another's distributions in.
    pub fn merge(&mut self, other: Tails) {
        for (name, tail) in other.0 {
            match self.0.get_mut(&name) {
                Some(ours) => ours.merge(&tail),
                None => drop(self.0.insert(name, tail)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tail(values: impl IntoIterator<Item = u64>) -> Tail {
        let mut recorder = Recorder::new();
        values.into_iter().for_each(|value| recorder.record(value));
        recorder.tail()
    }

    #[test]
    fn values_are_kept_to_three_digits() {
        let it = tail([0, 7, 7, 1_000, 123_456]);
        let pairs: Vec<_> = it.pairs().collect();
        assert_eq!(pairs[..3], [(0, 1), (7, 2), (1_000, 1)]);
        assert!((pairs[3].0 as f64 / 123_456.0 - 1.0).abs() < 1e-3);
        assert_eq!((it.count(), tail([]).count()), (5, 0));
    }

    #[test]
    fn what_is_beyond_counts_as_the_largest() {
        let (value, count) = tail([u64::MAX]).pairs().next().unwrap();
        assert!(
            (value as f64 / LARGEST as f64 - 1.0).abs() < 1e-3,
            "{value}"
        );
        assert_eq!(count, 1);
    }

    proptest! {
        #[test]
        fn tails_come_back_from_their_text(values in prop::collection::vec(0..LARGEST, 0..200)) {
            let it = Tails::of(QUEUE_WAIT, tail(values));
            let text = serde_json::to_string(&it).unwrap();
            prop_assert_eq!(serde_json::from_str::<Tails>(&text).unwrap(), it);
        }

        #[test]
        fn merging_is_recording_all(
            one in prop::collection::vec(0_u64..1_000_000, 0..50),
            two in prop::collection::vec(0_u64..1_000_000, 0..50),
        ) {
            let mut merged = Tails::of(QUEUE_WAIT, tail(one.clone()));
            merged.merge(Tails::of(QUEUE_WAIT, tail(two.clone())));
            let all = tail(one.into_iter().chain(two));
            prop_assert_eq!(merged.get(QUEUE_WAIT), Some(&all));
        }
    }
}
