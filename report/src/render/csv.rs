//! `summary.csv`: one line for each row.

use ::csv::Writer;

use crate::summary::Summary;

const HEAD: [&str; 18] = [
    "id",
    "workload",
    "contender",
    "family",
    "layer",
    "params",
    "metric",
    "unit",
    "better",
    "estimate",
    "low",
    "high",
    "floor",
    "launches",
    "samples",
    "status",
    "reason",
    "notes",
];

/// The rows as CSV.
pub fn rows(summary: &Summary) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(HEAD);
    for row in &summary.rows {
        let of = |value: fn(&crate::summary::Figure) -> String| {
            row.figure.as_ref().map(value).unwrap_or_default()
        };
        let _ = writer.write_record([
            row.id.clone(),
            row.workload.clone(),
            row.contender.clone(),
            row.family.name().to_owned(),
            row.layer.name().to_owned(),
            row.params.to_string(),
            row.metric.to_owned(),
            row.unit.to_owned(),
            row.better.to_owned(),
            of(|figure| figure.estimate.to_string()),
            of(|figure| figure.low.to_string()),
            of(|figure| figure.high.to_string()),
            of(|figure| figure.floor.to_string()),
            of(|figure| figure.launches.to_string()),
            of(|figure| figure.samples.to_string()),
            row.status.name().to_owned(),
            row.reason.clone().unwrap_or_default(),
            row.notes.join("; "),
        ]);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
