//! The summary: every figure of a record, from which all views are rendered.

use std::collections::BTreeMap;

use corolab_lab::condition::{Params, Settings};
use corolab_lab::contender::{Family, Profile};
use corolab_lab::sample::Status;
use corolab_lab::workload::Layer;
use serde::Serialize;

/// The schema that this program writes.
pub const SCHEMA: &str = "corolab/summary/1";

/// Facts of the host by name; "unknown" where undeterminable.
pub type Host = BTreeMap<String, serde_json::Value>;

/// Everything that the views show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The command that measured.
    pub command: String,
    /// The host that measured.
    pub host: Host,
    /// Wall time of measuring, all sessions, s.
    pub wall_s: f64,
    /// When the first session began (RFC 3339, UTC).
    pub began: String,
    /// Version of corolab, revision, compiler.
    pub build: BTreeMap<String, String>,
    /// Contenders and their versions.
    pub contenders: Vec<Profile>,
    /// What is equal within each block, in the plan's order.
    pub blocks: Vec<BlockInfo>,
    /// What the instrument itself reads; `None` where no child got ready.
    pub instrument: Option<Instrument>,
    /// One row for each condition and metric.
    pub rows: Vec<Row>,
    /// Ratios of rows of one block.
    pub ratios: Vec<Ratio>,
    /// What the rows say of published claims.
    pub claims: Vec<Claim>,
    /// What a reader should know before trusting a row.
    pub warnings: Vec<String>,
}

/// What the instrument itself reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Instrument {
    /// An empty batch (start, then stop), median over all children, ns.
    pub empty_ns: f64,
    /// What that comes to for an operation of the sample with the fewest
    /// operations for its length, ns: the most that the stopwatch adds to a row
    /// whose operation is shorter than 100 ns.
    pub added_ns_per_op: f64,
    /// Smallest step of the clock, largest over all children, ns.
    pub tick_ns: f64,
    /// A cycle of the CPU, median over all children, ns; `None` where no child
    /// could tell.
    pub cycle_ns: Option<f64>,
}

/// What is equal within a block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockInfo {
    /// Id of the block.
    pub id: String,
    /// Name of the workload.
    pub workload: String,
    /// Layer within which it is compared.
    pub layer: Layer,
    /// The block's parameters that ids show, as in `live=1000`.
    pub params: String,
    /// Workers, CPUs, stack bytes, seed.
    pub settings: Settings,
    /// "baton" or "alternating".
    pub paired: &'static str,
}

/// One figure of one condition, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `workload/contender/key=value,…:metric`.
    pub id: String,
    /// Id of the block.
    pub block: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the contender.
    pub contender: String,
    /// Its family.
    pub family: Family,
    /// The layer.
    pub layer: Layer,
    /// Parameters that ids show.
    pub params: Params,
    /// As in the design's list of metrics.
    pub metric: &'static str,
    /// "ns", "ops/s".
    pub unit: &'static str,
    /// "lower" or "higher".
    pub better: &'static str,
    /// The figure, with its interval and quiet floor; `None` unless `ok`.
    #[serde(flatten)]
    pub figure: Option<Figure>,
    /// How it ended.
    pub status: Status,
    /// Why, unless `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to know about this row.
    pub notes: Vec<String>,
}

/// An estimate with its interval between launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Median of the launches' medians.
    pub estimate: f64,
    /// Low end of the interval, from order statistics of the launches.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// The quiet floor: lowest decile of all samples (highest for a rate).
    pub floor: f64,
    /// Launches.
    pub launches: u32,
    /// Samples.
    pub samples: u32,
}

/// Two rows of one block, paired by turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Row id of the numerator.
    pub a: String,
    /// Row id of the denominator.
    pub b: String,
    /// Median over launches of the median over turns of a ÷ b.
    pub ratio: f64,
    /// Low end of its interval.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// Launches in which both have samples.
    pub launches: u32,
    /// "baton" or "alternating".
    pub paired: &'static str,
    /// "a lower", "b lower" or "tie".
    pub verdict: &'static str,
}

/// What our rows say of a published claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// As in the list of claims.
    pub id: &'static str,
    /// The statement, in our words.
    pub statement: &'static str,
    /// The published figure.
    pub published: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// "reproduced", "partly", "not reproduced", "not measurable here".
    pub verdict: &'static str,
    /// Our figure beside it.
    pub measured: String,
    /// Rows that the verdict was computed from.
    pub rows: Vec<String>,
    /// The rule and how it came out.
    pub why: String,
}
