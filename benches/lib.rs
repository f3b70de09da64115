//! What the criterion targets share: a driver that gives a workload's turns to
//! criterion, so that a target is a thin call into the measured functions.

use std::time::Duration;

use corolab_lab::child::{Turns, checked};
use corolab_lab::condition::{Condition, Params, Settings};
use corolab_lab::contender::{Assignment, Contender};
use corolab_lab::control;
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::workload::foreign::SPAWN_BLOCKING;
use corolab_lab::workload::{self, Scale};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};

/// Every built-in contender, the control first.
pub fn contenders() -> impl Iterator<Item = &'static Contender> {
    [&control::CALL]
        .into_iter()
        .chain(corolab_green::CONTENDERS.iter().copied())
        .chain(corolab_stackless::CONTENDERS.iter().copied())
}

/// A contender's condition in this process: one worker, since may is configured
/// once for it, no pinning, and the stack that the parameters ask for.
pub fn assignment(contender: &Contender, workload: &str, params: Params) -> Assignment {
    let settings = Settings {
        workers: 1,
        cpus: Vec::new(),
        stack: params.number("stack").unwrap_or(workload::STACK),
        seed: 0,
    };
    let condition = Condition {
        workload: workload.to_owned(),
        contender: contender.name.to_owned(),
        params,
    };
    Assignment {
        condition,
        settings,
    }
}

/// Gives criterion's iterations to a workload's body as rounds.
struct UnderCriterion<'g, 'c> {
    group: &'g mut BenchmarkGroup<'c, WallTime>,
    id: String,
}

impl Turns for UnderCriterion<'_, '_> {
    fn serve(
        &mut self,
        round_ops: u64,
        expected: &dyn Fn(u64) -> u64,
        body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
    ) -> Result<(), Refusal> {
        self.group.bench_function(&self.id, |bencher| {
            bencher.iter_custom(|operations| {
                let rounds = operations.div_ceil(round_ops);
                let batch = checked(rounds, expected, body).expect("the answer is right");
                let share = operations as f64 / (rounds * round_ops) as f64;
                Duration::from_secs_f64(batch.watch.elapsed().as_secs_f64() * share)
            });
        });
        Ok(())
    }
}

/// Registers the quick grid of a workload and what belongs to it, every contender
/// at one worker.
///
/// Conditions that need many stacks, a second worker or another thread are left
/// to `corolab run`, which gives each a process of its own; so are those whose
/// one batch stands for itself.
pub fn targets(criterion: &mut Criterion, name: &str) {
    let workload = workload::find(name).expect("a workload of the lab");
    let grid = (workload.grid)(Scale::Quick);
    for block in grid.into_iter().chain((workload.more)()) {
        let once = (workload.once)(&workload.complete(&block, &[])).is_some();
        let large = block.number("live").unwrap_or(0) > 10_000;
        let more_than_one = ["workers", "callers"]
            .iter()
            .any(|key| block.number(key).unwrap_or(1) > 1);
        if once || large || more_than_one {
            continue;
        }
        let mut group = criterion.benchmark_group(format!("{name}/{block}"));
        let stays = |way: &&workload::Way| !way.contains(&("route", SPAWN_BLOCKING));
        for way in (workload.ways)(&block).iter().filter(stays) {
            for contender in contenders() {
                measure(&mut group, contender, name, workload.complete(&block, way));
            }
        }
        group.finish();
    }
}

fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    contender: &Contender,
    workload: &str,
    params: Params,
) {
    let assignment = assignment(contender, workload, params);
    let id = assignment.condition.id();
    let Ok(measure) = contender.measure_of(&assignment.condition) else {
        return; // `corolab list` says why
    };
    if let Err(why) = measure(
        &assignment,
        &mut UnderCriterion {
            group,
            id: id.clone(),
        },
    ) {
        eprintln!("{id}: {why}");
    }
}
