//! The order of a run: rotated by turn, shuffled by launch, repeated by seed.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::{lines, of_kind, run, said};

/// By launch and turn, who had which place.
type Order = BTreeMap<(u64, u64), Vec<(u64, String)>>;

fn order(record: &Path, seed: &str) -> Order {
    let out = record.to_str().unwrap();
    let mut arguments = vec![
        "run",
        "--smoke",
        "-q",
        "-f",
        "^switch/live=1$",
        "--launches",
        "3",
    ];
    arguments.extend(["--seed", seed, "--out", out]);
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let mut order = Order::new();
    for sample in of_kind(&lines(record), "sample") {
        let number = |key: &str| sample[key].as_u64().unwrap();
        let places = order.entry((number("launch"), number("turn"))).or_default();
        places.push((
            number("place"),
            sample["condition"].as_str().unwrap().to_owned(),
        ));
    }
    order.values_mut().for_each(|places| places.sort());
    order
}

#[test]
fn everybody_has_one_place_a_turn_and_the_seed_decides_which() {
    let dir = tempfile::tempdir().unwrap();
    let first = order(&dir.path().join("first"), "1");
    assert_eq!(first.len(), 6, "three launches of two turns");
    for places in first.values() {
        let numbers: Vec<u64> = places.iter().map(|(place, _)| *place).collect();
        assert_eq!(numbers, (0..places.len() as u64).collect::<Vec<_>>());
    }
    for launch in 0..3 {
        let names = |turn| -> Vec<&String> {
            first[&(launch, turn)]
                .iter()
                .map(|(_, name)| name)
                .collect()
        };
        let mut turned = names(0);
        turned.rotate_left(1);
        assert_eq!(turned, names(1), "the next turn begins with the next one");
    }
    let orders: BTreeSet<_> = (0..3).map(|launch| &first[&(launch, 0)]).collect();
    assert!(orders.len() > 1, "each launch shuffles anew");
    assert_eq!(first, order(&dir.path().join("again"), "1"));
    assert_ne!(first, order(&dir.path().join("other"), "2"));
}

#[test]
fn launches_are_outermost_so_that_drift_falls_on_everyone() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let out = record.to_str().unwrap();
    let filter = "^switch/live=(1|10)$";
    let output = run(&[
        "run",
        "--smoke",
        "-q",
        "-f",
        filter,
        "-e",
        "call",
        "--launches",
        "2",
        "--out",
        out,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let launches: Vec<String> = of_kind(&lines(&record), "launch")
        .iter()
        .map(|launch| format!("{} {}", launch["block"].as_str().unwrap(), launch["launch"]))
        .collect();
    assert_eq!(
        launches,
        [
            "switch/live=1 0",
            "switch/live=10 0",
            "switch/live=1 1",
            "switch/live=10 1"
        ]
    );
}
