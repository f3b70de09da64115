//! A small record of made calls out of a task, for the tests of that leg.

use corolab_lab::condition::{Condition, Params, Settings, Value};
use corolab_lab::contender::{Family, Profile};
use corolab_lab::heap::Asked;
use corolab_lab::sample::{Counted, Sample, Status};
use corolab_lab::tails::{HEARTBEAT_GAP, QUEUE_WAIT, Recorder, STOOD_STILL, Tails};
use corolab_lab::workload::{self, foreign};

use super::fixture;
use crate::record::line::{Launch, Line, Refused, Taken, Trial};
use crate::record::manifest::{Block, Manifest, Paired};
use crate::summary::Summary;

const LAUNCHES: u32 = 5;
const FIBER: &str = "corosensei-on-tokio-current";
const POOLED: &str = "corosensei-pooled";

/// Who takes part, the thread among them.
const CAST: [(&str, Family); 5] = [
    ("call", Family::Control),
    ("os-thread", Family::Kernel),
    (POOLED, Family::Stackful),
    (FIBER, Family::Stackful),
    ("tokio-current", Family::Stackless),
];

/// Block, contender, route, ns a call.
const TIMES: &[(&str, &str, &str, f64)] = &[
    ("callee=noop", "call", "direct", 1.5),
    ("callee=noop", "os-thread", "direct", 1.5),
    ("callee=noop", POOLED, "direct", 1.5),
    ("callee=noop", POOLED, "suspend", 2.5),
    ("callee=noop", FIBER, "direct", 1.5),
    ("callee=noop", FIBER, "parent-stack", 3.0),
    ("callee=noop", FIBER, "spawn-blocking", 9_000.0),
    ("callee=noop", "tokio-current", "direct", 1.5),
    ("callee=noop", "tokio-current", "spawn-blocking", 8_000.0),
    ("callee=getppid", "os-thread", "direct", 100.0),
    ("callee=getppid", "os-thread", "dyn", 101.0),
    ("callee=getppid", FIBER, "direct", 100.0),
    ("callee=getppid", FIBER, "parent-stack", 110.0),
    ("callee=adds16", "os-thread", "direct", 4.0),
    ("callee=adds20", "os-thread", "direct", 5.0),
    ("callee=noop,callers=16,form=beside", FIBER, "direct", 70.0),
    (
        "callee=sleep1ms,callers=16,form=beside",
        FIBER,
        "direct",
        1_100_000.0,
    ),
    (
        "callee=sleep1ms,callers=16,form=beside",
        FIBER,
        "spawn-blocking",
        70_000.0,
    ),
    ("callee=noop,batch=100000000", "os-thread", "direct", 3.0),
    ("callee=noop,batch=100000000", FIBER, "direct", 3.0),
    ("callee=noop,batch=100000000", FIBER, "parent-stack", 18.0),
];

fn params(block: &str, route: &str) -> Params {
    let pairs = block.split(',').filter_map(|pair| pair.split_once('='));
    let block = pairs.fold(Params::new(), |params, (key, value)| {
        let value = value
            .parse()
            .map_or_else(|_| Value::from(value), Value::Number);
        params.with(key, value)
    });
    foreign::WORKLOAD.complete(&block, &[("route", route)])
}

fn condition(block: &str, contender: &str, route: &str) -> Condition {
    Condition {
        workload: "foreign".to_owned(),
        contender: contender.to_owned(),
        params: params(block, route),
    }
}

