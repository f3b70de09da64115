//! Figures as text: three significant digits, units stated.

use crate::summary::{Figure, Host, Row};

/// Three significant digits; thousands are set apart by a comma.
pub fn three(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let unit = 10_f64.powi(magnitude - 2);
    let rounded = (value / unit).round() * unit;
    // Rounding may carry into the next power of ten.
    let magnitude = rounded.abs().log10().floor() as i32;
    if magnitude >= 2 {
        grouped(rounded.round())
    } else {
        format!("{rounded:.*}", (2 - magnitude) as usize)
    }
}

/// A whole number of things that are counted, bytes among them.
pub fn whole(value: f64) -> String {
    grouped(value.round())
}

fn grouped(whole: f64) -> String {
    let digits = format!("{:.0}", whole.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if whole < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

/// `4.10 ns`
pub fn with_unit(figure: &Figure, unit: &str) -> String {
    format!("{} {unit}", three(figure.estimate))
}

/// `3.90 – 4.30`
pub fn span(low: f64, high: f64) -> String {
    format!("{} – {}", three(low), three(high))
}

/// The row's figure and interval, or its status.
pub fn told(row: &Row) -> (String, String) {
    match &row.figure {
        Some(figure) => (with_unit(figure, row.unit), span(figure.low, figure.high)),
        None => (row.status.name().replace('_', " "), String::new()),
    }
}

/// What a fact of the host says, as text.
pub fn fact(host: &Host, name: &str) -> String {
    match host.get(name) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "unknown".to_owned(),
    }
}

/// The host in one line.
pub fn host_line(host: &Host) -> String {
    format!(
        "{}, {} CPUs allowed {}, Linux {}, THP {}, max_map_count {}",
        fact(host, "cpu_model"),
        if host.get("virtualised") == Some(&serde_json::Value::Bool(true)) {
            "virtual,"
        } else {
            ""
        },
        fact(host, "cpus_allowed"),
        fact(host, "kernel"),
        fact(host, "thp"),
        fact(host, "max_map_count")
    )
    .replace("  ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_no_more() {
        for (value, text) in [
            (4.104, "4.10"),
            (0.34, "0.340"),
            (99.96, "100"),
            (36.04, "36.0"),
            (1_849.0, "1,850"),
            (243_902_439.0, "244,000,000"),
            (0.0, "0"),
            (999.6, "1,000"),
            (0.001_234, "0.00123"),
        ] {
            assert_eq!(three(value), text);
        }
    }
}
