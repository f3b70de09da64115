//! Runs that end before their end: killed, interrupted, gone on with.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use common::{corolab, lines, of_kind, run, said, send, wait_until};

/// Long enough to be caught in the middle, short enough to be finished.
const PLAN: &[&str] = &[
    "--smoke",
    "-f",
    "^switch/live=1$",
    "-e",
    "call",
    "--launches",
    "25",
];

fn begin(record: &Path) -> Child {
    let child = corolab()
        .arg("run")
        .args(PLAN)
        .arg("--out")
        .arg(record)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the first launch is written down", || {
        !of_kind(&lines(record), "launch").is_empty()
    });
    child
}

fn whole(record: &Path) -> Vec<Value> {
    let launches = of_kind(&lines(record), "launch");
    launches
        .into_iter()
        .filter(|launch| launch["complete"] == true)
        .collect()
}

#[test]
fn a_killed_run_keeps_what_it_had_and_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let mut child = begin(&record);
    send("KILL", child.id());
    child.wait().unwrap();
    let kept = whole(&record).len();
    assert!(kept > 0);
    let output = corolab()
        .args(["run", "-q", "--resume"])
        .arg(&record)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let launches = whole(&record);
    assert_eq!(launches.len(), 25);
    let numbers: BTreeSet<_> = launches
        .iter()
        .map(|launch| launch["launch"].as_u64())
        .collect();
    assert_eq!(numbers.len(), 25, "every launch has a number of its own");
    let of_session = |session: u64| {
        launches
            .iter()
            .filter(|launch| launch["session"] == session)
            .count()
    };
    assert_eq!(
        (of_session(1), of_session(2)),
        (kept, 25 - kept),
        "two sessions are marked"
    );
    let again = corolab()
        .args(["run", "-q", "--resume"])
        .arg(&record)
        .output()
        .unwrap();
    assert_eq!(
        again.status.code(),
        Some(0),
        "nothing is left to do: {}",
        said(&again)
    );
    assert_eq!(whole(&record).len(), 25);
}

#[test]
fn an_interrupt_ends_the_run_with_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let mut child = begin(&record);
    send("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let ended = of_kind(&lines(&record), "session_ended");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["interrupted"], true);
    for view in ["summary.json", "report.html"] {
        assert!(record.join(view).is_file(), "{view} of what is there");
    }
    let trials = of_kind(&lines(&record), "trial");
    assert!(
        trials.iter().all(|trial| trial["status"] == "ok"),
        "nobody has failed"
    );
}

#[test]
fn another_plan_machine_or_binary_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let path = record.to_str().unwrap();
    let made = run(&[
        "run",
        "--smoke",
        "-q",
        "-f",
        "^switch/live=1$",
        "-e",
        "call",
        "--out",
        path,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    let refused = |arguments: &[&str], why: &str| {
        let output = run(&[&["run", "-q", "--resume", path], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(why), "{}", said(&output));
    };
    refused(&["--smoke", "--seed", "9"], "another plan");
    let change = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(record.join(name)).unwrap();
        let at = text.find(from).unwrap() + from.len();
        fs::write(
            record.join(name),
            format!("{}{to}{}", &text[..at], &text[at..]),
        )
        .unwrap();
    };
    change("env.json", "\"kernel\": \"", "older-");
    refused(&[], "another kernel");
    change("manifest.json", "\"binary\": \"", "0");
    refused(&[], "another binary and with another kernel");
}

#[test]
fn a_half_written_line_does_not_stop_the_views() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let path = record.to_str().unwrap();
    let made = run(&[
        "run",
        "--smoke",
        "-q",
        "-f",
        "^switch/live=1$",
        "-e",
        "call",
        "--out",
        path,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    let before = fs::read(record.join("summary.json")).unwrap();
    let again = run(&["report", path]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    assert_eq!(
        fs::read(record.join("summary.json")).unwrap(),
        before,
        "byte for byte"
    );
    let samples = record.join("samples.jsonl");
    let mut text = fs::read_to_string(&samples).unwrap();
    text.push_str("{\"kind\":\"sam");
    fs::write(&samples, text).unwrap();
    let again = run(&["report", path, "--format", "json"]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    let told = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(told.contains("not whole"), "{told}");
}

#[test]
fn a_block_that_does_not_fit_together_alternates_whole_trials() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let path = record.to_str().unwrap();
    let filter = "^switch/live=1$";
    let made = run(&[
        "run",
        "--smoke",
        "-q",
        "-f",
        filter,
        "-e",
        "hand-polled",
        "--out",
        path,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    // A record is gone on with by its own plan: one more launch, as if memory
    // had been short when the plan was made.
    let manifest = record.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text.replace("\"paired\": \"baton\"", "\"paired\": \"alternating\"");
    let text = text.replace("\"launches\": 1,", "\"launches\": 2,");
    fs::write(&manifest, text).unwrap();
    let output = run(&["run", "-q", "--resume", path]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let second: Vec<Value> = of_kind(&lines(&record), "sample")
        .into_iter()
        .filter(|sample| sample["launch"] == 1)
        .collect();
    let turns: Vec<_> = second
        .iter()
        .map(|sample| sample["turn"].as_u64().unwrap())
        .collect();
    assert_eq!(turns, [0, 1, 0, 1], "one child's turns, then the other's");
    assert!(second.iter().all(|sample| sample["place"] == 0));
    let conditions: BTreeSet<_> = second
        .iter()
        .map(|sample| sample["condition"].as_str().unwrap())
        .collect();
    assert_eq!(conditions.len(), 2);
}
