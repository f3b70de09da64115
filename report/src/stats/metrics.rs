//! The metrics: what each is called, where it comes from, and for which
//! conditions it makes sense. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::heap::Asked;
use corolab_lab::sample::Sample;
use corolab_lab::tails::{HEARTBEAT_GAP, QUEUE_WAIT, STOOD_STILL};
use corolab_lab::workload::{self, Layer, foreign};
use corolab_syscalls::callee;

use crate::record::line::Reading;

/// A figure of a condition.
pub struct Metric {
    /// As in the design's list of metrics.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// "lower" or "higher".
    pub better: &'static str,
    /// Where it comes from.
    pub of: Source,
    /// Whether it makes sense for a condition.
    pub of_it: fn(Layer, &Condition) -> bool,
}

/// Where a figure comes from.
#[derive(Clone, Copy)]
pub enum Source {
    /// Every sample has one.
    Sample(fn(&Sample) -> f64),
    /// A child has one, of its memory and its tasks, where that could be read.
    Trial(fn(&Standing) -> f64),
    /// A child that counted the heap has one, for an operation.
    Heap(fn(Asked) -> u64),
    /// A distribution that samples tell has one: a share of its values lies
    /// below; for 1 it is the largest.
    Tail(&'static str, f64),
}

/// A child's memory before and while its tasks stood.
pub struct Standing {
    /// Before its tasks were made.
    pub before: Reading,
    /// While they waited.
    pub standing: Reading,
    /// How many waited.
    pub tasks: f64,
}

impl Standing {
    /// By how much a figure grew, for each task.
    fn per_task(&self, of: fn(Reading) -> u64) -> f64 {
        (of(self.standing) as f64 - of(self.before) as f64) / self.tasks
    }
}

/// Nanoseconds of an operation.
pub fn time_per_op(sample: &Sample) -> f64 {
    sample.wall_ns as f64 / sample.ops as f64
}

/// The metrics; the first is the one that ratios are taken of.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "time_per_op",
        unit: "ns",
        better: "lower",
        of: Source::Sample(time_per_op),
        of_it: |_, _| true,
    },
    Metric {
        name: "rate",
        unit: "ops/s",
        better: "higher",
        of: Source::Sample(|sample| sample.ops as f64 / (sample.wall_ns.max(1) as f64 / 1e9)),
        of_it: |layer, _| layer != Layer::Footprint,
    },
    Metric {
        name: "cpu_per_op",
        unit: "ns",
        better: "lower",
        of: Source::Sample(|sample| sample.cpu_ns as f64 / sample.ops as f64),
        of_it: |layer, _| matches!(layer, Layer::Scheduled | Layer::Foreign),
    },
    Metric {
        name: "ctx_switches_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| {
            (sample.voluntary + sample.involuntary) as f64 / sample.ops as f64
        }),
        of_it: |layer, _| matches!(layer, Layer::Scheduled | Layer::Foreign),
    },
    Metric {
        name: "voluntary_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| sample.voluntary as f64 / sample.ops as f64),
        of_it: |layer, _| layer == Layer::Foreign,
    },
    Metric {
        name: "involuntary_per_op",
        unit: "switches",
        better: "lower",
        of: Source::Sample(|sample| sample.involuntary as f64 / sample.ops as f64),
        of_it: |layer, _| layer == Layer::Foreign,
    },
    Metric {
        name: "heap_per_op",
        unit: "B",
        better: "lower",
        of: Source::Heap(|asked| asked.bytes),
        of_it: counts_heap,
    },
    Metric {
        name: "allocs_per_op",
        unit: "allocations",
        better: "lower",
        of: Source::Heap(|asked| asked.allocations),
        of_it: counts_heap,
    },
    Metric {
        name: "queue_wait_p50",
        unit: "ns",
        better: "lower",
        of: Source::Tail(QUEUE_WAIT, 0.5),
        of_it: hops,
    },
    Metric {
        name: "queue_wait_p99",
        unit: "ns",
        better: "lower",
        of: Source::Tail(QUEUE_WAIT, 0.99),
        of_it: hops,
    },
    Metric {
        name: "queue_wait_p999",
        unit: "ns",
        better: "lower",
        of: Source::Tail(QUEUE_WAIT, 0.999),
        of_it: hops,
    },
    Metric {
        name: "heartbeat_gap_p99",
        unit: "ns",
        better: "lower",
        of: Source::Tail(HEARTBEAT_GAP, 0.99),
        of_it: is_beside,
    },
    Metric {
        name: "heartbeat_gap_max",
        unit: "ns",
        better: "lower",
        of: Source::Tail(HEARTBEAT_GAP, 1.0),
        of_it: is_beside,
    },
    Metric {
        name: "stood_still",
        unit: "tasks",
        better: "lower",
        of: Source::Tail(STOOD_STILL, 0.5),
        of_it: |layer, condition| is_beside(layer, condition) && blocks(condition),
    },
    Metric {
        name: "resident_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.rss + reading.page_tables)),
        of_it: |layer, _| layer == Layer::Footprint,
    },
    Metric {
        name: "rss_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.rss)),
        of_it: |layer, _| layer == Layer::Footprint,
    },
    Metric {
        name: "pss_per_task",
        unit: "B",
        better: "lower",
        of: Source::Trial(|child| child.per_task(|reading| reading.pss)),
        of_it: |layer, _| layer == Layer::Footprint,
    },
    Metric {
        name: "maps",
        unit: "mappings",
        better: "lower",
        of: Source::Trial(|child| child.standing.maps as f64),
        of_it: |layer, _| layer == Layer::Footprint,
    },
];

fn counts_heap(_: Layer, condition: &Condition) -> bool {
    workload::find(&condition.workload)
        .is_some_and(|workload| workload.heap && (workload.once)(&condition.params).is_none())
}

fn hops(layer: Layer, condition: &Condition) -> bool {
    layer == Layer::Foreign && condition.params.word("route") == Some(foreign::SPAWN_BLOCKING)
}

fn is_beside(layer: Layer, condition: &Condition) -> bool {
    layer == Layer::Foreign && condition.params.word("form") == Some(foreign::BESIDE)
}

fn blocks(condition: &Condition) -> bool {
    let callee = condition.params.word("callee").and_then(callee::find);
    callee.is_some_and(|callee| callee.blocks)
}
