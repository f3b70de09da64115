//! The two runners that show how to bring a contender, run as a user would.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{corolab, lines, of_kind, said};

/// Builds an example into the folder that holds the binary under test.
fn example(package: &str, name: &str) -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_corolab")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package, "--example", name]);
    cargo.arg("--target-dir").arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", said(&built));
    profile.join("examples").join(name)
}

#[test]
fn both_stand_beside_the_built_in_contenders() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let output = corolab()
        .args(["run", "--smoke", "-q", "-f"])
        .args(["^(yield/tasks=2|foreign/callee=noop)$", "--out"])
        .arg(&record)
        .arg("--runner")
        .arg(example("corolab-green", "bring_your_own_stackful"))
        .arg("--runner")
        .arg(example("corolab-stackless", "bring_your_own_stackless"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for condition in [
        "yield/my-threads/tasks=2",
        "yield/my-futures/tasks=2",
        "yield/may/tasks=2",
        "foreign/my-threads/callee=noop",
        "foreign/my-futures/callee=noop",
    ] {
        let samples = of_kind(&lines(&record), "sample");
        let of_it = samples
            .iter()
            .filter(|sample| sample["condition"] == condition);
        assert_eq!(of_it.count(), 2, "{condition}");
    }
    // One of them counts its heap, the other says that it does not.
    let summary = std::fs::read_to_string(record.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let heap = |contender: &str| {
        let id = format!("foreign/{contender}/callee=noop:heap_per_op");
        let rows = summary["rows"].as_array().unwrap();
        rows.iter()
            .find(|row| row["id"] == id.as_str())
            .unwrap()
            .clone()
    };
    assert_eq!(heap("my-threads")["status"], "ok");
    let silent = heap("my-futures");
    assert_eq!(silent["status"], "not_supported");
    let why = silent["reason"].as_str().unwrap();
    assert!(why.contains("does not count its heap"), "{why}");
    let hop = "foreign/my-threads/callee=noop,route=spawn-blocking:time_per_op";
    let rows = summary["rows"].as_array().unwrap();
    let hop = rows.iter().find(|row| row["id"] == hop).unwrap();
    assert_eq!(hop["status"], "not_offered");
}
