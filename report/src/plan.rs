//! The plan: which blocks, which conditions, in which order. Pure.

use std::collections::BTreeSet;

use corolab_lab::condition::{Condition, Params, Settings};
use corolab_lab::contender::{Family, Profile};
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::workload::{self, Parts, Scale, Workload};
use regex::Regex;

use crate::cli::Shard;
use crate::estimate::Estimate;
use crate::record::line::Refused;
use crate::record::manifest::{Block, Paired, Plan};

/// Launches that every condition gets at the least.
pub const FEWEST_LAUNCHES: u32 = 5;
/// Length of a sample of the full plan, ns.
pub const SAMPLE_NS: u64 = 3_000_000;
/// Length of a sample of the quick plan, ns: the shortest that the method was
/// tried with.
const QUICK_SAMPLE_NS: u64 = 2_000_000;
/// Turns that a launch keeps when the budget is short.
pub const FEWEST_TURNS: u32 = 5;

/// Time that the quick plan has for making one condition's tasks, ns.
const LONGEST_MAKING_NS: u64 = 1_000_000_000;

/// What a plan is made from.
pub struct Wish<'a> {
    /// How much of the grid.
    pub scale: Scale,
    /// Only conditions whose id, or the id of whose block or row, matches.
    pub filter: Option<Regex>,
    /// No condition of which one of these ids matches.
    pub filter_not: Option<Regex>,
    /// Only contenders whose name matches.
    pub engine: Option<Regex>,
    /// One worker count instead of the grid's.
    pub workers: Option<u64>,
    /// A share of the blocks.
    pub shard: Option<Shard>,
    /// Launches, if not the scale's.
    pub launches: Option<u32>,
    /// Time for all measuring, ns, if not the scale's.
    pub budget_ns: Option<u64>,
    /// Seed of every shuffled order.
    pub seed: u64,
    /// Everybody who could be measured, the control first.
    pub profiles: &'a [Profile],
    /// Whether a pair is refused before anything runs.
    pub admits: &'a dyn Fn(&Condition) -> Result<(), Refusal>,
    /// CPUs of this process.
    pub cpus: &'a [u32],
    /// Bytes that can be had; `None` where unknown.
    pub memory: Option<u64>,
    /// The limit on mappings; `None` where unknown.
    pub max_map_count: Option<u64>,
}

/// A plan, and what it refuses before anything runs.
pub struct Planned {
    /// What is measured.
    pub plan: Plan,
    /// What is not, with reasons.
    pub refused: Vec<Refused>,
}

/// Makes the plan.
pub fn plan(wish: &Wish<'_>) -> Planned {
    let (launches, turns, sample_ns, budget_ns) = match wish.scale {
        Scale::Smoke => (1, 2, 500_000, None),
        Scale::Quick => (FEWEST_LAUNCHES, 7, QUICK_SAMPLE_NS, Some(82_000_000_000)),
        Scale::Full => (12, 20, SAMPLE_NS, None),
    };
    let mut plan = Plan {
        scale: wish.scale,
        seed: wish.seed,
        launches: wish.launches.unwrap_or(launches),
        turns,
        sample_ns,
        budget_ns: wish.budget_ns.or(budget_ns),
        blocks: Vec::new(),
    };
    let mut refused = Vec::new();
    let mut seen = 0;
    for workload in workload::ALL {
        for params in grid(workload, wish) {
            let mut block = Block {
                id: id_of(workload, &params),
                workload: workload.name.to_owned(),
                settings: settings(workload, &params, wish),
                conditions: Vec::new(),
                paired: Paired::Baton,
                memory: 0,
            };
            let mut refusals = Vec::new();
            fill(workload, &params, wish, &mut block, &mut refusals);
            if block.conditions.is_empty() && refusals.is_empty() {
                continue;
            }
            seen += 1;
            if wish
                .shard
                .is_some_and(|shard| seen % shard.of != shard.index % shard.of)
            {
                continue;
            }
            refused.append(&mut refusals);
            if !block.conditions.is_empty() {
                plan.blocks.push(block);
            }
        }
    }
    Planned { plan, refused }
}

/// Blocks of a workload, at the wished worker count if there is one.
fn grid(workload: &Workload, wish: &Wish<'_>) -> Vec<Params> {
    let mut blocks = Vec::new();
    let mut all = (workload.grid)(wish.scale);
    if wish.scale == Scale::Quick && wish.filter.is_some() {
        all.extend((workload.more)());
    }
    for params in all {
        let params = match wish.workers {
            Some(workers) if params.get("workers").is_some() => params.with("workers", workers),
            _ => params,
        };
        if !blocks.contains(&params) {
            blocks.push(params);
        }
    }
    blocks
}

