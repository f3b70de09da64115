//! `spawn`: what starting a task and joining it costs.

use super::{Layer, Param, STACK_PARAM, Scale, Usual, WORKERS_PARAM, Workload};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::sample::Refusal;

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "spawn",
    layer: Layer::Scheduled,
    what: "A task spawns `batch` tasks, then joins them in the order in which it spawned them; \
           each gives its number back and suspends nowhere.",
    op: "one task: spawn, run, end, join",
    timed: "all batches of a sample, one after the other",
    untimed: "starting the task that spawns",
    answer: "the numbers of all tasks add up to the closed form",
    params: &[
        Param::block(
            "batch",
            "tasks spawned before the first is joined",
            Usual::None,
        ),
        WORKERS_PARAM,
        STACK_PARAM,
    ],
    grid,
    more: super::no_more,
    ways: |_| &[&[]],
    tasks: |params| params.number("batch").unwrap_or(0),
    state: |_| 128,
    once: super::by_turns,
    heap: false,
};

fn grid(scale: Scale) -> Vec<Params> {
    let (batches, workers): (&[u64], &[u64]) = match scale {
        Scale::Smoke => (&[100], &[1]),
        Scale::Quick => (&[1_000], &[1, 2]),
        Scale::Full => (&[1, 100, 1_000], &[1, 2]),
    };
    let mut grid = Vec::new();
    for workers in workers {
        for batch in batches {
            grid.push(
                Params::new()
                    .with("batch", *batch)
                    .with("workers", *workers),
            );
        }
    }
    grid
}

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Tasks spawned before the first is joined.
    pub batch: u64,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// An empty batch.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let batch = assignment.condition.params.number("batch").unwrap_or(0);
        if batch == 0 {
            return Err(Refusal::not_applicable(
                "batch is 0: there is nothing to spawn",
            ));
        }
        Ok(Case { batch })
    }

    /// The right answer after `rounds` batches: tasks give 1, 2, …, batch.
    pub fn answer(self, rounds: u64) -> u64 {
        rounds * (self.batch * (self.batch + 1) / 2)
    }
}
