//! Every workload gives the right answer on every contender, or says why not.

use corolab_benches::{assignment, contenders};
use corolab_lab::child::Alone;
use corolab_lab::condition::Params;
use corolab_lab::contender::Contender;
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::workload::{self, Scale, Workload};

fn small() -> impl Iterator<Item = (&'static Workload, &'static Contender, Params)> {
    workload::ALL.iter().flat_map(|workload| {
        let blocks = (workload.grid)(Scale::Smoke);
        blocks.into_iter().flat_map(move |block| {
            (workload.ways)(&block).iter().flat_map(move |way| {
                let params = workload.complete(&block, way);
                contenders().map(move |contender| (*workload, contender, params.clone()))
            })
        })
    })
}

fn measured(
    workload: &Workload,
    contender: &Contender,
    params: Params,
    rounds: u64,
) -> Result<(), Refusal> {
    let mut assignment = assignment(contender, workload.name, params);
    // may has one stack size for a process.
    assignment.settings.stack = workload::STACK;
    let measure = contender.measure_of(&assignment.condition)?;
    measure(&assignment, &mut Alone { batches: 3, rounds })
}

#[test]
fn every_answer_is_right_or_refused_with_a_reason() {
    let mut right = 0;
    for (workload, contender, params) in small() {
        for rounds in [1, 7, 1_000] {
            let name = format!("{}/{}/{params} x {rounds}", workload.name, contender.name);
            let rounds = if ["spawn", "foreign"].contains(&workload.name) {
                rounds.min(7)
            } else {
                rounds
            };
            match measured(workload, contender, params.clone(), rounds) {
                Ok(()) => right += 1,
                Err(Refusal {
                    status: Status::NotOffered | Status::NotApplicable,
                    reason,
                }) => {
                    assert!(!reason.is_empty(), "{name} is refused without a reason");
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
    assert!(right > 60, "only {right} conditions were measured");
}

#[test]
fn a_state_that_is_touched_gives_the_same_answer() {
    let switch = workload::find("switch").unwrap();
    for touch in [0_u64, 64, 512, 4_096] {
        for contender in contenders() {
            let block = Params::new().with("live", 5).with("touch", touch);
            match measured(switch, contender, switch.complete(&block, &[]), 12) {
                Ok(()) => {}
                Err(why) => assert!(!why.status.is_failure(), "{}: {why}", contender.name),
            }
        }
    }
}

#[test]
fn parameters_without_a_task_are_refused_by_everybody() {
    for workload in workload::ALL {
        let counts = ["live", "tasks", "pairs", "callers", "batch", "threads", "n"];
        let keys = workload.params.iter().map(|param| param.key);
        let nothing = keys.into_iter().find(|key| counts.contains(key)).unwrap();
        let params = workload.complete(&Params::new().with(nothing, 0), &[]);
        for contender in contenders() {
            let refused = measured(workload, contender, params.clone(), 1).unwrap_err();
            assert!(
                matches!(refused.status, Status::NotApplicable | Status::NotOffered),
                "{}/{}: {refused}",
                workload.name,
                contender.name
            );
        }
    }
}

/// Every callee by every route on every contender, alone and beside others, or a
/// refusal that no child has to run for.
#[test]
fn every_call_comes_back_by_every_route_or_is_refused_before_it_is_made() {
    let foreign = workload::find("foreign").unwrap();
    let mut right = 0;
    for block in (foreign.grid)(Scale::Full) {
        // One worker, as above; and a batch of a size for tests.
        let mut block = block.with("workers", 1);
        if block.number("batch").is_some() {
            block = block.with("batch", 1_000);
        }
        for way in (foreign.ways)(&block) {
            let params = foreign.complete(&block, way);
            for contender in contenders() {
                // may has one stack size for a process.
                if contender.name == "may" && params.number("stack") != Some(workload::STACK) {
                    continue;
                }
                let name = format!("{}/{params}", contender.name);
                let assignment = assignment(contender, foreign.name, params.clone());
                let Ok(measure) = contender.measure_of(&assignment.condition) else {
                    continue;
                };
                let alone = &mut Alone {
                    batches: 2,
                    rounds: 3,
                };
                measure(&assignment, alone).unwrap_or_else(|why| panic!("{name}: {why}"));
                right += 1;
            }
        }
    }
    assert!(right > 300, "only {right} conditions were measured");
}
