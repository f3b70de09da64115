//! The plan as a pure function.

use super::*;
use crate::estimate::Estimate;
use corolab_lab::contender::Contender;
use proptest::prelude::*;

fn contenders() -> Vec<&'static Contender> {
    crate::run::program::built_in()
}

fn admits(condition: &Condition) -> Result<(), Refusal> {
    let contender = contenders()
        .into_iter()
        .find(|c| c.name == condition.contender)
        .unwrap();
    contender.measure_of(condition).map(drop)
}

fn profiles() -> Vec<Profile> {
    contenders().into_iter().map(Contender::profile).collect()
}

fn wish(profiles: &[Profile]) -> Wish<'_> {
    Wish {
        scale: Scale::Quick,
        filter: None,
        filter_not: None,
        engine: None,
        workers: None,
        shard: None,
        launches: None,
        budget_ns: None,
        seed: 1,
        profiles,
        admits: &admits,
        cpus: &[0, 1],
        memory: Some(20 << 30),
        max_map_count: Some(65_530),
    }
}

fn ids(planned: &Planned) -> Vec<&str> {
    planned
        .plan
        .blocks
        .iter()
        .map(|block| block.id.as_str())
        .collect()
}

#[test]
fn the_quick_plan_holds_every_workload_and_its_whole_switch_curve() {
    let profiles = profiles();
    let planned = plan(&wish(&profiles));
    let ids = ids(&planned);
    for live in [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] {
        assert!(
            ids.contains(&format!("switch/live={live}").as_str()),
            "{live}"
        );
    }
    for id in [
        "yield/tasks=2",
        "yield/tasks=200,workers=2",
        "ping_pong/pairs=1",
        "spawn/batch=1000",
    ] {
        assert!(ids.contains(&id), "{id} is missing from {ids:?}");
    }
    assert!(planned.plan.launches >= FEWEST_LAUNCHES);
}

#[test]
fn one_worker_means_one_cpu_and_two_mean_two() {
    let profiles = profiles();
    let planned = plan(&wish(&profiles));
    for block in &planned.plan.blocks {
        assert_eq!(
            block.settings.cpus.len() as u64,
            block.settings.workers.min(2),
            "{}",
            block.id
        );
    }
    let one = plan(&Wish {
        cpus: &[5],
        ..wish(&profiles)
    });
    assert!(
        one.plan
            .blocks
            .iter()
            .all(|block| block.settings.cpus == [5])
    );
}

#[test]
fn pairs_that_make_no_sense_are_refused_before_anything_runs() {
    let profiles = profiles();
    let planned = plan(&wish(&profiles));
    let reason = |id: &str| {
        planned
            .refused
            .iter()
            .find(|r| r.condition.id() == id)
            .map(|r| r.status)
    };
    assert_eq!(reason("switch/may/live=1"), Some(Status::NotOffered));
    assert_eq!(
        reason("yield/tokio-current/tasks=2,workers=2"),
        Some(Status::NotApplicable)
    );
    assert_eq!(
        reason("yield/may/tasks=2,wake=self-wake"),
        Some(Status::NotOffered)
    );
    assert_eq!(reason("yield/may/tasks=2"), None);
}

