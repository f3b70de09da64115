//! From a record's lines to its summary. Pure: no clock, no file, no order of
//! arrival that a shuffle could change.

pub mod added;
mod figures;
#[cfg(test)]
pub mod fixture;
#[cfg(test)]
pub mod fixture_calls;
mod metrics;
pub mod order;
pub mod ratio;
mod rows;
mod seen;
mod tails;
mod warnings;

use std::collections::BTreeMap;

use corolab_lab::workload;

use crate::record::line::Line;
use crate::record::manifest::{Block, Manifest, Paired};
use crate::summary::{BlockInfo, Host, Instrument, Ratio, SCHEMA, Summary};
use crate::verdict;
use ratio::Turns;
use warnings::Warning;

/// Every figure of a record.
pub fn summarise(manifest: &Manifest, host: &Host, lines: &[Line]) -> Summary {
    let ids = seen::ids(lines);
    let seen = seen::gather(lines, &ids);
    let mut summary = Summary {
        schema: SCHEMA,
        command: manifest.command.clone(),
        host: host.clone(),
        wall_s: wall_s(lines),
        began: began(lines),
        build: build(manifest),
        contenders: manifest.contenders.clone(),
        blocks: manifest.plan.blocks.iter().map(block_info).collect(),
        instrument: instrument(lines),
        rows: Vec::new(),
        ratios: Vec::new(),
        claims: Vec::new(),
        warnings: general(manifest, &seen, lines),
    };
    for block in &manifest.plan.blocks {
        let rows = rows::of_block(manifest, block, &seen);
        let measured: Vec<Measured> = rows
            .iter()
            .filter(|row| row.metric == "time_per_op" && row.figure.is_some())
            .map(|row| Measured {
                id: row.id.clone(),
                estimate: row.figure.map_or(f64::NAN, |figure| figure.estimate),
                launches: rows::launches_of(&row.id, &seen, block),
            })
            .collect();
        summary.ratios.extend(ratios(&measured, block));
        let added = added::rows(&measured, &rows);
        summary.rows.extend(rows);
        summary.rows.extend(added);
    }
    summary.rows.extend(rows::refused(manifest, &seen));
    summary.claims = verdict::claims::judge(&summary.rows, &summary.ratios);
    summary
}

/// A row of a block with its turns, launch by launch.
struct Measured {
    id: String,
    estimate: f64,
    launches: Vec<Turns>,
}

/// Every pair of measured rows of a block.
fn ratios(measured: &[Measured], block: &Block) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for (at, a) in measured.iter().enumerate() {
        for b in &measured[at + 1..] {
            let pairs = a.launches.iter().zip(&b.launches);
            let Some((interval, launches)) = ratio::ratio(pairs) else {
                continue;
            };
            ratios.push(Ratio {
                a: a.id.clone(),
                b: b.id.clone(),
                ratio: interval.estimate,
                low: interval.low,
                high: interval.high,
                launches,
                paired: paired(block.paired),
                verdict: ratio::verdict(&interval, a.estimate / b.estimate, launches),
            });
        }
    }
    ratios
}

fn block_info(block: &Block) -> BlockInfo {
    let (_, params) = block.id.split_once('/').unwrap_or((&block.id, ""));
    BlockInfo {
        id: block.id.clone(),
        workload: block.workload.clone(),
        layer: workload::layer_of(&block.workload).unwrap_or(workload::Layer::Scheduled),
        params: params.to_owned(),
        settings: block.settings.clone(),
        paired: paired(block.paired),
    }
}

