//! The summary of a made record: right values, closed forms, refusals.

use corolab_lab::condition::{Condition, Params};
use corolab_lab::sample::{Sample, Status};
use proptest::prelude::*;

use super::*;
use crate::record::line::{Launch, Memory, Reading, Taken};

fn row<'a>(summary: &'a Summary, id: &str) -> &'a crate::summary::Row {
    summary
        .rows
        .iter()
        .find(|row| row.id == id)
        .unwrap_or_else(|| panic!("no row {id}"))
}

#[test]
fn estimates_and_intervals_come_from_launches() {
    let summary = fixture::summary();
    let figure = row(&summary, "switch/corosensei/live=1:time_per_op")
        .figure
        .unwrap();
    assert_eq!((figure.estimate, figure.low, figure.high), (4.0, 3.8, 4.2));
    assert_eq!((figure.launches, figure.samples), (5, 20));
    let rate = row(&summary, "switch/corosensei/live=1:rate")
        .figure
        .unwrap();
    assert_eq!(rate.estimate, 250_000_000.0);
    assert_eq!(summary.wall_s, 12.3);
}

#[test]
fn ratios_are_those_of_one_block() {
    let summary = fixture::summary();
    let by_hand = summary.ratios.iter().find(|ratio| {
        ratio.a == "switch/corosensei/live=1:time_per_op"
            && ratio.b == "switch/corosensei-by-hand/live=1:time_per_op"
    });
    let by_hand = by_hand.unwrap();
    assert_eq!(
        (by_hand.ratio, by_hand.low, by_hand.high),
        (1.0, 0.95, 1.05)
    );
    assert_eq!(
        (by_hand.verdict, by_hand.paired, by_hand.launches),
        ("tie", "baton", 5)
    );
    // 4 rows of the one block and 4 of the other, each pair once.
    assert_eq!(summary.ratios.len(), 6 + 6);
}

#[test]
fn every_condition_has_a_row_or_a_reason() {
    let summary = fixture::summary();
    let refused = row(&summary, "switch/may/live=1:time_per_op");
    assert_eq!(refused.status, Status::NotOffered);
    assert_eq!(refused.reason.as_deref(), Some("may has a scheduler"));
    let lines = fixture::failing("yield/may/tasks=2", Status::TimedOut, "silent for 20.0 s");
    let summary = summarise(&fixture::manifest(), &fixture::host(), &lines);
    let may = row(&summary, "yield/may/tasks=2:time_per_op");
    assert_eq!((may.status, may.figure), (Status::TimedOut, None));
    assert!(
        may.notes.contains(&"4 of 5 launches".to_owned()),
        "{:?}",
        may.notes
    );
    assert!(
        may.notes
            .iter()
            .any(|note| note.starts_with("4 samples of it are kept"))
    );
    let others = fixture::counts(summary.rows.iter().map(|row| row.status.name()));
    assert_eq!(others["timed_out"], 1);
}

#[test]
fn an_interrupted_run_says_so_and_names_what_is_missing() {
    let lines: Vec<Line> = fixture::lines().into_iter().take(2).collect();
    let summary = summarise(&fixture::manifest(), &fixture::host(), &lines);
    assert!(summary.rows.iter().all(|row| row.figure.is_none()));
    assert!(
        summary
            .warnings
            .iter()
            .any(|told| told.starts_with("partial: 0 of 10 launches"))
    );
}

