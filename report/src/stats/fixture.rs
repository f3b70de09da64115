//! A small record of made figures, for the tests of statistics and views.

use std::collections::BTreeMap;

use corolab_lab::condition::{Condition, Params, Settings};
use corolab_lab::contender::{Family, Profile};
use corolab_lab::sample::{Sample, Status};
use corolab_lab::stopwatch::Calibration;
use corolab_lab::workload::{self, Scale};
use serde_json::json;

use crate::record::line::{Launch, Line, Refused, SessionBegan, SessionEnded, Taken, Trial};
use crate::record::manifest::{self, Block, Manifest, Paired, Plan};
use crate::summary::{Figure, Host, Row, Summary};

/// Launches of the fixture.
pub const LAUNCHES: u32 = 5;
const TURNS: u32 = 4;

/// Contenders of the fixture: name, family, whom it prices.
const CAST: &[(&str, Family, Option<&str>)] = &[
    ("call", Family::Control, None),
    ("corosensei", Family::Stackful, None),
    ("corosensei-by-hand", Family::Stackful, Some("corosensei")),
    ("may", Family::Stackful, None),
    ("hand-polled", Family::Stackless, None),
    ("tokio-current", Family::Stackless, None),
];

/// Time per operation of the fixture's conditions, ns.
const TIMES: &[(&str, &str, &str, f64)] = &[
    ("switch", "call", "", 1.0),
    ("switch", "corosensei", "", 4.0),
    ("switch", "corosensei-by-hand", "", 4.0),
    ("switch", "hand-polled", "", 2.0),
    ("yield", "call", "", 1.0),
    ("yield", "may", "", 20.0),
    ("yield", "tokio-current", "", 80.0),
    ("yield", "tokio-current", "self-wake", 40.0),
];

/// A condition of the fixture.
pub fn condition(workload: &str, contender: &str, way: &str) -> Condition {
    let workload = workload::find(workload).unwrap();
    let block = match workload.name {
        "switch" => Params::new().with("live", 1),
        _ => Params::new().with("tasks", 2),
    };
    let way: &[(&str, &str)] = if way.is_empty() {
        (workload.ways)(&block)[0]
    } else {
        &[("wake", way)]
    };
    Condition {
        workload: workload.name.to_owned(),
        contender: contender.to_owned(),
        params: workload.complete(&block, way),
    }
}

fn block(id: &str, workload: &str) -> Block {
    let mine = TIMES.iter().filter(|(name, ..)| *name == workload);
    Block {
        id: id.to_owned(),
        workload: workload.to_owned(),
        settings: Settings {
            workers: 1,
            cpus: vec![1],
            stack: workload::STACK,
            seed: 1,
        },
        conditions: mine
            .map(|(w, contender, way, _)| condition(w, contender, way))
            .collect(),
        paired: Paired::Baton,
        memory: 1 << 20,
    }
}

/// The fixture's manifest.
pub fn manifest() -> Manifest {
    let profile = |(name, family, prices): &(&str, Family, Option<&str>)| Profile {
        name: (*name).to_owned(),
        family: *family,
        package: (*name).to_owned(),
        version: "1.2.3".to_owned(),
        about: "Made for tests.".to_owned(),
        prices: prices.map(str::to_owned),
        maps_per_task: 0,
        workloads: vec!["switch".to_owned(), "yield".to_owned()],
    };
    Manifest {
        schema: manifest::SCHEMA.to_owned(),
        command: "corolab run --made".to_owned(),
        plan: Plan {
            scale: Scale::Quick,
            seed: 1,
            launches: LAUNCHES,
            turns: TURNS,
            sample_ns: 1_000_000,
            budget_ns: None,
            blocks: vec![
                block("switch/live=1", "switch"),
                block("yield/tasks=2", "yield"),
            ],
        },
        contenders: CAST.iter().map(profile).collect(),
        binary: "00ff".to_owned(),
        revision: "abc".to_owned(),
        dirty: Some(false),
        rustc: "1.95.0".to_owned(),
        profile: "release".to_owned(),
        locked: vec![("corolab".to_owned(), "0.1.0".to_owned())],
    }
}

/// The fixture's host.
pub fn host() -> Host {
    Host::from([
        ("cpu_model".to_owned(), json!("A CPU")),
        ("kernel".to_owned(), json!("6.18")),
        ("cpus_allowed".to_owned(), json!([0, 1])),
        ("thp".to_owned(), json!("unknown")),
    ])
}

