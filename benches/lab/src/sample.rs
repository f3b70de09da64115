//! What a child answers with: samples, and refusals with their reasons.

use serde::{Deserialize, Serialize};

use crate::heap::Asked;
use crate::stopwatch::Stopwatch;
use crate::tails::Tails;

/// How a row of the report ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Measured.
    Ok,
    /// The child crashed, panicked or gave a wrong answer.
    Failed,
    /// The child was killed at its deadline.
    TimedOut,
    /// The machine cannot hold it; the reason names limit and number.
    Infeasible,
    /// The crate does not offer this.
    NotOffered,
    /// The pair makes no sense; known before anything runs.
    NotApplicable,
    /// This kernel or machine refuses what is needed.
    NotSupported,
}

impl Status {
    /// The name that the record and the views use.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::TimedOut => "timed_out",
            Status::Infeasible => "infeasible",
            Status::NotOffered => "not_offered",
            Status::NotApplicable => "not_applicable",
            Status::NotSupported => "not_supported",
        }
    }

    /// Whether a run with such a row ends with exit code 1.
    pub const fn is_failure(self) -> bool {
        matches!(self, Status::Failed | Status::TimedOut)
    }
}

/// Why a condition has no figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {reason}", status.name())]
pub struct Refusal {
    /// Never [`Status::Ok`].
    pub status: Status,
    /// One sentence with the number that decided and the way out.
    pub reason: String,
}

impl Refusal {
    /// A refusal with its reason.
    pub fn new(status: Status, reason: impl Into<String>) -> Self {
        Refusal {
            status,
            reason: reason.into(),
        }
    }

    /// The crate does not offer this.
    pub fn not_offered(reason: impl Into<String>) -> Self {
        Self::new(Status::NotOffered, reason)
    }

    /// The pair makes no sense.
    pub fn not_applicable(reason: impl Into<String>) -> Self {
        Self::new(Status::NotApplicable, reason)
    }

    /// The machine cannot hold it.
    pub fn infeasible(reason: impl Into<String>) -> Self {
        Self::new(Status::Infeasible, reason)
    }

    /// Something went wrong in the child.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::new(Status::Failed, reason)
    }
}

/// What one call of a workload's body gives back: its time and its answer.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Started and stopped in the workload's text.
    pub watch: Stopwatch,
    /// What the tasks computed, to be compared off the clock.
    pub answer: u64,
    /// Distributions that it tells beside.
    pub tails: Tails,
}

impl Batch {
    /// A batch that tells no distribution.
    pub fn new(watch: Stopwatch, answer: u64) -> Self {
        Batch {
            watch,
            answer,
            tails: Tails::default(),
        }
    }

    /// The same batch with these distributions.
    #[must_use]
    pub fn telling(mut self, tails: Tails) -> Self {
        self.tails.merge(tails);
        self
    }

    /// Both as one: one window around both, the sum of their answers, all
    /// values of both.
    #[must_use]
    pub fn beside(self, other: Batch) -> Self {
        let mut both = Batch::new(self.watch.around(other.watch), self.answer + other.answer);
        both.tails = self.tails;
        both.tails.merge(other.tails);
        both
    }
}

/// One timed batch of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of the turn within the launch, from 0.
    pub turn: u32,
    /// Operations in the batch.
    pub ops: u64,
    /// Wall time of the batch, ns.
    pub wall_ns: u64,
    /// CPU time of all threads of the child around the batch, ns; it includes
    /// the batch's untimed making and checking.
    pub cpu_ns: u64,
    /// Voluntary context switches around the batch.
    pub voluntary: u64,
    /// Involuntary context switches around the batch.
    pub involuntary: u64,
    /// Distributions that the batch told.
    #[serde(default, skip_serializing_if = "Tails::is_empty")]
    pub tails: Tails,
}

/// What one batch asked of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Operations in the batch.
    pub ops: u64,
    /// What was asked while the clock ran; `None` where the child's allocator
    /// does not count.
    pub asked: Option<Asked>,
}
