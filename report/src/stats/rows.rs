//! Rows: one for each condition and metric, measured or refused. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::contender::Family;
use corolab_lab::heap::Asked;
use corolab_lab::sample::{Sample, Status};
use corolab_lab::tails::{HEARTBEAT_GAP, QUEUE_WAIT, STOOD_STILL, Tail};
use corolab_lab::workload::{self, Layer, foreign};
use corolab_syscalls::callee;

use super::order::{interval, median, quantile};
use super::ratio::Turns;
use super::seen::{self, Seen};
use super::tails;
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
    /// Whether it makes sense for a condition.
    of_it: fn(Layer, &Condition) -> bool,
}

/// Where a figure comes from.
#[derive(Clone, Copy)]
enum Source {
    /// Every sample has one.
    Sample(fn(&Sample) -> f64),
    /// A child has one, of its memory and its tasks, where that could be read.
    Trial(fn(&Standing) -> f64),
    /// A child that counted the heap has one, for an operation.
    Heap(fn(Asked) -> u64),
    /// A distribution that samples tell has one: a share of its values lies
    /// below; for 1 it is the largest.
    Tail(&'static str, f64),
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
        of_it: |_, _| true,
    },
    Metric {
        name: "rate",
        unit: "ops/s",
        better: "higher",
        of: Source::Sample(|sample| sample.ops as f64 / (sample.wall_ns.max(1) as f64 / 1e9)),
        of_it: |layer, _| layer != Layer::Footprint,
    },
    Metric {
        name: "cpu_per_op",
        unit: "ns",
        better: "lower",
        of: Source::Sample(|sample| sample.cpu_ns as f64 / sample.ops as f64),
        of_it: |layer, _| matches!(layer, Layer::Scheduled | Layer::Foreign),
    },
    Metric {
        name: "ctx_switches_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| {
            (sample.voluntary + sample.involuntary) as f64 / sample.ops as f64
        }),
        of_it: |layer, _| matches!(layer, Layer::Scheduled | Layer::Foreign),
    },
    Metric {
        name: "voluntary_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| sample.voluntary as f64 / sample.ops as f64),
        of_it: |layer, _| layer == Layer::Foreign,
    },
    Metric {
        name: "involuntary_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| sample.involuntary as f64 / sample.ops as f64),
        of_it: |layer, _| layer == Layer::Foreign,
    },
    Metric {
        name: "heap_per_op",
        unit: "B",
        better: "lower",
        of: Source::Heap(|asked| asked.bytes),
        of_it: counts_heap,
    },
    Metric {
        name: "allocs_per_op",
        unit: "allocations",
        better: "lower",
        of: Source::Heap(|asked| asked.allocations),
        of_it: counts_heap,
    },
    Metric {
        name: "queue_wait_p50",
        unit: "ns",
        better: "lower",
        of: Source::Tail(QUEUE_WAIT, 0.5),
        of_it: hops,
    },
    Metric {
        name: "queue_wait_p99",
        unit: "ns",
        better: "lower",
        of: Source::Tail(QUEUE_WAIT, 0.99),
        of_it: hops,
    },
    Metric {
        name: "queue_wait_p999",
        unit: "ns",
        better: "lower",
        of: Source::Tail(QUEUE_WAIT, 0.999),
        of_it: hops,
    },
    Metric {
        name: "heartbeat_gap_p99",
        unit: "ns",
        better: "lower",
        of: Source::Tail(HEARTBEAT_GAP, 0.99),
        of_it: is_beside,
    },
    Metric {
        name: "heartbeat_gap_max",
        unit: "ns",
        better: "lower",
        of: Source::Tail(HEARTBEAT_GAP, 1.0),
        of_it: is_beside,
    },
    Metric {
        name: "stood_still",
        unit: "tasks",
        better: "lower",
        of: Source::Tail(STOOD_STILL, 0.5),
        of_it: |layer, condition| is_beside(layer, condition) && blocks(condition),
    },
    Metric {
        name: "resident_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.rss + reading.page_tables)),
        of_it: |layer, _| layer == Layer::Footprint,
    },
    Metric {
        name: "rss_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.rss)),
        of_it: |layer, _| layer == Layer::Footprint,
    },
    Metric {
        name: "pss_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.pss)),
        of_it: |layer, _| layer == Layer::Footprint,
    },
    Metric {
        name: "maps",
        unit: "mappings",
        better: "lower",
        of: Source::Trial(|child| child.standing.maps as f64),
        of_it: |layer, _| layer == Layer::Footprint,
    },
];

fn counts_heap(_: Layer, condition: &Condition) -> bool {
    workload::find(&condition.workload)
        .is_some_and(|workload| workload.heap && (workload.once)(&condition.params).is_none())
}

fn hops(layer: Layer, condition: &Condition) -> bool {
    layer == Layer::Foreign && condition.params.word("route") == Some(foreign::SPAWN_BLOCKING)
}

fn is_beside(layer: Layer, condition: &Condition) -> bool {
    layer == Layer::Foreign && condition.params.word("form") == Some(foreign::BESIDE)
}

fn blocks(condition: &Condition) -> bool {
    let callee = condition.params.word("callee").and_then(callee::find);
    callee.is_some_and(|callee| callee.blocks)
}

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
        Source::Heap(of) => return of_heap(of, found),
        Source::Tail(name, share) => return of_tail(name, share, found),
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

/// What a batch asks of the heap, for an operation.
fn of_heap(of: fn(Asked) -> u64, found: &seen::Condition<'_>) -> Result<Figure, String> {
    let mut each = Vec::new();
    for trial in &found.counted {
        let Some(counted) = trial.counted else {
            let why = trial.reason.as_deref().unwrap_or("the run ended before it");
            return Err(format!("what it asks of the heap was not counted: {why}"));
        };
        let asked = counted.asked.ok_or_else(|| {
            "its runner does not count its heap: see corolab_lab::heap::Counting".to_owned()
        })?;
        each.push(of(asked) as f64 / counted.ops as f64);
    }
    if each.is_empty() {
        return Err("what it asks of the heap was not counted: the run ended before it".to_owned());
    }
    let launches = interval(&each);
    Ok(Figure {
        estimate: launches.estimate,
        low: launches.low,
        high: launches.high,
        floor: quantile(&each, 0.1),
        launches: each.len() as u32,
        samples: each.len() as u32,
    })
}

/// A quantile of all launches' values together; its interval from launches
/// drawn again and again.
fn of_tail(name: &str, share: f64, found: &seen::Condition<'_>) -> Result<Figure, String> {
    let mut launches: Vec<Tail> = Vec::new();
    for samples in found.launches.values() {
        let mut all = Tail::new();
        let told = samples.iter().filter_map(|sample| sample.tails.get(name));
        told.for_each(|tail| all.merge(tail));
        launches.push(all);
    }
    let values: u64 = launches.iter().map(Tail::count).sum();
    // Beats that a blocked worker makes late are few, and that is what is told;
    // the largest of few hops is no quantile of them.
    let of = |tail: &Tail| match name {
        QUEUE_WAIT => tail.quantile_of_enough(share),
        _ => tail.quantile(share),
    };
    let too_few = || format!("{values} values of {name} are too few for a share of {share}");
    let told = tails::interval(&launches, of).ok_or_else(too_few)?;
    Ok(Figure {
        estimate: told.estimate,
        low: told.low,
        high: told.high,
        floor: told.lowest,
        launches: launches.len() as u32,
        samples: u32::try_from(values).unwrap_or(u32::MAX),
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