fn manifest() -> Manifest {
    let mut manifest = fixture::manifest();
    let mut blocks: Vec<Block> = Vec::new();
    for (told, contender, route, _) in TIMES {
        let id = format!("foreign/{told}");
        let condition = condition(told, contender, route);
        match blocks.iter_mut().find(|block| block.id == id) {
            Some(block) => block.conditions.push(condition),
            None => blocks.push(Block {
                id,
                workload: "foreign".to_owned(),
                settings: Settings {
                    workers: 1,
                    cpus: vec![1],
                    stack: workload::STACK,
                    seed: 1,
                },
                conditions: vec![condition],
                paired: Paired::Baton,
                memory: 1 << 20,
            }),
        }
    }
    manifest.plan.blocks = blocks;
    manifest.contenders = CAST
        .map(|(name, family)| Profile {
            name: name.to_owned(),
            family,
            package: name.to_owned(),
            version: "1.2.3".to_owned(),
            about: "Made for tests.".to_owned(),
            prices: None,
            maps_per_task: 0,
            workloads: vec!["foreign".to_owned()],
        })
        .into();
    manifest
}

/// What a condition tells beside its time.
fn tails(condition: &Condition) -> Tails {
    let mut told = Tails::default();
    let mut tell = |name, values: &mut dyn Iterator<Item = u64>| {
        let mut recorder = Recorder::new();
        values.for_each(|value| recorder.record(value));
        told.merge(Tails::of(name, recorder.tail()));
    };
    let params = &condition.params;
    let hops = params.word("route") == Some(foreign::SPAWN_BLOCKING);
    let blocks = params.word("callee") == Some("sleep1ms");
    if hops {
        tell(QUEUE_WAIT, &mut (1..=1_000).map(|at| 10 * at));
    }
    if params.word("form") == Some(foreign::BESIDE) {
        let late = if blocks && !hops {
            18_000_000
        } else {
            2_000_000
        };
        tell(HEARTBEAT_GAP, &mut [1_000_000, late].into_iter());
    }
    if blocks {
        tell(STOOD_STILL, &mut [if hops { 0 } else { 16 }].into_iter());
    }
    told
}

/// Every line; the children of the fiber's hop had no allocator that counts.
fn lines() -> Vec<Line> {
    let mut lines = vec![Line::Refused(Refused {
        block: "foreign/callee=noop".to_owned(),
        condition: condition("callee=noop", "tokio-current", "parent-stack"),
        status: Status::NotApplicable,
        reason: "a future has its thread's stack".to_owned(),
    })];
    for block in manifest().plan.blocks {
        let heap = block.counts_heap().then_some(LAUNCHES);
        for launch in (0..LAUNCHES).chain(heap) {
            let is_heap = Some(launch) == heap;
            for condition in &block.conditions {
                lines.extend(of_child(&block, launch, is_heap, condition));
            }
            lines.push(Line::Launch(Launch {
                block: block.id.clone(),
                launch,
                session: 1,
                heap: is_heap,
                turns: 1,
                complete: true,
                wall_ns: 1_000_000,
                steal: Some(0.0),
            }));
        }
    }
    lines
}

fn of_child(block: &Block, launch: u32, is_heap: bool, condition: &Condition) -> Vec<Line> {
    let told = block.id.trim_start_matches("foreign/");
    let route = condition.params.word("route").unwrap();
    let (.., time) = TIMES
        .iter()
        .find(|(b, c, r, _)| *b == told && *c == condition.contender && *r == route)
        .unwrap();
    let made = fixture::lines().into_iter().find_map(|line| match line {
        Line::Trial(trial) => Some(*trial),
        _ => None,
    });
    let asked =
        (condition.contender != FIBER || route != foreign::SPAWN_BLOCKING).then_some(Asked {
            allocations: 10,
            bytes: 640,
        });
    let trial = Trial {
        block: block.id.clone(),
        launch,
        condition: condition.clone(),
        counted: is_heap.then_some(Counted { ops: 10, asked }),
        ..made.unwrap()
    };
    let ops = 1_000_000;
    let sample = Line::Sample(Taken {
        block: block.id.clone(),
        launch,
        condition: condition.id(),
        place: 0,
        sample: Sample {
            turn: 0,
            ops,
            wall_ns: (time * ops as f64) as u64,
            cpu_ns: 0,
            voluntary: 2 * ops,
            involuntary: ops,
            tails: tails(condition),
        },
    });
    let sample = (!is_heap).then_some(sample);
    sample
        .into_iter()
        .chain([Line::Trial(Box::new(trial))])
        .collect()
}

