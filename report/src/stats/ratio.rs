//! The ratio of two rows: paired by turn, replicated by launch. Pure.

use super::order::{Interval, interval, median};

/// Differences below this share are of no practical matter.
pub const THRESHOLD: f64 = 0.02;

/// Turns by number with the figure that each gave, of one launch.
pub type Turns = std::collections::BTreeMap<u32, f64>;

/// The ratio a ÷ b with its interval between launches; `None` unless some turn
/// of some launch has both.
///
/// Each launch gives one value, the median of its turns' ratios: the samples
/// of a launch share its addresses and its neighbours, and are not independent.
pub fn ratio<'a>(
    launches: impl Iterator<Item = (&'a Turns, &'a Turns)>,
) -> Option<(Interval, u32)> {
    let by_launch: Vec<f64> = launches
        .filter_map(|(a, b)| {
            let pairs = a.iter().filter_map(|(turn, a)| b.get(turn).map(|b| a / b));
            let pairs: Vec<f64> = pairs.filter(|ratio| ratio.is_finite()).collect();
            (!pairs.is_empty()).then(|| median(&pairs))
        })
        .collect();
    let launches = by_launch.len() as u32;
    (launches > 0).then(|| (interval(&by_launch), launches))
}

/// "a lower", "b lower", or "tie": two rows are told apart only when the
/// interval of their ratio does not hold 1, the ratio differs from 1 by the
/// practical threshold, and the ratio of their own estimates lies on the same
/// side: where samples have two modes, the median of ratios and the ratio of
/// medians can point to different sides.
pub fn verdict(ratio: &Interval, of_estimates: f64, launches: u32) -> &'static str {
    let holds_one = ratio.low <= 1.0 && ratio.high >= 1.0;
    // One launch is no replication: nothing can be told apart by it.
    let other_side = (ratio.estimate - 1.0) * (of_estimates - 1.0) < 0.0;
    if launches < 2 || holds_one || other_side || (ratio.estimate - 1.0).abs() < THRESHOLD {
        "tie"
    } else if ratio.estimate < 1.0 {
        "a lower"
    } else {
        "b lower"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turns(values: &[f64]) -> Turns {
        values
            .iter()
            .enumerate()
            .map(|(turn, value)| (turn as u32, *value))
            .collect()
    }

    #[test]
    fn turns_are_paired_and_launches_counted() {
        let (a, b) = (turns(&[2.0, 40.0, 6.0]), turns(&[1.0, 20.0, 3.0]));
        let other = turns(&[9.0]);
        let (got, launches) = ratio([(&a, &b), (&a, &other)].into_iter()).unwrap();
        assert_eq!(launches, 2);
        assert_eq!((got.low, got.high), (2.0 / 9.0, 2.0));
        assert!(ratio([(&a, &Turns::new())].into_iter()).is_none());
    }

    #[test]
    fn what_cannot_be_told_apart_is_a_tie() {
        let interval = |low, estimate, high| Interval {
            estimate,
            low,
            high,
            coverage: 0.94,
        };
        assert_eq!(verdict(&interval(0.9, 0.95, 1.01), 0.95, 5), "tie");
        assert_eq!(verdict(&interval(1.005, 1.01, 1.015), 1.01, 5), "tie");
        assert_eq!(verdict(&interval(0.9, 0.95, 0.97), 0.95, 5), "a lower");
        assert_eq!(verdict(&interval(1.05, 1.1, 1.2), 1.1, 5), "b lower");
        assert_eq!(verdict(&interval(2.0, 2.0, 2.0), 2.0, 1), "tie");
        assert_eq!(
            verdict(&interval(1.15, 1.23, 1.27), 0.97, 5),
            "tie",
            "two modes"
        );
    }

    proptest! {
        #[test]
        fn the_other_way_round_is_the_reciprocal(
            launches in prop::collection::vec(
                prop::collection::vec((0.1_f64..1e3, 0.1_f64..1e3), 1..8).prop_filter(
                    "an even count has a median between two ratios, which has no reciprocal",
                    |turns| turns.len() % 2 == 1,
                ),
                1..9,
            ),
        ) {
            prop_assume!(launches.len() % 2 == 1);
            let pairs: Vec<(Turns, Turns)> = launches
                .iter()
                .map(|launch| {
                    let (a, b): (Vec<f64>, Vec<f64>) = launch.iter().copied().unzip();
                    (turns(&a), turns(&b))
                })
                .collect();
            let (there, _) = ratio(pairs.iter().map(|(a, b)| (a, b))).unwrap();
            let (back, _) = ratio(pairs.iter().map(|(a, b)| (b, a))).unwrap();
            prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-9);
            prop_assert!((there.low * back.high - 1.0).abs() < 1e-9);
        }
    }
}