#[test]
fn less_than_a_cycle_is_refused_with_both_numbers() {
    let mut lines = fixture::lines();
    for line in &mut lines {
        if let Line::Sample(taken) = line
            && taken.condition == "switch/call/live=1"
        {
            taken.sample.wall_ns = taken.sample.ops / 5;
        }
    }
    let summary = summarise(&fixture::manifest(), &fixture::host(), &lines);
    let call = row(&summary, "switch/call/live=1:time_per_op");
    assert_eq!(call.status, Status::NotSupported);
    assert!(call.reason.as_ref().unwrap().contains("0.200 ns"));
    assert!(call.reason.as_ref().unwrap().contains("0.300 ns"));
    assert_eq!(
        call.notes,
        ["20 samples of it are kept in samples.jsonl, unused"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn the_order_of_samples_within_a_record_does_not_matter(
        shuffled in Just(fixture::lines()).prop_shuffle(),
    ) {
        // Sessions and launches keep their places in a real record; here even
        // those may move, since nothing but their numbers counts.
        let (a, b) = (fixture::summary(), summarise(&fixture::manifest(), &fixture::host(), &shuffled));
        prop_assert_eq!(a.rows, b.rows);
        let sorted = |mut ratios: Vec<Ratio>| {
            ratios.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
            ratios
        };
        prop_assert_eq!(sorted(a.ratios), sorted(b.ratios));
    }
}

/// A record of five launches of a hundred waiting tasks, with that memory.
fn standing(memory: impl Fn(u32) -> Option<Memory>) -> Summary {
    let condition = Condition {
        workload: "footprint".into(),
        contender: "corosensei".into(),
        params: Params::new().with("n", 100).with("form", "bare"),
    };
    let mut manifest = fixture::manifest();
    manifest.plan.blocks.truncate(1);
    let block = &mut manifest.plan.blocks[0];
    block.id = "footprint/n=100".into();
    block.workload = "footprint".into();
    block.conditions = vec![condition.clone()];
    let of_launch = |launch: u32| {
        let mut trial = crate::record::tests::trial("footprint/n=100", launch);
        trial.condition = condition.clone();
        trial.memory = memory(launch);
        trial.notes = vec!["guard regions".into()];
        let sample = Sample {
            tails: Default::default(),
            turn: 0,
            ops: 100,
            wall_ns: 200_000,
            cpu_ns: 0,
            voluntary: 0,
            involuntary: 0,
        };
        [
            Line::Sample(Taken {
                block: "footprint/n=100".into(),
                launch,
                condition: condition.id(),
                place: 0,
                sample,
            }),
            Line::Trial(Box::new(trial)),
            Line::Launch(Launch {
                block: "footprint/n=100".into(),
                launch,
                heap: false,
                session: 1,
                turns: 1,
                complete: true,
                wall_ns: 1_000_000,
                steal: None,
            }),
        ]
    };
    let lines: Vec<Line> = (0..5).flat_map(of_launch).collect();
    summarise(&manifest, &fixture::host(), &lines)
}

fn reading(bytes: u64) -> Option<Reading> {
    Some(Reading {
        rss: 1_000_000 + bytes,
        pss: 500_000 + bytes,
        page_tables: 40_000 + bytes / 100,
        maps: 30 + bytes / 100_000,
    })
}

#[test]
fn memory_is_what_the_tasks_added_for_each_of_them() {
    let summary = standing(|launch| {
        Some(Memory {
            before: reading(0),
            standing: reading(400_000 + u64::from(launch)),
            reason: None,
            took_ns: 1,
        })
    });
    let of = |metric: &str| {
        let row = row(
            &summary,
            &format!("footprint/corosensei/n=100,form=bare:{metric}"),
        );
        assert_eq!(row.notes[0], "guard regions");
        row.figure.unwrap()
    };
    assert_eq!(of("rss_per_task").estimate, 4_000.02);
    assert_eq!(of("resident_per_task").estimate, 4_040.02);
    assert_eq!((of("maps").estimate, of("maps").launches), (34.0, 5));
    assert_eq!(of("time_per_op").estimate, 2_000.0);
    assert!(summary.rows.iter().all(|row| row.metric != "rate"));
}

#[test]
fn memory_that_could_not_be_read_is_no_zero_but_a_reason() {
    let summary = standing(|launch| {
        Some(Memory {
            before: reading(0),
            standing: reading(400_000).filter(|_| launch != 3),
            reason: (launch == 3).then(|| "/proc/7/status: hidden".to_owned()),
            took_ns: 1,
        })
    });
    let row = row(
        &summary,
        "footprint/corosensei/n=100,form=bare:resident_per_task",
    );
    assert_eq!((row.status, row.figure), (Status::NotSupported, None));
    assert_eq!(row.reason.as_deref(), Some("/proc/7/status: hidden"));
}
