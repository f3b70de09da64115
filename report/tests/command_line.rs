//! The command line: what is refused, in which words, with which exit code.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};

use snapbox::{assert_data_eq, str};

use common::{corolab, lines, of_kind, run, said};

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn too_few_descriptors_cost_the_children_that_find_none_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let mut limited = std::process::Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_corolab");
    limited.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", binary]);
    limited.args(["run", "--smoke", "-q", "-f", "^yield/tasks=2$", "--out"]);
    let output = limited.arg(&record).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let summary = fs::read_to_string(record.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let of = |status: &str| {
        let rows = summary["rows"].as_array().unwrap().iter();
        rows.filter(|row| row["status"] == status)
            .collect::<Vec<_>>()
    };
    assert!(!of("ok").is_empty(), "whoever came first is measured");
    let without = of("infeasible");
    assert!(!without.is_empty(), "{}", said(&output));
    for row in without {
        let why = row["reason"].as_str().unwrap();
        assert!(
            why.contains("the limit is 40") && why.contains("ulimit -n"),
            "{why}"
        );
    }
}

#[test]
fn a_filter_that_matches_nothing_names_the_way_out() {
    let output = run(&["run", "-f", "nothing_like_that"]);
    assert_eq!(code(&output), Some(2));
    assert_data_eq!(
        said(&output),
        str![[r#"
corolab: --filter nothing_like_that leaves no condition: the workloads are switch, [..], and `corolab list` prints every condition

"#]]
    );
}

#[test]
fn an_unknown_engine_is_told_the_names() {
    let output = run(&["run", "-e", "goroutines"]);
    assert_eq!(code(&output), Some(2));
    assert_data_eq!(
        said(&output),
        str![[r#"
corolab: --engine goroutines matches no contender: there are call, [..]tokio-multi[..]

"#]]
    );
}

#[test]
fn a_broken_expression_is_told_where() {
    let output = run(&["list", "-f", "(switch"]);
    assert_eq!(code(&output), Some(2));
    assert_data_eq!(
        said(&output),
        str![[r#"
corolab: --filter "(switch" is no regular expression (unclosed group)

"#]]
    );
}

#[test]
fn unknown_verbs_and_values_are_usage() {
    for arguments in [
        &["frobnicate"][..],
        &["run", "--budget", "5 parsecs"],
        &["run", "--shard", "4/3"],
        &["run", "--workers", "0"],
        &["run", "--quick", "--full"],
        &["run", "--out", "a", "--resume", "b"],
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(said(&output).starts_with("error: "), "{}", said(&output));
    }
}

#[test]
fn a_budget_that_cannot_be_kept_is_refused_with_the_number() {
    let output = run(&["run", "--dry-run", "--budget", "2s"]);
    assert_eq!(code(&output), Some(2));
    assert_data_eq!(
        said(&output),
        str![[r#"
corolab: 5 launches of [..] blocks take about [..] s even with 5 turns each, and the budget is 2 s: give more time, fewer --launches, or a --filter

"#]]
    );
}

#[test]
fn an_output_folder_is_checked_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let there = dir.path().to_str().unwrap();
    let output = run(&["run", "--smoke", "--out", there]);
    assert_eq!(code(&output), Some(2));
    assert!(said(&output).ends_with("exists: give another --out, or go on with it by --resume\n"));
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "nothing was written"
    );
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let beneath = file.join("record");
    let output = run(&["run", "--smoke", "--out", beneath.to_str().unwrap()]);
    assert_eq!(code(&output), Some(2));
    assert!(
        said(&output).contains("cannot be made (Not a directory"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_folder_that_is_no_record_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let there = dir.path().to_str().unwrap();
    for arguments in [["report", there], ["claims", there]] {
        let output = run(&arguments);
        assert_eq!(code(&output), Some(2));
        assert!(
            said(&output).contains("is no record of corolab"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn odd_bytes_in_a_folders_name_are_only_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join(OsStr::from_bytes(b"odd \xff\n'name"));
    let output = corolab()
        .args([
            "run",
            "--smoke",
            "-f",
            "^switch/live=1$",
            "-e",
            "call",
            "--out",
        ])
        .arg(&record)
        .output()
        .unwrap();
    assert_eq!(code(&output), Some(0), "{}", said(&output));
    assert_eq!(of_kind(&lines(&record), "sample").len(), 2);
    let output = corolab().arg("report").arg(&record).output().unwrap();
    assert_eq!(code(&output), Some(0), "{}", said(&output));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [
        &["list", "--full"][..],
        &["run", "--full", "--dry-run"],
        &["doctor"],
    ] {
        let mut child = corolab()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), Some(0), "{arguments:?}");
        assert_eq!(said(&output), "", "{arguments:?}");
    }
}

#[test]
fn nobody_listens_at_all_and_the_record_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let mut child = corolab()
        .args([
            "run",
            "--smoke",
            "-v",
            "-f",
            "^switch/live=1$",
            "-e",
            "call",
            "--out",
        ])
        .arg(&record)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(of_kind(&lines(&record), "session_ended").len(), 1);
    assert!(record.join("report.html").is_file());
}

#[test]
fn a_dry_run_tells_conditions_count_time_and_memory() {
    let output = run(&[
        "run",
        "--smoke",
        "--dry-run",
        "-f",
        "^switch/live=1$",
        "-e",
        "corosensei$",
    ]);
    assert_eq!(code(&output), Some(0));
    assert_data_eq!(
        String::from_utf8_lossy(&output.stdout).into_owned(),
        str![[r#"
switch/call/live=1
switch/corosensei/live=1
2 conditions in 1 blocks, 1 launches of up to 2 turns; 0 refused before anything runs
about 0 s, at most about 16 MiB at a time

"#]]
    );
}

#[test]
fn a_list_names_workloads_contenders_and_conditions() {
    let output = run(&["list", "--smoke"]);
    assert_eq!(code(&output), Some(0));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["workloads\n", "contenders\n", "conditions\n", "refused\n"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("  yield/may/tasks=2\n"), "{text}");
    assert!(
        text.contains("corosensei 0.3"),
        "versions come from the lock file"
    );
}

#[test]
fn the_results_of_a_run_go_to_standard_output_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    for (format, start) in [("json", "{"), ("csv", "id,"), ("md", "#")] {
        let record = dir.path().join(format);
        let output = corolab()
            .args([
                "run",
                "--smoke",
                "-q",
                "-f",
                "^switch/live=1$",
                "-e",
                "call",
            ])
            .args(["--format", format, "--out"])
            .arg(&record)
            .output()
            .unwrap();
        assert_eq!(code(&output), Some(0), "{}", said(&output));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.starts_with(start),
            "{format}: {}",
            &text[..text.len().min(80)]
        );
        assert!(
            text.contains("switch/call/live=1:time_per_op") || format == "md",
            "{text}"
        );
    }
}

#[test]
fn a_child_that_nobody_started_says_what_it_is() {
    let output = run(&["child"]);
    assert_eq!(code(&output), Some(2));
    assert!(said(&output).contains("start it with `corolab run --runner PATH`"));
}

#[test]
fn one_condition_against_itself_is_counted() {
    let output = run(&[
        "agree",
        "--condition",
        "switch/call/live=1",
        "--comparisons",
        "1",
        "--launches",
        "2",
        "--turns",
        "3",
    ]);
    assert_eq!(code(&output), Some(0), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with("switch/call/live=1 against itself: "),
        "{text}"
    );
    assert!(text.contains("of 1 comparisons called different"), "{text}");
    let output = run(&["agree", "--condition", "no/such/thing"]);
    assert_eq!(code(&output), Some(2));
}
