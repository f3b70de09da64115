//! `corolab agree`: holds the instrument against itself.
//!
//! One contender stands under two names in one block, and is measured by the
//! very code that measures different ones. How often the two are called
//! different is the instrument's own error, and the width of the interval is
//! the least difference that it can see.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use corolab_lab::condition::Condition;
use corolab_lab::workload::Scale;

use super::choose::whole_plan;
use super::list::print;
use crate::cli::{Agree, usage};
use crate::estimate::Estimate;
use crate::plan::{FEWEST_TURNS, SAMPLE_NS};
use crate::record::line::Line;
use crate::record::manifest::{Block, Paired};
use crate::run::baton::{self, Sink};
use crate::run::interrupt::{catch_interrupts, interrupted};
use crate::run::program::Cast;
use crate::stats::order::median;
use crate::stats::ratio::{Turns, ratio, verdict};
use crate::tell;

/// Compares each condition with itself.
///
/// # Errors
/// A condition that there is not, or one that cannot be measured.
pub fn agree(options: &Agree) -> Result<ExitCode> {
    let cast = Cast::gather(&[], Duration::from_secs(20))?;
    let blocks: Vec<Block> = options
        .condition
        .iter()
        .map(|id| block_of(id, options, &cast))
        .collect::<Result<_>>()?;
    catch_interrupts()?;
    let mut text = String::new();
    for block in &blocks {
        let id = block.conditions[0].id();
        let outcomes = compare(block, options, &cast)?;
        let _ = writeln!(text, "{}", told(&id, options, &outcomes));
    }
    print(&text)?;
    Ok(ExitCode::from(if interrupted() { 130 } else { 0 }))
}

/// What one comparison gave.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    different: bool,
    half_width: f64,
}

/// A block that holds one condition twice.
fn block_of(id: &str, options: &Agree, cast: &Cast) -> Result<Block> {
    let all = whole_plan(Scale::Full, cast, options.seed)?;
    let found = all.plan.blocks.into_iter().find_map(|block| {
        let condition = block
            .conditions
            .iter()
            .find(|condition| condition.id() == id)?
            .clone();
        Some((block, condition))
    });
    let Some((block, condition)) = found else {
        return Err(usage(format!(
            "there is no condition {id}: `corolab list --full` prints every one"
        )));
    };
    Ok(Block {
        conditions: vec![condition.clone(), condition],
        paired: Paired::Baton,
        ..block
    })
}

fn compare(block: &Block, options: &Agree, cast: &Cast) -> Result<Vec<Outcome>> {
    let profiles = cast.profiles();
    let names: [String; 2] = ["A".into(), "B".into()];
    let mut outcomes = Vec::new();
    let mut rng = fastrand::Rng::with_seed(options.seed);
    let began = Instant::now();
    for comparison in 1..=options.comparisons {
        let mut seen = Seen::default();
        for number in 0..options.launches {
            let launch = baton::Launch {
                block,
                number,
                turns: options.turns,
                fewest_turns: FEWEST_TURNS,
                until: None,
                sample_ns: SAMPLE_NS,
                patience: Duration::from_secs(20),
                cast,
                estimate: Estimate {
                    profiles: &profiles,
                    max_map_count: None,
                },
                heap: false,
                names: Some(&names),
            };
            seen.launches.push(Default::default());
            baton::launch(&launch, &mut rng, &mut seen);
            if interrupted() {
                return Ok(outcomes);
            }
        }
        if let Some((condition, reason)) = seen.failed {
            bail!("{condition} cannot be measured: {reason}");
        }
        let pairs = seen.launches.iter().map(|[a, b]| (a, b));
        if let Some((interval, launches)) = ratio(pairs) {
            outcomes.push(Outcome {
                different: verdict(&interval, interval.estimate, launches) != "tie",
                half_width: (interval.high - interval.low) / 2.0 / interval.estimate,
            });
        }
        tell!(
            "{comparison}/{} of {}, {:.0} s",
            options.comparisons,
            block.id,
            began.elapsed().as_secs_f64()
        );
    }
    Ok(outcomes)
}

/// One line for a condition.
fn told(id: &str, options: &Agree, outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return format!("{id}: no comparison was finished");
    }
    let different = outcomes.iter().filter(|outcome| outcome.different).count();
    let widths: Vec<f64> = outcomes.iter().map(|outcome| outcome.half_width).collect();
    format!(
        "{id} against itself: {different} of {} comparisons called different ({:.1}%), median \
         half-width of the ratio {:.2}% ({} launches of {} turns each)",
        outcomes.len(),
        different as f64 / outcomes.len() as f64 * 100.0,
        median(&widths) * 100.0,
        options.launches,
        options.turns
    )
}

/// Times per operation of both names, by launch.
#[derive(Default)]
struct Seen {
    launches: Vec<[Turns; 2]>,
    failed: Option<(Condition, String)>,
}

impl Sink for Seen {
    fn line(&mut self, line: Line) {
        match line {
            Line::Sample(taken) => {
                let Some(launch) = self.launches.last_mut() else {
                    return;
                };
                let sample = taken.sample;
                let which = usize::from(taken.condition == "B");
                launch[which].insert(sample.turn, sample.wall_ns as f64 / sample.ops as f64);
            }
            Line::Trial(trial) => {
                if let Some(reason) = trial.reason {
                    self.failed = Some((trial.condition, reason));
                }
            }
            _ => {}
        }
    }

    fn printed(&mut self, _: &str, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_states_how_many_and_how_wide() {
        let options = Agree {
            condition: Vec::new(),
            comparisons: 2,
            launches: 8,
            turns: 20,
            seed: 1,
        };
        let outcome = |different, half_width| Outcome {
            different,
            half_width,
        };
        assert_eq!(
            told(
                "x/y/z",
                &options,
                &[outcome(false, 0.01), outcome(true, 0.02)]
            ),
            "x/y/z against itself: 1 of 2 comparisons called different (50.0%), median half-width \
             of the ratio 1.50% (8 launches of 20 turns each)"
        );
    }
}
