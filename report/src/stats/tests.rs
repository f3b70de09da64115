//! The summary of a made record: right values, closed forms, refusals.

use corolab_lab::sample::Status;
use proptest::prelude::*;

use super::*;

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
