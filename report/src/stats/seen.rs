//! What a record saw of each condition, gathered from its lines. Pure.

use std::collections::{BTreeMap, BTreeSet};

use corolab_lab::sample::Sample;

use crate::record::line::{Launch, Line, Refused, Trial};

/// A launch that was cut short counts from this many whole turns on.
const TURNS_TO_COUNT: u32 = 3;

/// Everything seen of one condition.
#[derive(Debug, Default)]
pub struct Condition<'a> {
    /// Samples by launch.
    pub launches: BTreeMap<u32, Vec<&'a Sample>>,
    /// How its children ended.
    pub trials: Vec<&'a Trial>,
    /// How those ended that counted the heap.
    pub counted: Vec<&'a Trial>,
    /// Why it was refused before anything ran.
    pub refused: Option<&'a Refused>,
}

/// Everything seen, by condition id, and launches by block.
#[derive(Debug, Default)]
pub struct Seen<'a> {
    /// By condition id.
    pub conditions: BTreeMap<&'a str, Condition<'a>>,
    /// By block id.
    pub launches: BTreeMap<&'a str, Vec<&'a Launch>>,
    /// Samples of launches that were cut short too early to count.
    pub set_aside: usize,
}

/// The largest share of CPU time that was stolen in any of these launches.
pub fn steal(launches: &[&Launch]) -> f64 {
    let steals = launches.iter().filter_map(|launch| launch.steal);
    steals.fold(0.0, f64::max)
}

/// Condition ids as text, kept by the caller for as long as what was seen.
pub fn ids(lines: &[Line]) -> Vec<String> {
    let id = |line: &Line| match line {
        Line::Refused(refused) => refused.condition.id(),
        Line::Trial(trial) => trial.condition.id(),
        _ => String::new(),
    };
    lines.iter().map(id).collect()
}

/// Gathers lines by condition; `ids` are those of [`ids`].
pub fn gather<'a>(lines: &'a [Line], ids: &'a [String]) -> Seen<'a> {
    let mut seen = Seen::default();
    for line in lines {
        if let Line::Launch(launch) = line {
            seen.launches.entry(&launch.block).or_default().push(launch);
        }
    }
    let counts: BTreeSet<(&str, u32)> = seen
        .launches
        .values()
        .flatten()
        .filter(|launch| !launch.heap)
        .filter(|launch| launch.complete || launch.turns >= TURNS_TO_COUNT)
        .map(|launch| (launch.block.as_str(), launch.launch))
        .collect();
    let heap: BTreeSet<(&str, u32)> = seen
        .launches
        .values()
        .flatten()
        .filter(|launch| launch.heap && launch.complete)
        .map(|launch| (launch.block.as_str(), launch.launch))
        .collect();
    for (line, id) in lines.iter().zip(ids) {
        match line {
            Line::Sample(taken) if counts.contains(&(taken.block.as_str(), taken.launch)) => {
                let condition = seen.conditions.entry(&taken.condition).or_default();
                condition
                    .launches
                    .entry(taken.launch)
                    .or_default()
                    .push(&taken.sample);
            }
            Line::Sample(_) => seen.set_aside += 1,
            // How a child ended in a launch that was interrupted says nothing.
            Line::Trial(trial) if counts.contains(&(trial.block.as_str(), trial.launch)) => {
                seen.conditions.entry(id).or_default().trials.push(trial);
            }
            Line::Trial(trial) if heap.contains(&(trial.block.as_str(), trial.launch)) => {
                seen.conditions.entry(id).or_default().counted.push(trial);
            }
            Line::Refused(refused) => {
                seen.conditions.entry(id).or_default().refused = Some(refused);
            }
            Line::Trial(_) | Line::SessionBegan(_) | Line::Launch(_) | Line::SessionEnded(_) => {}
        }
    }
    seen
}
