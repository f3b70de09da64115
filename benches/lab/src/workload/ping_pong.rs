//! `ping_pong`: what waiting for another task's message costs.

use super::{Layer, Param, STACK_PARAM, Scale, Usual, WORKERS_PARAM, Workload};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::sample::Refusal;

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "ping_pong",
    layer: Layer::Scheduled,
    what: "`pairs` pairs of spawned tasks pass a number to and fro over two one-slot channels; \
           the far end answers with the number plus one.",
    op: "one round trip: two messages, two waits",
    timed: "from the opening of the start gate until every task has arrived at the finish",
    untimed: "making the channels, spawning the tasks, their way to the start gate, their end after the finish, joining them",
    answer: "each near end adds up the answers 1, 2, …, rounds",
    params: &[
        Param::block("pairs", "pairs of tasks", Usual::None),
        Param::way(
            "queue",
            "the channel: for many senders (mpsc), or for one sender and one receiver (spsc)",
            MPSC,
        ),
        WORKERS_PARAM,
        STACK_PARAM,
    ],
    grid,
    more: super::no_more,
    ways: |_| &[&[("queue", MPSC)], &[("queue", SPSC)]],
    tasks: |params| 2 * params.number("pairs").unwrap_or(0),
    state: |_| 128,
    once: super::by_turns,
    heap: false,
};

/// A channel for many senders.
pub const MPSC: &str = "mpsc";
/// A channel for one sender and one receiver.
pub const SPSC: &str = "spsc";

fn grid(scale: Scale) -> Vec<Params> {
    let (pairs, workers): (&[u64], &[u64]) = match scale {
        Scale::Smoke => (&[1], &[1]),
        Scale::Quick => (&[1, 100], &[1, 2]),
        Scale::Full => (&[1, 10, 100, 1_000], &[1, 2]),
    };
    let mut grid = Vec::new();
    for workers in workers {
        for pairs in pairs {
            grid.push(
                Params::new()
                    .with("pairs", *pairs)
                    .with("workers", *workers),
            );
        }
    }
    grid
}

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Pairs of tasks.
    pub pairs: u64,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// No pair at all.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let pairs = assignment.condition.params.number("pairs").unwrap_or(0);
        if pairs == 0 {
            return Err(Refusal::not_applicable(
                "pairs is 0: there is nobody to play",
            ));
        }
        Ok(Case { pairs })
    }

    /// The right answer after `rounds` round trips of each pair.
    pub fn answer(self, rounds: u64) -> u64 {
        self.pairs * (rounds * (rounds + 1) / 2)
    }
}

/// Refuses `queue=spsc` for contenders that have no such channel.
///
/// # Errors
/// "not offered" for that way.
pub fn one_kind_of_channel(params: &Params) -> Result<(), Refusal> {
    match params.word("queue") {
        Some(SPSC) => Err(Refusal::not_offered(
            "it has no channel for one sender and one receiver; queue=mpsc is measured",
        )),
        _ => Ok(()),
    }
}
