//! What a reader should know before trusting a row: one list of all warnings,
//! each with the value that tripped it. Pure.

use std::fmt;

use super::order::median;
use super::seen;

/// More than this share of stolen CPU time is warned of.
pub const STEAL: f64 = 0.01;

/// A warning about a row or about the whole record.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Fewer launches than an interval needs.
    FewLaunches(usize),
    /// The launches' medians lie far apart: largest ÷ smallest.
    Spread(f64),
    /// The last launches differ from the first: last half ÷ first half.
    Drift(f64),
    /// Samples gather around two values: upper ÷ lower.
    TwoModes(f64),
    /// The hypervisor took this share of the CPU time.
    Steal(f64),
    /// The child used this share of a CPU while others had the baton.
    Restless(f64),
    /// The child's group was stopped outside its turns.
    Stilled,
    /// A sample is shorter than 1,000 steps of the clock: sample, step, ns.
    BelowResolution(f64, f64),
    /// So many samples are of launches that were cut short too early.
    SetAside(usize),
    /// A debug build measured.
    DebugBuild,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::FewLaunches(n) => write!(f, "few launches: {n} (an interval needs 5)"),
            Warning::Spread(by) => write!(f, "launches lie apart: largest is {by:.2} of smallest"),
            Warning::Drift(by) => write!(f, "drift: last launches are {by:.2} of the first"),
            Warning::TwoModes(by) => write!(f, "two modes: samples gather {by:.2} apart"),
            Warning::Steal(share) => write!(f, "steal: {:.1}% of the CPU time", share * 100.0),
            Warning::Restless(share) => {
                write!(
                    f,
                    "restless: {:.2}% of a CPU outside its turns",
                    share * 100.0
                )
            }
            Warning::Stilled => f.write_str("its threads will not rest: stopped outside its turns"),
            Warning::BelowResolution(sample, tick) => {
                write!(
                    f,
                    "below resolution: a sample of {sample:.0} ns, a clock step of {tick:.0} ns"
                )
            }
            Warning::SetAside(n) => write!(
                f,
                "{n} samples are of launches cut short before 3 turns; they are kept and not used"
            ),
            Warning::DebugBuild => f.write_str("a debug build measured: the figures say nothing"),
        }
    }
}

/// Warnings about one measured condition: `medians` by launch in order, every
/// sample's figure, and the largest steal of its block's launches.
pub fn of_row(
    condition: &seen::Condition<'_>,
    medians: &[f64],
    figures: &[f64],
    steal: f64,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if medians.len() < 5 {
        warnings.push(Warning::FewLaunches(medians.len()));
    }
    let largest = medians.iter().copied().fold(f64::MIN, f64::max);
    let smallest = medians.iter().copied().fold(f64::MAX, f64::min);
    if largest / smallest > 1.2 {
        warnings.push(Warning::Spread(largest / smallest));
    }
    warnings.extend(drift(medians).map(Warning::Drift));
    warnings.extend(two_modes(figures).map(Warning::TwoModes));
    if steal > STEAL {
        warnings.push(Warning::Steal(steal));
    }
    let (cpu, wall) = condition.trials.iter().fold((0, 0), |(cpu, wall), trial| {
        (cpu + trial.outside_cpu_ns, wall + trial.outside_wall_ns)
    });
    let share = cpu as f64 / wall.max(1) as f64;
    if share > 0.005 {
        warnings.push(Warning::Restless(share));
    }
    if condition.trials.iter().any(|trial| trial.stilled) {
        warnings.push(Warning::Stilled);
    }
    let tick = condition
        .trials
        .iter()
        .filter_map(|trial| trial.calibration)
        .map(|c| c.tick_ns);
    let tick = tick.fold(0.0, f64::max);
    let shortest = condition
        .launches
        .values()
        .flatten()
        .map(|sample| sample.wall_ns)
        .min();
    if let Some(shortest) = shortest
        .map(|ns| ns as f64)
        .filter(|ns| *ns < 1_000.0 * tick)
    {
        warnings.push(Warning::BelowResolution(shortest, tick));
    }
    warnings
}

/// Whether the launches drift: the first half and the last half of them lie
/// apart, no launch of the one among those of the other, and by more than a
/// tenth. Fewer than four launches cannot tell: one launch against one other
/// is the spread between launches, which has a warning of its own.
fn drift(medians: &[f64]) -> Option<f64> {
    let half = medians.len() / 2;
    if half < 2 {
        return None;
    }
    let (first, last) = (&medians[..half], &medians[medians.len() - half..]);
    let least = |values: &[f64]| values.iter().copied().fold(f64::MAX, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
    let apart = most(first) < least(last) || most(last) < least(first);
    let by = median(last) / median(first);
    (apart && !(0.9..=1.1).contains(&by)).then_some(by)
}

/// Whether the samples gather around two values: the widest gap between
/// neighbours in the middle four fifths is wider than a tenth of the median,
/// and holds most of the range there. Returns upper ÷ lower mean.
fn two_modes(figures: &[f64]) -> Option<f64> {
    if figures.len() < 20 {
        return None;
    }
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tenth = sorted.len() / 10;
    let middle = &sorted[tenth..sorted.len() - tenth];
    let (at, gap) = middle
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let range = middle[middle.len() - 1] - middle[0];
    if gap < 0.1 * median(middle) || gap < 0.5 * range {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Some(mean(&middle[at + 1..]) / mean(&middle[..=at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(medians: &[f64], figures: &[f64]) -> Vec<Warning> {
        of_row(&seen::Condition::default(), medians, figures, 0.0)
    }

    #[test]
    fn a_calm_row_has_no_warning() {
        assert_eq!(row(&[1.0, 1.01, 1.0, 0.99, 1.0], &[1.0; 60]), []);
    }

    #[test]
    fn spread_and_drift_are_told_with_their_values() {
        let told = row(&[1.0, 1.0, 1.2, 1.4, 1.5, 1.5], &[1.0; 60]);
        assert_eq!(told, [Warning::Spread(1.5), Warning::Drift(1.5)]);
        assert_eq!(row(&[1.0], &[1.0])[0], Warning::FewLaunches(1));
    }

    #[test]
    fn load_in_the_first_half_is_drift_and_one_odd_launch_is_not() {
        assert_eq!(drift(&[1.5, 1.6, 1.0, 1.0, 1.0]), Some(1.0 / 1.55));
        assert_eq!(drift(&[1.5, 1.0, 1.1, 1.0, 1.1]), None);
        assert_eq!(drift(&[1.0, 1.0, 1.0, 1.1, 1.5]), Some(1.3));
        assert_eq!(drift(&[1.0, 1.5, 2.0]), None, "too few to tell");
    }

    #[test]
    fn steal_is_told_by_row() {
        let told = of_row(&seen::Condition::default(), &[1.0; 5], &[1.0; 60], 0.034);
        assert_eq!(told, [Warning::Steal(0.034)]);
        assert_eq!(told[0].to_string(), "steal: 3.4% of the CPU time");
    }

    #[test]
    fn two_heaps_of_samples_are_two_modes_and_one_wide_heap_is_not() {
        let two: Vec<f64> = (0..40)
            .map(|i| if i % 2 == 0 { 1.0 } else { 2.0 })
            .collect();
        assert_eq!(two_modes(&two), Some(2.0));
        let wide: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i) / 20.0).collect();
        assert_eq!(two_modes(&wide), None);
    }
}
