//! Quantiles of distributions that launches tell. Pure.

use corolab_lab::tails::Tail;

use super::order::quantile;

/// How often the launches are drawn.
const DRAWS: u32 = 200;

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

/// The quantile that `of` takes, of all launches together; `None` where there
/// are too few values.
///
/// The interval is a bootstrap over launches: they are drawn with replacement,
/// merged, and asked again; the middle 95% of the answers. One launch is no
/// replication, and has an interval without width.
pub fn interval(launches: &[Tail], of: impl Fn(&Tail) -> Option<f64>) -> Option<Told> {
    let merged = |drawn: &mut dyn Iterator<Item = &Tail>| {
        let mut all = Tail::new();
        drawn.for_each(|tail| all.merge(tail));
        of(&all)
    };
    let estimate = merged(&mut launches.iter())?;
    // The same record gives the same interval.
    let mut rng = fastrand::Rng::with_seed(1);
    let draws: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let drawn: Vec<&Tail> = launches
                .iter()
                .map(|_| &launches[rng.usize(..launches.len())])
                .collect();
            merged(&mut drawn.into_iter())
        })
        .collect();
    let (low, high) = if draws.is_empty() {
        (estimate, estimate)
    } else {
        (quantile(&draws, 0.025), quantile(&draws, 0.975))
    };
    let alone = launches.iter().filter_map(of);
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

    fn tail(values: impl IntoIterator<Item = u64>) -> Tail {
        let mut tail = Tail::new();
        values.into_iter().for_each(|value| tail.record(value));
        tail
    }

    #[test]
    fn launches_that_agree_have_no_width_and_those_that_do_not_have() {
        let alike = [tail(1..=100), tail(1..=100), tail(1..=100)];
        let told = interval(&alike, |tail| tail.quantile(0.99)).unwrap();
        assert_eq!((told.low, told.estimate, told.high), (99.0, 99.0, 99.0));
        let apart = [tail(1..=100), tail(1..=100), tail(901..=1_000)];
        let told = interval(&apart, Tail::largest).unwrap();
        assert_eq!(
            (told.low, told.estimate, told.high),
            (100.0, 1_000.0, 1_000.0)
        );
        assert_eq!(told.lowest, 100.0);
    }

    #[test]
    fn what_no_launch_could_tell_alone_all_can_together() {
        let short = [tail(1..=50), tail(51..=100)];
        assert_eq!(short[0].quantile_of_enough(0.99), None);
        assert_eq!(
            interval(&short, |tail| tail.quantile_of_enough(0.99))
                .unwrap()
                .estimate,
            99.0
        );
        assert_eq!(
            interval(&short, |tail| tail.quantile_of_enough(0.999)),
            None
        );
        assert_eq!(interval(&[], Tail::largest), None);
    }
}
