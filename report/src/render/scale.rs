//! Logarithmic axes. Pure.

/// From values to pixels, by the logarithm.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Log {
    /// An axis that holds all `values`, from pixel `from` to pixel `to`, with
    /// ends at 1, 2 or 5 times a power of ten.
    pub fn holding(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| *value > 0.0) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let low = steps(low / 10.0, low).last().copied().unwrap_or(low);
        let high = steps(high, high * 10.0).first().copied().unwrap_or(high);
        let high = if high <= low { low * 10.0 } else { high };
        Log {
            low,
            high,
            from,
            to,
        }
    }

    /// The pixel of a value.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share * (self.to - self.from)
    }

    /// Values to mark: powers of ten, and 2 and 5 times these on a short axis.
    pub fn ticks(&self) -> Vec<f64> {
        let all = steps(self.low, self.high);
        let tens: Vec<f64> = all
            .iter()
            .copied()
            .filter(|v| (v.log10() - v.log10().round()).abs() < 1e-9)
            .collect();
        if tens.len() < 3 { all } else { tens }
    }
}

/// 1, 2 and 5 times each power of ten, between the ends inclusive.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all =
        (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    all.filter(|step| *step >= low * (1.0 - 1e-9) && *step <= high * (1.0 + 1e-9))
        .collect()
}

/// A tick as text: `0.5`, `20`, `10k`, `1M`.
pub fn label(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{}G", v / 1e9),
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e4 => format!("{}k", v / 1e3),
        v if v >= 1.0 => format!("{}", v.round()),
        v => format!("{v:.3}").trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_and_labels_short() {
        let axis = Log::holding([1.3, 950_000.0].into_iter(), 0.0, 600.0);
        assert_eq!(
            axis.ticks(),
            [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0]
        );
        assert_eq!((axis.at(1.0), axis.at(1_000_000.0)), (0.0, 600.0));
        assert_eq!(label(0.5), "0.5");
        assert_eq!(label(20_000.0), "20k");
        assert_eq!(label(2_000_000.0), "2M");
    }

    proptest! {
        #[test]
        fn every_value_lies_on_the_axis(values in prop::collection::vec(1e-3_f64..1e7, 1..20)) {
            let axis = Log::holding(values.iter().copied(), 10.0, 110.0);
            for value in values {
                let at = axis.at(value);
                prop_assert!((9.999..=110.001).contains(&at), "{value} at {at}");
            }
        }
    }
}
