//! Order statistics. Pure.

/// Coverage that an interval of order statistics should have at the least:
/// with 5, 8 and 12 launches it comes to 93.75%, 92.97% and 96.14%.
pub const COVERAGE: f64 = 0.925;

/// The value below which the share `q` of `values` lies, between neighbours by
/// linear interpolation (Hyndman and Fan's type 7).
///
/// # Panics
/// On an empty slice.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let sorted = sorted(values);
    let at = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

/// The middle of `values`.
///
/// # Panics
/// On an empty slice.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    assert!(!values.is_empty(), "no value has no median");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// A median with the interval that holds the true one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median of the values.
    pub estimate: f64,
    /// The k-th smallest value.
    pub low: f64,
    /// The k-th largest value.
    pub high: f64,
    /// How often such an interval holds the true median, whatever the
    /// distribution.
    pub coverage: f64,
}

/// The interval of a median from `values` that are independent of each other:
/// the tightest pair of order statistics that covers [`COVERAGE`], or the
/// smallest and the largest value where none does.
///
/// # Panics
/// On an empty slice.
pub fn interval(values: &[f64]) -> Interval {
    let sorted = sorted(values);
    let n = sorted.len();
    let k = (1..=n.div_ceil(2))
        .rev()
        .find(|k| coverage(n, *k) >= COVERAGE)
        .unwrap_or(1);
    Interval {
        estimate: median(&sorted),
        low: sorted[k - 1],
        high: sorted[n - k],
        coverage: coverage(n, k),
    }
}

/// How often the k-th smallest and k-th largest of `n` values enclose the true
/// median: 1 − 2·P(B < k) with B binomial(n, ½).
pub fn coverage(n: usize, k: usize) -> f64 {
    // By logarithms: 2^-n itself vanishes from about a thousand values on, and
    // an interval of nothing would claim to cover everything.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for i in 0..k {
        below += term.exp();
        term += ((n - i) as f64 / (i + 1) as f64).ln();
    }
    (1.0 - 2.0 * below).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    #[test]
    fn closed_forms() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(quantile(&[0.0, 10.0], 0.1), 1.0);
        assert!((coverage(5, 1) - 0.9375).abs() < 1e-12);
    }

    #[test]
    fn five_eight_and_twelve_launches_take_the_pairs_that_are_documented() {
        let launches = |n: usize| interval(&(1..=n).map(|i| i as f64).collect::<Vec<_>>());
        assert_eq!((launches(5).low, launches(5).high), (1.0, 5.0));
        assert_eq!((launches(8).low, launches(8).high), (2.0, 7.0));
        assert_eq!((launches(12).low, launches(12).high), (3.0, 10.0));
        assert_eq!((launches(1).low, launches(1).coverage), (1.0, 0.0));
    }

    #[test]
    fn thousands_of_values_still_have_an_interval() {
        let values: Vec<f64> = (1..=5_001).map(f64::from).collect();
        let it = interval(&values);
        let half = (it.high - it.low) / 2.0;
        // The normal approximation: 1.78 deviations of half the root of n.
        assert!((half / (1.78 * 5_001_f64.sqrt() / 2.0) - 1.0).abs() < 0.03);
        assert!(it.coverage >= COVERAGE && it.coverage < COVERAGE + 0.01);
    }

    proptest! {
        #[test]
        fn coverage_is_the_binomial_one(n in 1_usize..60, k in 1_usize..30) {
            prop_assume!(k <= n.div_ceil(2));
            let binomial = Binomial::new(0.5, n as u64).unwrap();
            let oracle = (1.0 - 2.0 * binomial.cdf(k as u64 - 1)).max(0.0);
            prop_assert!((coverage(n, k) - oracle).abs() < 1e-9);
        }

        #[test]
        fn order_and_scale_of_the_values_do_not_matter(
            mut values in prop::collection::vec(0.1_f64..1e6, 1..40),
            scale in 0.1_f64..100.0,
        ) {
            let before = interval(&values);
            values.reverse();
            prop_assert_eq!(interval(&values), before);
            let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
            let after = interval(&scaled);
            prop_assert!((after.estimate / before.estimate / scale - 1.0).abs() < 1e-9);
            prop_assert!(after.low <= after.estimate && after.estimate <= after.high);
        }
    }
}