/// The fixture's lines: launch k is slower by k − 2 times 2.5% for everybody,
/// so that intervals are 5% wide and ratios exact.
pub fn lines() -> Vec<Line> {
    let mut lines = vec![Line::SessionBegan(SessionBegan {
        session: 1,
        at: "2026-12-01T00:00:00Z".to_owned(),
        binary: "00ff".to_owned(),
    })];
    lines.push(Line::Refused(Refused {
        block: "switch/live=1".to_owned(),
        condition: condition("switch", "may", ""),
        status: Status::NotOffered,
        reason: "may has a scheduler".to_owned(),
    }));
    for launch in 0..LAUNCHES {
        for block in manifest().plan.blocks {
            for (place, condition) in block.conditions.iter().enumerate() {
                lines.extend(of_trial(&block, launch, place as u32, condition));
            }
            lines.push(Line::Launch(Launch {
                block: block.id.clone(),
                launch,
                heap: false,
                session: 1,
                turns: TURNS,
                complete: true,
                wall_ns: 1_000_000,
                steal: Some(0.0),
            }));
        }
    }
    lines.push(Line::SessionEnded(SessionEnded {
        session: 1,
        wall_s: 12.34,
        interrupted: false,
    }));
    lines
}

fn of_trial(block: &Block, launch: u32, place: u32, condition: &Condition) -> Vec<Line> {
    let way = condition.told();
    let way = way.word("wake").unwrap_or("");
    let (.., time) = TIMES
        .iter()
        .find(|(w, c, v, _)| *w == condition.workload && *c == condition.contender && *v == way)
        .unwrap();
    // Each family drifts on its own, which is what an interval is for.
    let wobble = if condition.contender == "corosensei" || condition.contender == "may" {
        0.025 * (f64::from(launch) - 2.0)
    } else {
        0.0
    };
    let ops = 1_000_000_u64;
    let mut lines: Vec<Line> = (0..TURNS)
        .map(|turn| {
            Line::Sample(Taken {
                block: block.id.clone(),
                launch,
                condition: condition.id(),
                place,
                sample: Sample {
                    tails: Default::default(),
                    turn,
                    ops,
                    wall_ns: (time * (1.0 + wobble) * ops as f64).round() as u64,
                    cpu_ns: (time * ops as f64) as u64,
                    voluntary: 0,
                    involuntary: 0,
                },
            })
        })
        .collect();
    lines.push(Line::Trial(Box::new(Trial {
        counted: None,
        block: block.id.clone(),
        launch,
        condition: condition.clone(),
        status: Status::Ok,
        reason: None,
        calibration: Some(Calibration {
            empty_ns: 20.0,
            tick_ns: 10.0,
            cycle_ns: Some(0.3),
        }),
        cpus: vec![1],
        threads: Some(1),
        made_ns: Some(1_000),
        outside_cpu_ns: 0,
        outside_wall_ns: 1_000_000,
        notes: Vec::new(),
        memory: None,
        stilled: false,
    })));
    lines
}

/// The fixture's summary.
pub fn summary() -> Summary {
    super::summarise(&manifest(), &host(), &lines())
}

/// A lone row with an interval of 5% to either side.
pub fn row(workload: &str, contender: &str, params: &[(&str, u64)], time: f64) -> Row {
    let told = params
        .iter()
        .fold(Params::new(), |told, (key, value)| told.with(key, *value));
    Row {
        id: format!("{workload}/{contender}/{told}:time_per_op"),
        block: format!("{workload}/{told}"),
        workload: workload.to_owned(),
        contender: contender.to_owned(),
        family: CAST
            .iter()
            .find(|(name, ..)| *name == contender)
            .map_or(Family::Kernel, |it| it.1),
        layer: workload::find(workload).unwrap().layer,
        params: told,
        metric: "time_per_op",
        unit: "ns",
        better: "lower",
        figure: Some(Figure {
            estimate: time,
            low: time * 0.95,
            high: time * 1.05,
            floor: time * 0.9,
            launches: LAUNCHES,
            samples: 20,
        }),
        status: Status::Ok,
        reason: None,
        notes: Vec::new(),
    }
}

/// Lines without those of one condition, and the trials of it failed instead.
pub fn failing(id: &str, status: Status, reason: &str) -> Vec<Line> {
    let fail = |line: Line| match line {
        Line::Sample(taken) if taken.condition == id && taken.launch > 0 => None,
        Line::Trial(mut trial) if trial.condition.id() == id && trial.launch > 0 => {
            trial.status = status;
            trial.reason = Some(reason.to_owned());
            Some(Line::Trial(trial))
        }
        other => Some(other),
    };
    lines().into_iter().filter_map(fail).collect()
}

/// Counts of a map's values, for asserting on kinds.
pub fn counts<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    names.fold(BTreeMap::new(), |mut counts, name| {
        *counts.entry(name).or_default() += 1;
        counts
    })
}