/// The made summary.
pub fn summary() -> Summary {
    super::summarise(&manifest(), &fixture::host(), &lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(summary: &Summary, id: &str) -> Result<f64, String> {
        let row = summary.rows.iter().find(|row| row.id == id);
        let row = row.unwrap_or_else(|| panic!("{id} is no row"));
        row.figure
            .map(|figure| figure.estimate)
            .ok_or_else(|| row.reason.clone().unwrap())
    }

    #[test]
    fn every_kind_of_figure_comes_from_where_it_was_told() {
        let summary = summary();
        let hop =
            |metric: &str| format!("foreign/{FIBER}/callee=noop,route=spawn-blocking:{metric}");
        assert_eq!(told(&summary, &hop("added_per_op")), Ok(8_998.5));
        let near = |value: Result<f64, String>, right: f64| {
            let value = value.unwrap();
            assert!(
                (value / right - 1.0).abs() < 2e-3,
                "{value} instead of {right}"
            );
        };
        near(told(&summary, &hop("queue_wait_p50")), 5_000.0);
        near(told(&summary, &hop("queue_wait_p999")), 9_990.0);
        assert_eq!(told(&summary, &hop("voluntary_per_op")), Ok(2.0));
        assert_eq!(told(&summary, &hop("involuntary_per_op")), Ok(1.0));
        let why = told(&summary, &hop("heap_per_op")).unwrap_err();
        assert!(why.contains("does not count its heap"), "{why}");
        let future = "foreign/tokio-current/callee=noop,route=spawn-blocking:";
        assert_eq!(told(&summary, &format!("{future}heap_per_op")), Ok(64.0));
        assert_eq!(told(&summary, &format!("{future}allocs_per_op")), Ok(1.0));
        let beside = format!("foreign/{FIBER}/callee=sleep1ms,callers=16,form=beside:");
        near(told(&summary, &format!("{beside}heartbeat_gap_max")), 18e6);
        assert_eq!(told(&summary, &format!("{beside}stood_still")), Ok(16.0));
    }

    #[test]
    fn a_metric_that_makes_no_sense_for_a_condition_has_no_row() {
        let summary = summary();
        let metrics = |id: &str| {
            let rows = summary
                .rows
                .iter()
                .filter(|row| row.id.starts_with(&format!("{id}:")));
            rows.map(|row| row.metric).collect::<Vec<_>>()
        };
        let direct = metrics("foreign/os-thread/callee=noop");
        assert!(direct.contains(&"heap_per_op"));
        assert!(
            !direct
                .iter()
                .any(|it| it.starts_with("queue_wait") || it.starts_with("heartbeat"))
        );
        assert!(
            !direct.contains(&"added_per_op"),
            "it is what others are held against"
        );
        let batch = metrics(&format!("foreign/{FIBER}/callee=noop,batch=100000000"));
        assert!(!batch.contains(&"heap_per_op") && batch.contains(&"added_per_op"));
    }

    #[test]
    fn both_claims_of_the_leg_are_judged() {
        let summary = summary();
        let of = |id: &str| summary.claims.iter().find(|claim| claim.id == id).unwrap();
        let ffi = of("dotnet-ffi");
        assert_eq!(ffi.verdict, "partly");
        assert!(
            ffi.measured
                .contains("300 ms on a thread, 300 ms direct, 1800 ms"),
            "{}",
            ffi.measured
        );
        assert!(
            ffi.measured
                .contains("spawn-blocking 9.0 µs (+9.0 µs), ×6000"),
            "{}",
            ffi.measured
        );
        assert_eq!(of("rfc230").verdict, "reproduced");
    }
}
