//! Figures: an estimate with its interval, from samples, readings and counts of
//! several launches. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::heap::Asked;
use corolab_lab::sample::Sample;
use corolab_lab::tails::{QUEUE_WAIT, Tail};

use super::metrics::{METRICS, Metric, Source, Standing};
use super::order::{interval, median, quantile};
use super::seen;
use super::tails::{self, Share};
use super::warnings::{self, Warning};
use crate::estimate::tasks;
use crate::record::line::Trial;
use crate::summary::Figure;

/// A figure of a condition; the first metric also finds the row's warnings.
///
/// # Errors
/// Why there is none: a reading that is missing is never taken for 0.
pub fn figure(
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
    let floor = if metric.better == "lower" { 0.1 } else { 0.9 };
    Ok(of_launches(&medians, &all, floor))
}

/// A figure from each launch's median, with the floor from all samples: the
/// value below which that share of them lies.
pub fn of_launches(medians: &[f64], all: &[f64], floor: f64) -> Figure {
    let launches = interval(medians);
    Figure {
        estimate: launches.estimate,
        low: launches.low,
        high: launches.high,
        floor: quantile(all, floor),
        launches: medians.len() as u32,
        samples: all.len() as u32,
    }
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
    Ok(of_launches(&each, &each, 0.1))
}

/// A quantile of all launches' values together; its interval from launches
/// drawn again and again.
fn of_tail(name: &str, share: f64, found: &seen::Condition<'_>) -> Result<Figure, String> {
    let of_launch = |samples: &Vec<&Sample>| {
        let mut all = Tail::default();
        let told = samples.iter().filter_map(|sample| sample.tails.get(name));
        told.for_each(|tail| all.merge(tail));
        all
    };
    let launches: Vec<Tail> = found.launches.values().map(of_launch).collect();
    let values: u64 = launches.iter().map(Tail::count).sum();
    // Beats that a blocked worker makes late are few, and that is what is told;
    // the largest of few hops is no quantile of them.
    let asked = Share {
        of: share,
        of_enough: name == QUEUE_WAIT,
    };
    let too_few = || format!("{values} values of {name} are too few for a share of {share}");
    let told = tails::interval(&launches, asked).ok_or_else(too_few)?;
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
