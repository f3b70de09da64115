//! `yield`: what giving way to the other tasks of a scheduler costs.

use super::{Layer, Param, STACK_PARAM, Scale, Usual, WORKERS_PARAM, Workload};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::sample::Refusal;

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "yield",
    layer: Layer::Scheduled,
    what: "`tasks` spawned tasks yield again and again, so that each goes to the end of the run queue.",
    op: "one yield of one task",
    timed: "from the opening of the start gate until every task has arrived at the finish",
    untimed: "spawning the tasks, their way to the start gate, their end after the finish, joining them",
    answer: "each task gives its number times the yields it made; they add up to the closed form",
    params: &[
        Param::block("tasks", "tasks that yield", Usual::None),
        Param::way(
            "wake",
            "how a task comes back to the run queue: by the runtime's yield-now, or by waking itself (self-wake)",
            YIELD_NOW,
        ),
        WORKERS_PARAM,
        STACK_PARAM,
    ],
    grid,
    more: super::no_more,
    ways: |_| &[&[("wake", YIELD_NOW)], &[("wake", SELF_WAKE)]],
    tasks: |params| params.number("tasks").unwrap_or(0),
    state: |_| 0,
    once: super::by_turns,
    heap: false,
};

/// The runtime's own call for it.
pub const YIELD_NOW: &str = "yield-now";
/// A task wakes itself and suspends.
pub const SELF_WAKE: &str = "self-wake";

fn grid(scale: Scale) -> Vec<Params> {
    let (tasks, workers): (&[u64], &[u64]) = match scale {
        Scale::Smoke => (&[2], &[1]),
        Scale::Quick => (&[2, 200], &[1, 2]),
        // 40,000 stacks of two mappings each are beyond the usual max_map_count.
        Scale::Full => (&[2, 200, 40_000], &[1, 2]),
    };
    let mut grid = Vec::new();
    for workers in workers {
        for tasks in tasks {
            grid.push(
                Params::new()
                    .with("tasks", *tasks)
                    .with("workers", *workers),
            );
        }
    }
    grid
}

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Tasks that yield.
    pub tasks: u64,
    /// Whether a task wakes itself instead of asking the runtime.
    pub self_wake: bool,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// No task at all, or an unknown way to wake.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let params = &assignment.condition.params;
        let tasks = params.number("tasks").unwrap_or(0);
        if tasks == 0 {
            return Err(Refusal::not_applicable(
                "tasks is 0: there is nobody to yield",
            ));
        }
        let self_wake = match params.word("wake") {
            None | Some(YIELD_NOW) => false,
            Some(SELF_WAKE) => true,
            Some(other) => {
                return Err(Refusal::not_applicable(format!(
                    "wake={other}: the ways are {YIELD_NOW} and {SELF_WAKE}"
                )));
            }
        };
        Ok(Case { tasks, self_wake })
    }

    /// The right answer when each task has yielded `rounds` times: task `i`,
    /// counted from 1, gives `i * rounds`.
    pub fn answer(self, rounds: u64) -> u64 {
        rounds * (self.tasks * (self.tasks + 1) / 2)
    }
}

/// Refuses `wake=self-wake` for contenders with one way to yield.
///
/// # Errors
/// "not offered" for that way.
pub fn one_way_to_yield(params: &Params) -> Result<(), Refusal> {
    match params.word("wake") {
        Some(SELF_WAKE) => Err(Refusal::not_offered(
            "it has one way to yield, which is measured as wake=yield-now",
        )),
        _ => Ok(()),
    }
}
