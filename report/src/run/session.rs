//! A session: the launches of a plan, one after the other, within the budget.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::Result;
use corolab_lab::sample::Status;
use corolab_lab::stopwatch::nanos;

use super::baton::{self, Sink};
use super::interrupt::interrupted;
use super::program::Cast;
use super::progress::{Loudness, Progress};
use crate::estimate::Estimate;
use crate::host::{Roots, Ticks};
use crate::plan;
use crate::record::Writer;
use crate::record::line::{Launch, Line, SessionEnded};
use crate::record::manifest::{Block, Plan};

/// What a session goes by, besides the plan.
pub struct Session<'a> {
    /// Its number within the record, from 1.
    pub number: u32,
    /// The plan.
    pub plan: &'a Plan,
    /// Who runs what.
    pub cast: &'a Cast,
    /// Silence that a child is allowed.
    pub patience: Duration,
    /// What the record holds already.
    pub standing: Standing,
    /// How loud.
    pub loudness: Loudness,
    /// How long things take, until they have shown it.
    pub estimate: Estimate<'a>,
}

/// What a record holds already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Launches that are whole, by block.
    pub whole: BTreeMap<String, u32>,
    /// Blocks whose launch that counts the heap is whole.
    pub counted: BTreeSet<String>,
    /// The number that a block's next launch gets.
    pub next: BTreeMap<String, u32>,
    /// Ids of conditions that have no figure any more, since one of their
    /// children failed: another launch would cost time and change nothing.
    pub lost: BTreeSet<String>,
}

impl Standing {
    /// Takes a line of the record into account.
    pub fn see(&mut self, line: &Line) {
        match line {
            Line::Sample(taken) => self.number(&taken.block, taken.launch),
            Line::Trial(trial) => {
                self.number(&trial.block, trial.launch);
                if trial.status != Status::Ok {
                    self.lost.insert(trial.condition.id());
                }
            }
            Line::Launch(launch) => {
                self.number(&launch.block, launch.launch);
                if launch.complete && launch.heap {
                    self.counted.insert(launch.block.clone());
                } else if launch.complete {
                    *self.whole.entry(launch.block.clone()).or_insert(0) += 1;
                }
            }
            Line::SessionBegan(_) | Line::Refused(_) | Line::SessionEnded(_) => {}
        }
    }

    fn number(&mut self, block: &str, launch: u32) {
        let next = self.next.entry(block.to_owned()).or_insert(0);
        *next = (*next).max(launch + 1);
    }
}

/// A launch to be done: its round, or none where it counts the heap.
#[derive(Clone, Copy)]
struct Step<'a> {
    round: Option<u32>,
    block: &'a Block,
}

/// Lines of one launch, kept until it has ended.
#[derive(Default)]
struct Kept {
    lines: Vec<Line>,
    printed: Vec<(String, Vec<u8>)>,
}

impl Sink for Kept {
    fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    fn printed(&mut self, name: &str, text: &[u8]) {
        self.printed.push((name.to_owned(), text.to_vec()));
    }
}

impl<'a> Session<'a> {
    /// Measures, and writes down what it sees after every launch.
    ///
    /// # Errors
    /// The record cannot be written to; a child never is an error here.
    pub fn run(&mut self, writer: &mut Writer) -> Result<SessionEnded> {
        let began = Instant::now();
        let mut left = self.left();
        let mut progress = Progress::new(self.loudness, left.len());
        let mut expected: BTreeMap<(&str, bool), u64> = BTreeMap::new();
        let plan = self.plan;
        for block in &plan.blocks {
            for heap in [false, true] {
                let turns = if heap { 1 } else { plan.turns };
                let lasts = self.estimate.launch_ns(block, plan, turns);
                expected.insert((&block.id, heap), lasts);
            }
        }
        left.reverse();
        while let Some(step) = left.pop() {
            let (block, heap) = (step.block, step.round.is_none());
            if interrupted() {
                break;
            }
            let of = |step: &Step<'a>| (step.block.id.as_str(), step.round.is_none());
            let rest: u64 = left.iter().map(|step| expected[&of(step)]).sum();
            let own = expected[&of(&step)];
            let until = self.share(began, own, rest);
            let lost = self.standing.lost.len();
            let took = self.launch(step, until, writer)?;
            // What a launch took says better than any guess what the next will,
            // unless it has lost somebody who will not be there again.
            let known = if self.standing.lost.len() > lost {
                self.estimate
                    .launch_ns(&self.remaining(block), plan, plan.turns)
            } else {
                nanos(took)
            };
            expected.insert((&block.id, heap), known);
            let rest: u64 = left.iter().map(|step| expected[&of(step)]).sum();
            progress.step(&block.id, Duration::from_nanos(rest));
        }
        progress.finish();
        let ended = SessionEnded {
            session: self.number,
            wall_s: began.elapsed().as_secs_f64(),
            interrupted: interrupted(),
        };
        writer.append(&[Line::SessionEnded(ended.clone())])?;
        Ok(ended)
    }

