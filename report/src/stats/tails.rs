//! Quantiles of distributions that launches tell. Pure.

use std::collections::BTreeMap;

use corolab_lab::tails::Tail;

use super::order::quantile;

/// How often the launches are drawn.
const DRAWS: u32 = 400;

/// A quantile with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Of all launches' values together.
    pub estimate: f64,
    /// Low end of its interval.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// The lowest that a launch by itself gives, or the estimate where none has
    /// values enough.
    pub lowest: f64,
}

/// A share of the values lies below what is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share; 1 asks for the largest value.
    pub of: f64,
    /// Whether it is told only of so many values that it differs from the
    /// largest: 0.999 of a thousand.
    pub of_enough: bool,
}

/// All values of some launches, each with how often every launch has it.
struct Table {
    lines: Vec<(u64, Vec<u64>)>,
    launches: usize,
}

impl Table {
    fn new(launches: &[Tail]) -> Self {
        let mut lines: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (at, tail) in launches.iter().enumerate() {
            for (value, count) in tail.pairs() {
                lines
                    .entry(value)
                    .or_insert_with(|| vec![0; launches.len()])[at] += count;
            }
        }
        Table {
            lines: lines.into_iter().collect(),
            launches: launches.len(),
        }
    }

    /// The nearest rank, of the launches taken that often each.
    fn rank(&self, times: &[u64], share: Share) -> Option<f64> {
        let of_line = |counts: &[u64]| -> u64 {
            counts
                .iter()
                .zip(times)
                .map(|(count, times)| count * times)
                .sum()
        };
        let all: u64 = self.lines.iter().map(|(_, counts)| of_line(counts)).sum();
        let enough = all as f64 * (1.0 - share.of) >= 1.0 - 1e-9;
        if all == 0 || (share.of_enough && !enough) {
            return None;
        }
        let rank = (share.of * all as f64 - 1e-9).ceil().max(1.0) as u64;
        let mut below = 0;
        let line = self.lines.iter().find(|(_, counts)| {
            below += of_line(counts);
            below >= rank
        });
        line.map(|(value, _)| *value as f64)
    }
}

/// The value that the share asks for, of all launches together; `None` where
/// there are too few values.
///
/// The interval is a bootstrap over launches: they are drawn with replacement,
/// merged, and asked again; the middle 95% of the answers. One launch is no
/// replication, and has an interval without width.
pub fn interval(launches: &[Tail], share: Share) -> Option<Told> {
    let table = Table::new(launches);
    let estimate = table.rank(&vec![1; table.launches], share)?;
    // The same record gives the same interval.
    let mut rng = fastrand::Rng::with_seed(1);
    let draws: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let mut times = vec![0; table.launches];
            for _ in 0..table.launches {
                times[rng.usize(..table.launches)] += 1;
            }
            table.rank(&times, share)
        })
        .collect();
    let (low, high) = if draws.is_empty() {
        (estimate, estimate)
    } else {
        (quantile(&draws, 0.025), quantile(&draws, 0.975))
    };
    let alone = (0..table.launches).filter_map(|at| {
        let mut times = vec![0; table.launches];
        times[at] = 1;
        table.rank(&times, share)
    });
    Some(Told {
        estimate,
        low: low.min(estimate),
        high: high.max(estimate),
        lowest: alone.fold(estimate, f64::min),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use corolab_lab::tails::Recorder;
    use proptest::prelude::*;

    fn tail(values: impl IntoIterator<Item = u64>) -> Tail {
        let mut recorder = Recorder::new();
        values.into_iter().for_each(|value| recorder.record(value));
        recorder.tail()
    }

    const fn share(of: f64) -> Share {
        Share {
            of,
            of_enough: false,
        }
    }

    const fn of_enough(of: f64) -> Share {
        Share {
            of,
            of_enough: true,
        }
    }

    #[test]
    fn closed_forms() {
        let thousand = [tail(1..=1_000)];
        let of = |share| interval(&thousand, share).map(|told| told.estimate);
        assert_eq!(of(of_enough(0.5)), Some(500.0));
        assert_eq!(of(of_enough(0.99)), Some(990.0));
        assert_eq!(of(of_enough(0.999)), Some(999.0));
        assert_eq!(of(share(1.0)), Some(1_000.0));
        assert_eq!(interval(&[tail(1..=999)], of_enough(0.999)), None);
        assert_eq!(
            interval(&[tail(1..=28)], share(0.99)).unwrap().estimate,
            28.0
        );
    }

    #[test]
    fn launches_that_agree_have_no_width_and_those_that_do_not_have() {
        let alike = [tail(1..=100), tail(1..=100), tail(1..=100)];
        let told = interval(&alike, share(0.99)).unwrap();
        assert_eq!((told.low, told.estimate, told.high), (99.0, 99.0, 99.0));
        let apart = [tail(1..=100), tail(1..=100), tail(901..=1_000)];
        let told = interval(&apart, share(1.0)).unwrap();
        assert_eq!(
            (told.low, told.estimate, told.high),
            (100.0, 1_000.0, 1_000.0)
        );
        assert_eq!(told.lowest, 100.0);
    }

    #[test]
    fn what_no_launch_could_tell_alone_all_can_together() {
        let short = [tail(1..=50), tail(51..=100)];
        assert_eq!(interval(&short[..1], of_enough(0.99)), None);
        assert_eq!(interval(&short, of_enough(0.99)).unwrap().estimate, 99.0);
        assert_eq!(interval(&short, of_enough(0.999)), None);
        assert_eq!(interval(&[], share(1.0)), None);
    }

    proptest! {
        #[test]
        fn a_rank_is_the_one_of_all_values_sorted(
            launches in prop::collection::vec(prop::collection::vec(0_u64..1_000, 1..40), 1..6),
            of in 0.0_f64..=1.0,
        ) {
            let mut all = launches.concat();
            all.sort_unstable();
            let rank = (of * all.len() as f64 - 1e-9).ceil().max(1.0) as usize;
            let tails: Vec<Tail> = launches.into_iter().map(tail).collect();
            let told = interval(&tails, share(of)).unwrap();
            prop_assert_eq!(told.estimate, all[rank - 1] as f64);
            prop_assert!(told.low <= told.estimate && told.estimate <= told.high);
        }
    }
}