/// What the children read of an empty batch, and what it comes to in the batch
/// with the fewest operations among those whose operation is short.
fn instrument(lines: &[Line]) -> Option<Instrument> {
    let of = |line: &Line| match line {
        Line::Trial(trial) => trial.calibration,
        _ => None,
    };
    let readings: Vec<_> = lines.iter().filter_map(of).collect();
    if readings.is_empty() {
        return None;
    }
    let empty: Vec<f64> = readings.iter().map(|reading| reading.empty_ns).collect();
    let empty_ns = order::median(&empty);
    let short = |line: &Line| match line {
        Line::Sample(taken) if taken.sample.wall_ns < 100 * taken.sample.ops => {
            Some(taken.sample.ops)
        }
        _ => None,
    };
    let fewest = lines.iter().filter_map(short).min().unwrap_or(1);
    let cycles: Vec<f64> = readings.iter().filter_map(|it| it.cycle_ns).collect();
    Some(Instrument {
        cycle_ns: (!cycles.is_empty()).then(|| order::median(&cycles)),
        empty_ns,
        added_ns_per_op: empty_ns / fewest as f64,
        tick_ns: readings
            .iter()
            .map(|reading| reading.tick_ns)
            .fold(0.0, f64::max),
    })
}

fn paired(how: Paired) -> &'static str {
    match how {
        Paired::Baton => "baton",
        Paired::Alternating => "alternating",
    }
}

fn wall_s(lines: &[Line]) -> f64 {
    let ended: f64 = lines
        .iter()
        .filter_map(|line| match line {
            Line::SessionEnded(ended) => Some(ended.wall_s),
            _ => None,
        })
        .sum();
    (ended * 10.0).round() / 10.0
}

fn began(lines: &[Line]) -> String {
    let first = lines.iter().find_map(|line| match line {
        Line::SessionBegan(began) => Some(began.at.clone()),
        _ => None,
    });
    first.unwrap_or_else(|| "unknown".to_owned())
}

fn build(manifest: &Manifest) -> BTreeMap<String, String> {
    let dirty = match manifest.dirty {
        Some(true) => " with changes",
        Some(false) => "",
        None => " (whether it was changed is unknown)",
    };
    let locked = |name: &str| {
        let found = manifest.locked.iter().find(|(package, _)| package == name);
        found.map_or("unknown".to_owned(), |(_, version)| version.clone())
    };
    BTreeMap::from([
        ("corolab".to_owned(), locked("corolab")),
        (
            "revision".to_owned(),
            format!("{}{dirty}", manifest.revision),
        ),
        ("rustc".to_owned(), manifest.rustc.clone()),
        ("profile".to_owned(), manifest.profile.clone()),
        ("binary_sha256".to_owned(), manifest.binary.clone()),
        ("seed".to_owned(), manifest.plan.seed.to_string()),
    ])
}

/// Warnings about the whole record.
fn general(manifest: &Manifest, seen: &seen::Seen<'_>, lines: &[Line]) -> Vec<String> {
    let mut told = Vec::new();
    if manifest.profile == "debug" {
        told.push(Warning::DebugBuild.to_string());
    }
    if seen.set_aside > 0 {
        told.push(Warning::SetAside(seen.set_aside).to_string());
    }
    for (block, launches) in &seen.launches {
        let most = seen::steal(launches);
        if most > warnings::STEAL {
            told.push(format!("{block}: {}", Warning::Steal(most)));
        }
    }
    let sessions = lines
        .iter()
        .filter(|line| matches!(line, Line::SessionBegan(_)))
        .count();
    let ended = lines
        .iter()
        .filter(|line| matches!(line, Line::SessionEnded(_)))
        .count();
    if sessions > 1 {
        told.push(format!(
            "{sessions} sessions made this record; launches carry their session"
        ));
    }
    let interrupted = lines
        .iter()
        .any(|line| matches!(line, Line::SessionEnded(ended) if ended.interrupted));
    let wanted: usize = manifest.plan.blocks.len() * manifest.plan.launches as usize;
    let whole = seen
        .launches
        .values()
        .flatten()
        .filter(|launch| launch.complete && !launch.heap)
        .count();
    if whole < wanted {
        let why = match (interrupted, ended < sessions) {
            (true, _) => "interrupted",
            (_, true) => "killed",
            _ => "cut short",
        };
        told.push(format!(
            "partial: {whole} of {wanted} launches are whole; the run was {why}"
        ));
    }
    told
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
