//! Rows: one for each condition and metric, measured or refused. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::contender::Family;
use corolab_lab::sample::{Sample, Status};
use corolab_lab::workload::{self, Layer};

use super::order::{interval, median, quantile};
use super::ratio::Turns;
use super::seen::{self, Seen};
use super::warnings::{self, Warning};
use crate::record::manifest::{Block, Manifest};
use crate::summary::{Figure, Row};

/// A figure of a sample.
struct Metric {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    of: fn(&Sample) -> f64,
    /// Whether it makes sense for a layer.
    layers: fn(Layer) -> bool,
}

/// The metrics; the first is the one that ratios are taken of.
const METRICS: &[Metric] = &[
    Metric {
        name: "time_per_op",
        unit: "ns",
        better: "lower",
        of: |sample| sample.wall_ns as f64 / sample.ops as f64,
        layers: |_| true,
    },
    Metric {
        name: "rate",
        unit: "ops/s",
        better: "higher",
        of: |sample| sample.ops as f64 / (sample.wall_ns.max(1) as f64 / 1e9),
        layers: |_| true,
    },
    Metric {
        name: "cpu_per_op",
        unit: "ns",
        better: "lower",
        of: |sample| sample.cpu_ns as f64 / sample.ops as f64,
        layers: |layer| layer == Layer::Scheduled,
    },
    Metric {
        name: "ctx_switches_per_op",
        unit: "switches",
        better: "lower",
        of: |sample| (sample.voluntary + sample.involuntary) as f64 / sample.ops as f64,
        layers: |layer| layer == Layer::Scheduled,
    },
];

/// Rows of a block, in the order of the plan.
pub fn of_block(manifest: &Manifest, block: &Block, seen: &Seen<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let launches = seen.launches.get(block.id.as_str());
    let steal = launches.map_or(0.0, |launches| seen::steal(launches));
    for condition in &block.conditions {
        let id = condition.id();
        match seen.conditions.get(id.as_str()) {
            Some(found) => rows.extend(of_condition(manifest, block, condition, found, steal)),
            None => rows.push(without_figure(
                manifest,
                &block.id,
                condition,
                Status::Failed,
                "not measured: the run ended before it".to_owned(),
                Vec::new(),
            )),
        }
    }
    rows
}

/// Rows of what the plan refused.
pub fn refused(manifest: &Manifest, seen: &Seen<'_>) -> Vec<Row> {
    let refused = seen
        .conditions
        .values()
        .filter_map(|condition| condition.refused);
    refused
        .map(|refused| {
            let (condition, reason) = (&refused.condition, refused.reason.clone());
            without_figure(
                manifest,
                &refused.block,
                condition,
                refused.status,
                reason,
                Vec::new(),
            )
        })
        .collect()
}

/// The time per operation by launch and turn of a measured row; one entry for
/// each launch of the block, so that rows can be laid beside each other.
pub fn launches_of(row_id: &str, seen: &Seen<'_>, block: &Block) -> Vec<Turns> {
    let id = row_id.rsplit_once(':').map_or(row_id, |(id, _)| id);
    let Some(condition) = seen.conditions.get(id) else {
        return Vec::new();
    };
    let launches = seen.launches.get(block.id.as_str());
    let numbers = launches.into_iter().flatten().map(|launch| launch.launch);
    numbers
        .map(|number| {
            let samples = condition.launches.get(&number).into_iter().flatten();
            samples
                .map(|sample| (sample.turn, (METRICS[0].of)(sample)))
                .collect()
        })
        .collect()
}

