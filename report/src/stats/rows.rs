//! Rows: one for each condition and metric, measured or refused. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::contender::Family;
use corolab_lab::sample::{Sample, Status};
use corolab_lab::workload::{self, Layer};

use super::order::{interval, median, quantile};
use super::ratio::Turns;
use super::seen::{self, Seen};
use super::warnings::{self, Warning};
use crate::estimate::tasks;
use crate::record::line::{Reading, Trial};
use crate::record::manifest::{Block, Manifest};
use crate::summary::{Figure, Row};

/// A figure of a condition.
struct Metric {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    of: Source,
    /// Whether it makes sense for a layer.
    layers: fn(Layer) -> bool,
}

/// Where a figure comes from.
#[derive(Clone, Copy)]
enum Source {
    /// Every sample has one.
    Sample(fn(&Sample) -> f64),
    /// A child has one, of its memory and its tasks, where that could be read.
    Trial(fn(&Standing) -> f64),
}

/// A child's memory before and while its tasks stood.
struct Standing {
    before: Reading,
    standing: Reading,
    tasks: f64,
}

impl Standing {
    /// By how much a figure grew, for each task.
    fn per_task(&self, of: fn(Reading) -> u64) -> f64 {
        (of(self.standing) as f64 - of(self.before) as f64) / self.tasks
    }
}

fn time_per_op(sample: &Sample) -> f64 {
    sample.wall_ns as f64 / sample.ops as f64
}

/// The metrics; the first is the one that ratios are taken of.
const METRICS: &[Metric] = &[
    Metric {
        name: "time_per_op",
        unit: "ns",
        better: "lower",
        of: Source::Sample(time_per_op),
        layers: |_| true,
    },
    Metric {
        name: "rate",
        unit: "ops/s",
        better: "higher",
        of: Source::Sample(|sample| sample.ops as f64 / (sample.wall_ns.max(1) as f64 / 1e9)),
        layers: |layer| layer != Layer::Footprint,
    },
    Metric {
        name: "cpu_per_op",
        unit: "ns",
        better: "lower",
        of: Source::Sample(|sample| sample.cpu_ns as f64 / sample.ops as f64),
        layers: |layer| layer == Layer::Scheduled,
    },
    Metric {
        name: "ctx_switches_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| {
            (sample.voluntary + sample.involuntary) as f64 / sample.ops as f64
        }),
        layers: |layer| layer == Layer::Scheduled,
    },
    Metric {
        name: "resident_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.rss + reading.page_tables)),
        layers: |layer| layer == Layer::Footprint,
    },
    Metric {
        name: "rss_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.rss)),
        layers: |layer| layer == Layer::Footprint,
    },
    Metric {
        name: "pss_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.pss)),
        layers: |layer| layer == Layer::Footprint,
    },
    Metric {
        name: "maps",
        unit: "mappings",
        better: "lower",
        of: Source::Trial(|child| child.standing.maps as f64),
        layers: |layer| layer == Layer::Footprint,
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
                .map(|sample| (sample.turn, time_per_op(sample)))
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
    let said = said(found);
    let mut notes = Vec::new();
    METRICS
        .iter()
        .filter(|metric| (metric.layers)(layer))
        .map(|metric| {
            let figure = figure(metric, condition, found, steal, &mut notes);
            let mut row = blank(manifest, &block.id, condition);
            row.id = condition.row_id(metric.name);
            row.metric = metric.name;
            row.unit = metric.unit;
            row.better = metric.better;
            match figure {
                Ok(figure) => row.figure = Some(figure),
                Err(reason) => {
                    row.status = Status::NotSupported;
                    row.reason = Some(reason);
                }
            }
            row.notes = said.iter().chain(&notes).cloned().collect();
            row
        })
        .collect()
}

/// What the contender said of its means, in any launch.
fn said(found: &seen::Condition<'_>) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for note in found.trials.iter().flat_map(|trial| &trial.notes) {
        if !said.contains(note) {
            said.push(note.clone());
        }
    }
    said
}

/// No sample is dropped in silence.
fn kept(samples: usize) -> String {
    format!("{samples} samples of it are kept in samples.jsonl, unused")
}

/// A figure of a condition; the first metric also finds the row's warnings.
///
/// # Errors
/// Why there is none: a reading that is missing is never taken for 0.
fn figure(
    metric: &Metric,
    condition: &Condition,
    found: &seen::Condition<'_>,
    steal: f64,
    notes: &mut Vec<String>,
) -> Result<Figure, String> {
    let by_launch: Vec<Vec<f64>> = match metric.of {
        Source::Sample(of) => {
            let launches = found.launches.values();
            launches
                .map(|samples| samples.iter().map(|sample| of(sample)).collect())
                .collect()
        }
        Source::Trial(of) => {
            let trials = found.trials.iter();
            trials
                .map(|trial| Ok(vec![of(&standing(condition, trial)?)]))
                .collect::<Result<_, String>>()?
        }
    };
    let medians: Vec<f64> = by_launch.iter().map(|launch| median(launch)).collect();
    let all: Vec<f64> = by_launch.concat();
    if metric.name == METRICS[0].name {
        let warnings = warnings::of_row(found, &medians, &all, steal);
        *notes = warnings.iter().map(Warning::to_string).collect();
    }
    let launches = interval(&medians);
    Ok(Figure {
        estimate: launches.estimate,
        low: launches.low,
        high: launches.high,
        floor: quantile(&all, if metric.better == "lower" { 0.1 } else { 0.9 }),
        launches: medians.len() as u32,
        samples: all.len() as u32,
    })
}

/// A child's two readings, or why one is missing.
fn standing(condition: &Condition, trial: &Trial) -> Result<Standing, String> {
    let unread = || "the child's memory was not read".to_owned();
    let memory = trial.memory.as_ref().ok_or_else(unread)?;
    match (memory.before, memory.standing) {
        (Some(before), Some(standing)) => Ok(Standing {
            before,
            standing,
            tasks: tasks(condition).max(1) as f64,
        }),
        _ => Err(memory.reason.clone().unwrap_or_else(unread)),
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
        .map(|sample| time_per_op(sample))
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
    workload::layer_of(workload).unwrap_or(Layer::Scheduled)
}
