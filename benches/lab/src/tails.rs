//! Distributions that a batch tells beside its time: of delays, where a mean
//! hides what matters. They merge.

use std::collections::BTreeMap;
use std::fmt;

use hdrhistogram::Histogram;
use serde::de::Error as _;
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

/// One distribution, to three digits.
#[derive(Clone, PartialEq)]
pub struct Tail(Histogram<u64>);

impl Tail {
    /// Nothing recorded; all memory is there already.
    #[allow(clippy::new_without_default, reason = "it takes 200 KiB")]
    pub fn new() -> Self {
        // Bounds and digits are right for the crate, see its documentation.
        Tail(Histogram::new_with_bounds(1, LARGEST, 3).expect("bounds of a minute in ns"))
    }

    /// Records one value; what is larger than a minute counts as a minute.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.0.saturating_record(value);
    }

    /// Takes another's values in.
    pub fn merge(&mut self, other: &Tail) {
        // Both have the same bounds.
        self.0.add(&other.0).expect("equal bounds");
    }

    /// Values recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The smallest value that no smaller share of the values lies below (the
    /// nearest rank: of few values, the largest); `None` when there is none.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.0.value_at_quantile(share) as f64)
    }

    /// The same; `None` when there are too few values to tell it from the
    /// largest: a share of 0.999 needs a thousand.
    pub fn quantile_of_enough(&self, share: f64) -> Option<f64> {
        let enough = self.count() as f64 * (1.0 - share) >= 1.0 - 1e-9;
        self.quantile(share).filter(|_| enough)
    }

    /// The largest value; `None` when there is none.
    pub fn largest(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.0.max() as f64)
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tail of {}", self.count())
    }
}

/// As pairs of a value and how often it was recorded.
impl Serialize for Tail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let recorded = self.0.iter_recorded();
        serializer.collect_seq(recorded.map(|it| (it.value_iterated_to(), it.count_at_value())))
    }
}

impl<'de> Deserialize<'de> for Tail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tail = Tail::new();
        for (value, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            let value = value.min(LARGEST);
            tail.0.record_n(value, count).map_err(D::Error::custom)?;
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
        let mut tail = Tail::new();
        values.into_iter().for_each(|value| tail.record(value));
        tail
    }

    #[test]
    fn closed_forms() {
        let it = tail(1..=1_000);
        assert_eq!(it.quantile(0.5), Some(500.0));
        assert_eq!(it.quantile(0.99), Some(990.0));
        assert_eq!(it.quantile(0.999), Some(999.0));
        assert_eq!(it.largest(), Some(1_000.0));
        assert_eq!(it.quantile_of_enough(0.999), Some(999.0));
        assert_eq!(tail(1..=999).quantile_of_enough(0.999), None);
        assert_eq!(tail(1..=28).quantile(0.99), Some(28.0));
        assert_eq!((tail([]).largest(), tail([]).quantile(0.5)), (None, None));
    }

    #[test]
    fn what_is_beyond_counts_as_the_largest() {
        let read = tail([u64::MAX]).largest().unwrap();
        assert!((read / LARGEST as f64 - 1.0).abs() < 1e-3, "{read}");
    }

    proptest! {
        #[test]
        fn a_tail_comes_back_from_its_text(values in prop::collection::vec(0..LARGEST, 0..200)) {
            let it = Tails::of(QUEUE_WAIT, tail(values));
            let text = serde_json::to_string(&it).unwrap();
            let back: Tails = serde_json::from_str(&text).unwrap();
            let (it, back) = (it.get(QUEUE_WAIT).unwrap(), back.get(QUEUE_WAIT).unwrap());
            prop_assert_eq!(it.count(), back.count());
            for share in [0.0, 0.5, 0.9] {
                prop_assert_eq!(it.quantile(share), back.quantile(share));
            }
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