#[test]
fn filters_choose_rows_and_engines_keep_the_control() {
    let profiles = profiles();
    let regex = |text: &str| Some(Regex::new(text).unwrap());
    let filtered = plan(&Wish {
        filter: regex("^switch/.*live=10:"),
        ..wish(&profiles)
    });
    assert_eq!(ids(&filtered), ["switch/live=10"]);
    let block = plan(&Wish {
        filter: regex("^switch/live=10$"),
        ..wish(&profiles)
    });
    assert_eq!(ids(&block), ["switch/live=10"]);
    assert!(block.plan.blocks[0].conditions.len() > 2);
    let condition = plan(&Wish {
        filter: regex("^switch/corosensei/live=10$"),
        ..wish(&profiles)
    });
    assert_eq!(condition.plan.blocks[0].conditions.len(), 1);
    let without = plan(&Wish {
        filter_not: regex("^(switch|create|yield|spawn|footprint|foreign)/"),
        ..wish(&profiles)
    });
    assert!(ids(&without).iter().all(|id| id.starts_with("ping_pong/")));
    let engine = plan(&Wish {
        engine: regex("^may$"),
        ..wish(&profiles)
    });
    for block in &engine.plan.blocks {
        assert!(
            block
                .conditions
                .iter()
                .all(|c| c.contender == "may" || c.contender == "call")
        );
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_number_or_alternates() {
    let profiles = profiles();
    let tight = plan(&Wish {
        memory: Some(400 << 20),
        ..wish(&profiles)
    });
    let million = tight
        .refused
        .iter()
        .find(|r| r.condition.id() == "switch/hand-polled/live=1000000");
    let million = million.expect("a million futures do not fit into 240 MiB");
    assert_eq!(million.status, Status::Infeasible);
    assert!(million.reason.contains("MiB"), "{}", million.reason);
    let alternating: Vec<_> = tight
        .plan
        .blocks
        .iter()
        .filter(|block| block.paired == Paired::Alternating)
        .collect();
    assert!(!alternating.is_empty());
    assert!(
        tight
            .plan
            .blocks
            .iter()
            .all(|block| block.memory <= (400 << 20) / 5 * 3)
    );
}

#[test]
fn one_worker_count_takes_the_place_of_the_grids() {
    let profiles = profiles();
    let planned = plan(&Wish {
        workers: Some(2),
        ..wish(&profiles)
    });
    let mut seen = BTreeSet::new();
    for block in &planned.plan.blocks {
        assert!(seen.insert(block.id.clone()), "{} twice", block.id);
        if workload::layer_of(&block.workload) == Some(workload::Layer::Scheduled) {
            assert_eq!(block.settings.workers, 2);
        }
    }
}

proptest! {
    #[test]
    fn shards_share_the_blocks_out(of in 1_usize..7) {
        let profiles = profiles();
        let whole = plan(&wish(&profiles));
        let mut parts = Vec::new();
        for index in 1..=of {
            let part = plan(&Wish { shard: Some(Shard { index, of }), ..wish(&profiles) });
            parts.extend(part.plan.blocks);
        }
        parts.sort_by(|a, b| a.id.cmp(&b.id));
        let mut blocks = whole.plan.blocks;
        blocks.sort_by(|a, b| a.id.cmp(&b.id));
        prop_assert_eq!(parts, blocks);
    }

    #[test]
    fn more_turns_never_take_less_time(turns in 1_u32..100) {
        let profiles = profiles();
        let planned = plan(&wish(&profiles));
        let estimate = Estimate { profiles: &profiles, max_map_count: Some(65_530) };
        let total = |turns| estimate.total_ns(&planned.plan, turns);
        prop_assert!(total(turns) < total(turns + 1));
    }
}

#[test]
fn a_filter_brings_the_whole_leg_and_the_quick_plan_alone_does_not() {
    let profiles = profiles();
    let of_leg = |planned: &Planned| -> Vec<String> {
        let leg = ids(planned)
            .into_iter()
            .filter(|id| id.starts_with("foreign/"));
        leg.map(str::to_owned).collect()
    };
    let quick = of_leg(&plan(&wish(&profiles)));
    let leg = of_leg(&plan(&Wish {
        filter: Regex::new("^foreign/").ok(),
        ..wish(&profiles)
    }));
    assert!(quick.iter().all(|id| leg.contains(id)));
    assert!(
        leg.len() > 2 * quick.len(),
        "{} of {}",
        quick.len(),
        leg.len()
    );
    let full = of_leg(&plan(&Wish {
        scale: Scale::Full,
        ..wish(&profiles)
    }));
    let batch: Vec<String> = full.into_iter().filter(|id| !leg.contains(id)).collect();
    assert_eq!(batch, ["foreign/callee=noop,batch=100000000"]);
}

#[test]
fn numbers_and_order_of_every_scale() {
    let profiles = profiles();
    for (scale, launches, turns) in [
        (Scale::Smoke, 1, 2),
        (Scale::Quick, 5, 7),
        (Scale::Full, 12, 20),
    ] {
        let planned = plan(&Wish {
            scale,
            ..wish(&profiles)
        });
        assert_eq!(
            (planned.plan.launches, planned.plan.turns),
            (launches, turns)
        );
        let place = |name: &str| workload::ALL.iter().position(|w| w.name == name);
        let places: Vec<_> = planned
            .plan
            .blocks
            .iter()
            .map(|b| place(&b.workload))
            .collect();
        assert!(places.is_sorted(), "blocks in the workloads' order");
        for block in &planned.plan.blocks {
            let place = |name: &str| profiles.iter().position(|p| p.name == name);
            let places: Vec<_> = block
                .conditions
                .iter()
                .map(|c| place(&c.contender))
                .collect();
            assert!(places.is_sorted(), "{} in the contenders' order", block.id);
        }
    }
}

#[test]
fn every_pair_is_either_planned_or_refused() {
    let profiles = profiles();
    let planned = plan(&wish(&profiles));
    let held: usize = planned.plan.blocks.iter().map(|b| b.conditions.len()).sum();
    let asked: usize = workload::ALL
        .iter()
        .flat_map(|w| {
            (w.grid)(Scale::Quick)
                .into_iter()
                .map(|block| (w.ways)(&block).len())
        })
        .map(|ways| ways * profiles.len())
        .sum();
    assert_eq!(held + planned.refused.len(), asked);
}

#[test]
fn the_plan_of_corolab_alone_fits_its_own_budget() {
    let profiles = profiles();
    let plan = plan(&wish(&profiles)).plan;
    let estimate = Estimate {
        profiles: &profiles,
        max_map_count: Some(65_530),
    };
    assert!(estimate.total_ns(&plan, plan.turns) < plan.budget_ns.unwrap());
}

#[test]
fn what_meets_the_limit_on_mappings_is_known_before() {
    let profiles = profiles();
    let estimate = Estimate {
        profiles: &profiles,
        max_map_count: Some(65_530),
    };
    let planned = plan(&wish(&profiles));
    let beyond: Vec<_> = planned
        .plan
        .blocks
        .iter()
        .flat_map(|block| &block.conditions)
        .filter(|condition| estimate.is_beyond(condition))
        .map(Condition::id)
        .collect();
    assert!(
        beyond.contains(&"switch/corosensei/live=100000".to_owned()),
        "{beyond:?}"
    );
    assert!(
        beyond
            .iter()
            .all(|id| !id.contains("hand-polled") && !id.contains("/call/"))
    );
}

#[test]
fn what_takes_too_long_to_make_is_refused_by_the_quick_plan_and_done_by_the_full_one() {
    let profiles = profiles();
    let million = "switch/corosensei-pooled/live=1000000";
    let quick = plan(&wish(&profiles));
    let refused = quick
        .refused
        .iter()
        .find(|refused| refused.condition.id() == million)
        .unwrap();
    assert_eq!(refused.status, Status::Infeasible);
    assert!(refused.reason.contains("--full"), "{}", refused.reason);
    let full = plan(&Wish {
        scale: Scale::Full,
        ..wish(&profiles)
    });
    let mut planned = full.plan.blocks.iter().flat_map(|block| &block.conditions);
    assert!(planned.any(|condition| condition.id() == million));
}