fn of_condition(
    manifest: &Manifest,
    block: &Block,
    condition: &Condition,
    found: &seen::Condition<'_>,
    steal: f64,
) -> Vec<Row> {
    let samples: usize = found.launches.values().map(Vec::len).sum();
    let failed: Vec<_> = found
        .trials
        .iter()
        .filter(|trial| trial.status != Status::Ok)
        .collect();
    let lone = |status, reason: String, notes| {
        vec![without_figure(
            manifest, &block.id, condition, status, reason, notes,
        )]
    };
    if let Some(first) = failed.first() {
        let reason = first
            .reason
            .clone()
            .unwrap_or_else(|| "for an unknown reason".to_owned());
        let mut notes = vec![format!(
            "{} of {} launches",
            failed.len(),
            found.trials.len()
        )];
        if samples > 0 {
            notes.push(kept(samples));
        }
        return lone(first.status, reason, notes);
    }
    if samples == 0 {
        return lone(Status::Failed, "it gave no sample".to_owned(), Vec::new());
    }
    if let Some(reason) = under_a_cycle(found) {
        return lone(Status::NotSupported, reason, vec![kept(samples)]);
    }
    let layer = layer_of(&condition.workload);
    let mut notes = Vec::new();
    METRICS
        .iter()
        .filter(|metric| (metric.layers)(layer))
        .map(|metric| {
            let figure = figure(metric, found, steal, &mut notes);
            let mut row = blank(manifest, &block.id, condition);
            row.id = condition.row_id(metric.name);
            row.metric = metric.name;
            row.unit = metric.unit;
            row.better = metric.better;
            row.figure = Some(figure);
            row.notes = notes.clone();
            row
        })
        .collect()
}

/// No sample is dropped in silence.
fn kept(samples: usize) -> String {
    format!("{samples} samples of it are kept in samples.jsonl, unused")
}

/// A figure of a condition; the first metric also finds the row's warnings.
fn figure(
    metric: &Metric,
    found: &seen::Condition<'_>,
    steal: f64,
    notes: &mut Vec<String>,
) -> Figure {
    let by_launch: Vec<Vec<f64>> = found
        .launches
        .values()
        .map(|samples| samples.iter().map(|sample| (metric.of)(sample)).collect())
        .collect();
    let medians: Vec<f64> = by_launch.iter().map(|launch| median(launch)).collect();
    let all: Vec<f64> = by_launch.concat();
    if metric.name == METRICS[0].name {
        let warnings = warnings::of_row(found, &medians, &all, steal);
        *notes = warnings.iter().map(Warning::to_string).collect();
    }
    let launches = interval(&medians);
    Figure {
        estimate: launches.estimate,
        low: launches.low,
        high: launches.high,
        floor: quantile(&all, if metric.better == "lower" { 0.1 } else { 0.9 }),
        launches: medians.len() as u32,
        samples: all.len() as u32,
    }
}

/// An operation cannot take less than a cycle: the optimizer has seen through.
fn under_a_cycle(found: &seen::Condition<'_>) -> Option<String> {
    let cycles = found
        .trials
        .iter()
        .filter_map(|trial| trial.calibration?.cycle_ns);
    let cycle = cycles.fold(f64::MAX, f64::min);
    let figures: Vec<f64> = found
        .launches
        .values()
        .flatten()
        .map(|sample| (METRICS[0].of)(sample))
        .collect();
    let figure = median(&figures);
    (cycle < f64::MAX && figure < cycle).then(|| {
        format!(
            "{figure:.3} ns an operation is under one cycle of {cycle:.3} ns: the work was \
             optimised away"
        )
    })
}

fn without_figure(
    manifest: &Manifest,
    block: &str,
    condition: &Condition,
    status: Status,
    reason: String,
    notes: Vec<String>,
) -> Row {
    let mut row = blank(manifest, block, condition);
    row.status = status;
    row.reason = Some(reason);
    row.notes = notes;
    row
}

fn blank(manifest: &Manifest, block: &str, condition: &Condition) -> Row {
    let profile = manifest
        .contenders
        .iter()
        .find(|profile| profile.name == condition.contender);
    let metric = &METRICS[0];
    Row {
        id: condition.row_id(metric.name),
        block: block.to_owned(),
        workload: condition.workload.clone(),
        contender: condition.contender.clone(),
        family: profile.map_or(Family::Control, |profile| profile.family),
        layer: layer_of(&condition.workload),
        params: condition.told(),
        metric: metric.name,
        unit: metric.unit,
        better: metric.better,
        figure: None,
        status: Status::Ok,
        reason: None,
        notes: Vec::new(),
    }
}

fn layer_of(workload: &str) -> Layer {
    workload::find(workload).map_or(Layer::Scheduled, |workload| workload.layer)
}