/// Workload and block parameters, as in `switch/live=1000`.
fn id_of(workload: &Workload, params: &Params) -> String {
    let condition = Condition {
        workload: workload.name.to_owned(),
        contender: String::new(),
        params: workload.complete(params, &[]),
    };
    let told = condition
        .told()
        .iter()
        .fold(Params::new(), |told, (key, value)| {
            let blocks = workload
                .params
                .iter()
                .any(|p| p.key == key && p.parts == Parts::Blocks);
            if blocks {
                told.with(key, value.clone())
            } else {
                told
            }
        });
    format!("{}/{told}", workload.name)
}

fn settings(workload: &Workload, params: &Params, wish: &Wish<'_>) -> Settings {
    let params = workload.complete(params, &[]);
    // Threads of a workload without a scheduler take CPUs as workers do.
    let threads = params
        .number("workers")
        .or_else(|| params.number("threads"));
    let workers = threads.unwrap_or(1);
    let cpus = match wish.cpus {
        [] => Vec::new(),
        // One worker gets the last CPU, since interrupts tend to the first.
        cpus if workers == 1 => cpus[cpus.len() - 1..].to_vec(),
        cpus => cpus[..cpus.len().min(workers as usize)].to_vec(),
    };
    let stack = params.number("stack").unwrap_or(workload::STACK);
    Settings {
        workers,
        cpus,
        stack,
        seed: wish.seed,
    }
}

/// Puts each contender in each way into the block, or among the refused.
fn fill(
    workload: &Workload,
    params: &Params,
    wish: &Wish<'_>,
    block: &mut Block,
    refused: &mut Vec<Refused>,
) {
    let estimate = Estimate {
        profiles: wish.profiles,
        max_map_count: wish.max_map_count,
    };
    let mut needs = Vec::new();
    for profile in wish.profiles {
        for way in (workload.ways)(params) {
            let condition = Condition {
                workload: workload.name.to_owned(),
                contender: profile.name.clone(),
                params: workload.complete(params, way),
            };
            if !wanted(&condition, &block.id, profile, wish) {
                continue;
            }
            let room = estimate.room(&condition);
            let need = workload.memory(&condition.params, profile.family, room);
            let admitted = (wish.admits)(&condition)
                .and_then(|()| fits(need, wish.memory))
                .and_then(|()| in_time(estimate.making_ns(&condition), wish.scale));
            match admitted {
                Ok(()) => {
                    needs.push(need);
                    block.conditions.push(condition);
                }
                Err(Refusal { status, reason }) => {
                    refused.push(Refused {
                        block: block.id.clone(),
                        condition,
                        status,
                        reason,
                    });
                }
            }
        }
    }
    let together: u64 = needs.iter().sum();
    block.memory = together;
    if fits(together, wish.memory).is_err() {
        block.paired = Paired::Alternating;
        block.memory = needs.iter().copied().max().unwrap_or(0);
    }
}

fn wanted(condition: &Condition, block: &str, profile: &Profile, wish: &Wish<'_>) -> bool {
    let (id, row) = (condition.id(), condition.row_id("time_per_op"));
    let matches = |regex: &Regex| [block, &id, &row].iter().any(|name| regex.is_match(name));
    wish.filter.as_ref().is_none_or(matches)
        && !wish.filter_not.as_ref().is_some_and(matches)
        && wish.engine.as_ref().is_none_or(|engine| {
            profile.family == Family::Control || engine.is_match(&profile.name)
        })
}

/// Refuses, in the quick plan, what takes longer to make than all its turns.
fn in_time(making_ns: u64, scale: Scale) -> Result<(), Refusal> {
    if scale == Scale::Quick && making_ns > LONGEST_MAKING_NS {
        return Err(Refusal::infeasible(format!(
            "making its tasks takes about {:.1} s a launch, and the quick plan has {:.0} s for \
             that: --full measures it",
            making_ns as f64 / 1e9,
            LONGEST_MAKING_NS as f64 / 1e9
        )));
    }
    Ok(())
}

/// Refuses what needs more than 60% of the memory that can be had.
fn fits(need: u64, memory: Option<u64>) -> Result<(), Refusal> {
    match memory {
        Some(available) if need > available / 5 * 3 => Err(Refusal::new(
            Status::Infeasible,
            format!(
                "needs about {} MiB; 60% of the {} MiB available is the most that is taken",
                need >> 20,
                available >> 20
            ),
        )),
        _ => Ok(()),
    }
}

/// Blocks whose workers have to share CPUs, in sentences: their figures say
/// how well a scheduler shares, not how well it spreads.
pub fn crowded(plan: &Plan) -> Vec<String> {
    let workers_and_cpus = plan
        .blocks
        .iter()
        .map(|block| (block.settings.workers, block.settings.cpus.len()));
    let crowded = workers_and_cpus.filter(|(workers, cpus)| *cpus > 0 && *workers > *cpus as u64);
    let crowded: BTreeSet<(u64, usize)> = crowded.collect();
    let sentence = |(workers, cpus)| format!("{workers} workers share {cpus} allowed CPUs");
    crowded.into_iter().map(sentence).collect()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
