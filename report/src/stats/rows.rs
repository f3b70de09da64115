//! Rows: one for each condition and metric, measured or refused. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::contender::Family;
use corolab_lab::sample::Status;
use corolab_lab::workload::{self, Layer};

use super::figures::figure;
use super::metrics::{METRICS, time_per_op};
use super::order::median;
use super::ratio::Turns;
use super::seen::{self, Seen};
use crate::record::manifest::{Block, Manifest};
use crate::summary::Row;

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
        .filter(|metric| (metric.of_it)(layer, condition))
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
