//! `manifest.json`: what was to be measured, by which program.

use corolab_lab::condition::{Condition, Settings};
use corolab_lab::contender::Profile;
use corolab_lab::workload::{self, Scale};
use serde::{Deserialize, Serialize};

/// The schema that this program writes and reads.
pub const SCHEMA: &str = "corolab/manifest/1";

/// What was to be measured, by which program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// The command line, as a shell would take it.
    pub command: String,
    /// What was to be measured.
    pub plan: Plan,
    /// Contenders, built in and brought along.
    pub contenders: Vec<Profile>,
    /// SHA-256 of the binary.
    pub binary: String,
    /// Git revision of the source, or "unknown".
    pub revision: String,
    /// Whether the source differed from it; `None` where unknown.
    pub dirty: Option<bool>,
    /// Version of the compiler, or "unknown".
    pub rustc: String,
    /// Build profile: "release" or "debug".
    pub profile: String,
    /// Name and version of every package in the lock file.
    pub locked: Vec<(String, String)>,
}

/// What is measured, in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How much of the grid.
    pub scale: Scale,
    /// Seed of every shuffled order.
    pub seed: u64,
    /// Launches of each block.
    pub launches: u32,
    /// Turns of each launch, at most.
    pub turns: u32,
    /// Length of a sample, ns.
    pub sample_ns: u64,
    /// Time for the whole run, ns; `None` for no limit.
    pub budget_ns: Option<u64>,
    /// Blocks in the order in which they are measured.
    pub blocks: Vec<Block>,
}

/// One workload and parameters, with all contenders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Workload and block parameters, as in `switch/live=1000`.
    pub id: String,
    /// Name of the workload.
    pub workload: String,
    /// What is equal for every contender.
    pub settings: Settings,
    /// What is measured.
    pub conditions: Vec<Condition>,
    /// How it is paired.
    pub paired: Paired,
    /// Bytes that its children need together, roughly.
    pub memory: u64,
}

impl Block {
    /// Nanoseconds that the one batch of its children lasts which is neither
    /// warmed nor repeated; `None` where they take samples by turns.
    pub fn once(&self) -> Option<u64> {
        let workload = workload::find(&self.workload)?;
        (workload.once)(&self.conditions.first()?.params)
    }

    /// Whether what its batches ask of the heap is counted in a launch of its
    /// own.
    pub fn counts_heap(&self) -> bool {
        workload::find(&self.workload).is_some_and(|workload| workload.heap)
            && self.once().is_none()
    }
}

/// How the children of a block are brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paired {
    /// All alive together; the parent passes the baton.
    Baton,
    /// One after the other, whole trials in alternation: they do not fit
    /// together.
    Alternating,
}