    /// Launches that are still to be done, launch 0 of every block first; those
    /// that count the heap last.
    fn left(&self) -> Vec<Step<'a>> {
        let plan = self.plan;
        let rounds = (0..plan.launches).map(Some).chain([None]);
        let all = rounds.flat_map(|round| {
            let step = move |block| Step { round, block };
            plan.blocks.iter().map(step)
        });
        let whole = |id: &str| self.standing.whole.get(id).copied().unwrap_or(0);
        all.filter(|step| match step.round {
            Some(round) => round >= whole(&step.block.id),
            None => step.block.counts_heap() && !self.standing.counted.contains(&step.block.id),
        })
        .collect()
    }

    /// A block without the conditions that are lost.
    fn remaining(&self, block: &Block) -> Block {
        let mut block = block.clone();
        block
            .conditions
            .retain(|condition| !self.standing.lost.contains(&condition.id()));
        block
    }

    /// When a launch has used its share of what the budget has left.
    fn share(&self, began: Instant, own: u64, rest: u64) -> Option<Instant> {
        let budget = Duration::from_nanos(self.plan.budget_ns?);
        let left = budget.saturating_sub(began.elapsed());
        let share = own as f64 / (own + rest).max(1) as f64;
        Some(Instant::now() + left.mul_f64(share))
    }

    fn launch(
        &mut self,
        step: Step<'_>,
        until: Option<Instant>,
        writer: &mut Writer,
    ) -> Result<Duration> {
        let Step { round, block } = step;
        let number = self.standing.next.get(&block.id).copied().unwrap_or(0);
        let left = self.remaining(block);
        let launch = baton::Launch {
            block: &left,
            number,
            turns: self.plan.turns,
            fewest_turns: plan::FEWEST_TURNS.min(self.plan.turns),
            until,
            sample_ns: self.plan.sample_ns,
            patience: self.patience,
            cast: self.cast,
            estimate: self.estimate,
            heap: round.is_none(),
            names: None,
        };
        let mut rng = fastrand::Rng::with_seed(seed_of(
            self.plan.seed,
            &block.id,
            round.unwrap_or(u32::MAX),
        ));
        let roots = Roots::default();
        let (before, began) = (roots.ticks(), Instant::now());
        let mut kept = Kept::default();
        let done = baton::launch(&launch, &mut rng, &mut kept);
        let took = began.elapsed();
        kept.lines.push(Line::Launch(Launch {
            block: block.id.clone(),
            launch: number,
            session: self.number,
            heap: round.is_none(),
            turns: done.turns,
            complete: !interrupted(),
            wall_ns: nanos(took),
            steal: steal(before, roots.ticks()),
        }));
        kept.lines.iter().for_each(|line| self.standing.see(line));
        writer.append(&kept.lines)?;
        for (name, text) in &kept.printed {
            writer.keep_log(name, text)?;
        }
        Ok(took)
    }
}

/// Share of the machine's CPU time that the hypervisor took in between.
fn steal(before: Option<Ticks>, after: Option<Ticks>) -> Option<f64> {
    let (before, after) = (before?, after?);
    let all = after.all.checked_sub(before.all).filter(|all| *all > 0)?;
    Some(after.steal.saturating_sub(before.steal) as f64 / all as f64)
}

/// A seed for a launch's order and padding: of the plan's seed, the block and
/// the round alone, so that a plan can be repeated.
fn seed_of(seed: u64, block: &str, round: u32) -> u64 {
    // FNV-1a: small, and the same on every machine and in every version.
    let bytes = block.bytes().chain(round.to_le_bytes());
    bytes.fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_the_time_between() {
        let at = |steal, all| Some(Ticks { steal, all });
        assert_eq!(steal(at(10, 1_000), at(20, 1_100)), Some(0.1));
        assert_eq!(
            steal(at(10, 1_000), at(10, 1_000)),
            None,
            "no time has passed"
        );
        assert_eq!(steal(None, at(1, 1)), None);
    }

    #[test]
    fn a_condition_that_failed_is_not_launched_again() {
        let mut standing = Standing::default();
        let mut trial = crate::record::tests::trial("switch/live=1", 0);
        standing.see(&Line::Trial(Box::new(trial.clone())));
        assert!(standing.lost.is_empty());
        trial.status = Status::TimedOut;
        standing.see(&Line::Trial(Box::new(trial.clone())));
        assert!(standing.lost.contains(&trial.condition.id()));
        assert_eq!(standing.next["switch/live=1"], 1);
    }

    #[test]
    fn a_launch_that_counts_the_heap_is_none_of_the_others() {
        let mut standing = Standing::default();
        let line = |launch, heap, complete| {
            Line::Launch(Launch {
                block: "foreign/callee=noop".to_owned(),
                launch,
                session: 1,
                heap,
                turns: 1,
                complete,
                wall_ns: 1,
                steal: None,
            })
        };
        standing.see(&line(0, false, true));
        standing.see(&line(1, true, false));
        assert!(standing.counted.is_empty(), "interrupted: it is done again");
        standing.see(&line(2, true, true));
        assert_eq!(standing.whole["foreign/callee=noop"], 1);
        assert!(standing.counted.contains("foreign/callee=noop"));
        assert_eq!(standing.next["foreign/callee=noop"], 3);
    }

    #[test]
    fn a_seed_belongs_to_one_launch() {
        assert_eq!(
            seed_of(1, "switch/live=1", 0),
            seed_of(1, "switch/live=1", 0)
        );
        assert_ne!(
            seed_of(1, "switch/live=1", 0),
            seed_of(1, "switch/live=1", 1)
        );
        assert_ne!(
            seed_of(1, "switch/live=1", 0),
            seed_of(2, "switch/live=1", 0)
        );
        assert_ne!(
            seed_of(1, "switch/live=1", 0),
            seed_of(1, "switch/live=10", 0)
        );
    }
}
