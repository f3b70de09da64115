//! The lines of `samples.jsonl`: everything that was seen, in the order in
//! which it was seen. The file is only ever appended to.

use corolab_lab::condition::Condition;
use corolab_lab::sample::{Counted, Sample, Status};
use corolab_lab::stopwatch::Calibration;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A run began, or was taken up again.
    SessionBegan(SessionBegan),
    /// The plan refused a condition before anything ran.
    Refused(Refused),
    /// One sample of one child.
    Sample(Taken),
    /// A child has ended, well or not.
    Trial(Box<Trial>),
    /// A launch of a block has ended.
    Launch(Launch),
    /// A run ended, or was interrupted.
    SessionEnded(SessionEnded),
}

/// A run began, or was taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionBegan {
    /// Number of the session within the record, from 1.
    pub session: u32,
    /// When, in UTC (RFC 3339).
    pub at: String,
    /// SHA-256 of the binary that measures.
    pub binary: String,
}

/// The plan refused a condition before anything ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// Id of the block.
    pub block: String,
    /// What was refused.
    pub condition: Condition,
    /// Never `ok`.
    pub status: Status,
    /// Why, in a sentence.
    pub reason: String,
}

/// One sample of one child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Id of the block.
    pub block: String,
    /// Number of the launch within the block, from 0. A launch that was cut
    /// short and done again has a number of its own each time.
    pub launch: u32,
    /// Id of the condition.
    pub condition: String,
    /// Place within the turn's order, from 0.
    pub place: u32,
    /// What the child measured.
    #[serde(flatten)]
    pub sample: Sample,
}

/// A child has ended, well or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Id of the block.
    pub block: String,
    /// Number of the launch within the block.
    pub launch: u32,
    /// What the child measured.
    pub condition: Condition,
    /// How it ended.
    pub status: Status,
    /// Why, unless `ok`: one sentence with number, limit and way out.
    pub reason: Option<String>,
    /// What the instrument reads in this child; `None` if it never got ready.
    pub calibration: Option<Calibration>,
    /// CPUs that the child read back as its own.
    pub cpus: Vec<u32>,
    /// What the contender wants its rows to say.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Threads of the child once its tasks stood; `None` where unreadable.
    pub threads: Option<u64>,
    /// Its memory before and while its tasks stood still, where the workload
    /// is about that.
    #[serde(default)]
    pub memory: Option<Memory>,
    /// What one batch asked of the heap, in a trial of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// Time from its start until its tasks stood, ns.
    pub made_ns: Option<u64>,
    /// CPU time that it used while another child held the baton, ns.
    pub outside_cpu_ns: u64,
    /// Wall time for which that was measured, ns.
    pub outside_wall_ns: u64,
    /// Whether its group was stopped outside its turns, because it would not
    /// rest by itself.
    pub stilled: bool,
}

/// What a child occupied, in bytes and mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Resident memory.
    pub rss: u64,
    /// The child's share of it.
    pub pss: u64,
    /// Page tables.
    pub page_tables: u64,
    /// Mappings.
    pub maps: u64,
}

/// A child's memory, read from outside while it stood still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Before its tasks were made.
    pub before: Option<Reading>,
    /// While they waited.
    pub standing: Option<Reading>,
    /// Why a reading is missing.
    pub reason: Option<String>,
    /// How long the second reading took, ns.
    pub took_ns: u64,
}

/// A launch of a block has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Id of the block.
    pub block: String,
    /// Number of the launch within the block.
    pub launch: u32,
    /// Session that did it.
    pub session: u32,
    /// Whether its children counted what they ask of the heap, and no time.
    #[serde(default)]
    pub heap: bool,
    /// Turns that every living child finished.
    pub turns: u32,
    /// Whether it ran to its planned end (or to its share of the budget); a
    /// launch that was interrupted is not complete.
    pub complete: bool,
    /// Wall time of the launch, ns.
    pub wall_ns: u64,
    /// CPU time stolen by the hypervisor meanwhile, as a share of the CPU time
    /// of the whole machine; `None` where the kernel does not say.
    pub steal: Option<f64>,
}

/// A run ended, or was interrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionEnded {
    /// Number of the session.
    pub session: u32,
    /// Wall time of measuring, s.
    pub wall_s: f64,
    /// Whether a signal ended it.
    pub interrupted: bool,
}
