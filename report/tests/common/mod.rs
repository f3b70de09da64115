//! Helpers of the tests that run the binary.

#![allow(
    dead_code,
    reason = "each test file is a program of its own and uses a part"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The binary, undisturbed by the environment.
pub fn corolab() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corolab"));
    command.env_remove("TOKIO_WORKER_THREADS");
    command.env_remove("COROLAB_WIRE");
    command
}

/// Runs the binary to its end.
pub fn run(arguments: &[&str]) -> Output {
    corolab().args(arguments).output().expect("corolab starts")
}

/// What it said on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whole lines of a record's samples.
pub fn lines(record: &Path) -> Vec<Value> {
    let text = fs::read_to_string(record.join("samples.jsonl")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Lines of one kind.
pub fn of_kind(lines: &[Value], kind: &str) -> Vec<Value> {
    lines
        .iter()
        .filter(|line| line["kind"] == kind)
        .cloned()
        .collect()
}

/// Sends a signal by name.
pub fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    assert!(sent.expect("kill is there").success());
}

/// Waits until `holds`, for as long as a slow machine may need.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited in vain: {what}");
}
