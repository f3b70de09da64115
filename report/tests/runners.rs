//! The runner against runners that misbehave.
//!
//! One run has them all in one block, beside the control and a runner that
//! does everything right. Each test looks at what the record says of one.
//!
//! A fake is a small script that starts this very test program again, in the
//! test named `fake`, which speaks the wire.

mod common;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use corolab_lab::child::{self, Turns};
use corolab_lab::contender::{Assignment, Contender, Family, Offer, admits_all};
use corolab_lab::sample::{Batch, Refusal};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::wire;
use serde_json::Value;

use common::{lines, of_kind, run, said};

/// What a fake does at its first turn, or before.
const FAKES: &[&str] = &[
    "fine",
    "sleeps",
    "mute",
    "panics",
    "segfaults",
    "leaves",
    "spins",
    "shouts",
    "half",
    "babbles",
    "wrong",
    "vanishes",
    "parent",
    "doubles",
];

const OFFERS: &[Offer] = &[Offer::measured("switch", measure)];

/// Not a test: the fakes, when they are started by a script.
#[test]
#[ignore = "started by the scripts of the other tests"]
fn fake() {
    let Ok(manner) = std::env::var("FAKE") else {
        return;
    };
    let contender = Contender {
        name: Box::leak(format!("fake-{manner}").into_boxed_str()),
        family: Family::Stackful,
        package: "std",
        version: "0",
        about: "A fake.",
        prices: None,
        maps_per_task: 0,
        offers: OFFERS,
        admits: admits_all,
    };
    let _ = child::main(&[&contender]);
    std::process::exit(0);
}

fn measure(_: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let manner = std::env::var("FAKE").unwrap();
    if manner == "mute" {
        std::thread::sleep(Duration::from_secs(60));
    }
    if manner == "spins" {
        std::thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
    let mut batches = 0;
    turns.serve(1, &|rounds| rounds, &mut |rounds| {
        batches += 1;
        let mut watch = Stopwatch::new();
        watch.start();
        std::thread::sleep(Duration::from_micros(200));
        watch.stop();
        // Two batches warm up, two are the first turn: it shows in the second.
        if batches == 5 {
            misbehave(&manner);
        }
        let answer = rounds + u64::from(manner == "wrong" && batches == 5);
        Ok(Batch::new(watch, answer))
    })
}

fn misbehave(manner: &str) {
    match manner {
        "sleeps" => std::thread::sleep(Duration::from_secs(60)),
        "panics" => panic!("a fake panics on purpose"),
        "segfaults" => {
            eprintln!("\nabout to fall"); // the test harness has begun a line
            // The standard library's handler takes itself away at the first.
            common::send("SEGV", std::process::id());
            common::send("SEGV", std::process::id());
            std::thread::sleep(Duration::from_secs(60));
        }
        "leaves" => std::process::exit(0),
        "shouts" => {
            let rubbish = "{\"say\":\"done\"}\n".repeat(100_000);
            drop(std::io::stdout().write_all(rubbish.as_bytes()));
        }
        "half" => {
            wire_in().write_all(b"{\"say\":\"sam").unwrap();
            std::process::exit(3);
        }
        "babbles" => wire_in().write_all(b"good morning\n").unwrap(),
        "doubles" => wire_in().write_all(b"{\"say\":\"done\"}\n").unwrap(),
        "parent" => {
            let mut sleep = Command::new("sleep");
            let sleep = sleep.arg("1000").stdin(Stdio::null()).spawn().unwrap();
            let told = std::env::var_os("FAKE_CHILD").unwrap();
            fs::write(told, sleep.id().to_string()).unwrap();
            std::process::exit(1);
        }
        _ => {}
    }
}

/// The writing end of the wire, behind the lab's back.
fn wire_in() -> File {
    let told = std::env::var(wire::VARIABLE).unwrap();
    let (_, writing) = told.split_once(',').unwrap();
    File::options()
        .write(true)
        .open(format!("/proc/self/fd/{writing}"))
        .unwrap()
}

/// Writes the script of a fake.
fn script(dir: &Path, manner: &str) -> PathBuf {
    let path = dir.join(manner);
    let me = std::env::current_exe().unwrap();
    let first = match manner {
        // It is there when it says hello, and not when it is started to measure.
        "vanishes" => "rm -- \"$0\"\n",
        _ => "",
    };
    let text = format!(
        "#!/bin/sh\n{first}FAKE={manner} FAKE_CHILD='{}' exec '{}' --exact fake --ignored --nocapture\n",
        dir.join("child").display(),
        me.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The one run that all tests look at.
struct Seen {
    _dir: tempfile::TempDir,
    root: PathBuf,
    record: PathBuf,
    code: Option<i32>,
    stderr: String,
    lines: Vec<Value>,
}

fn seen() -> &'static Seen {
    static SEEN: OnceLock<Seen> = OnceLock::new();
    SEEN.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        let record = root.join("record");
        let mut command = common::corolab();
        command.args([
            "run",
            "--smoke",
            "-f",
            "^switch/live=1$",
            "-e",
            "fake",
            "--deadline",
            "2",
        ]);
        command.arg("--out").arg(&record);
        for manner in FAKES {
            command.arg("--runner").arg(script(&root, manner));
        }
        let output = command.output().unwrap();
        Seen {
            lines: lines(&record),
            code: output.status.code(),
            stderr: said(&output),
            record,
            root,
            _dir: dir,
        }
    })
}

/// The trial of a fake: its status and its reason.
fn trial(contender: &str) -> (String, String) {
    let trials = of_kind(&seen().lines, "trial");
    let mut of_it = trials
        .iter()
        .filter(|trial| trial["condition"]["contender"] == contender);
    let trial = of_it
        .next()
        .unwrap_or_else(|| panic!("no trial of {contender}: {}", seen().stderr));
    assert!(of_it.next().is_none(), "one launch, one trial");
    let text = |key: &str| trial[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"))
}

fn samples(contender: &str) -> usize {
    let id = format!("switch/{contender}/live=1");
    let samples = of_kind(&seen().lines, "sample");
    samples
        .iter()
        .filter(|sample| sample["condition"] == id.as_str())
        .count()
}

fn assert_trial(manner: &str, status: &str, reason: &str) {
    let (got, why) = trial(&format!("fake-{manner}"));
    assert_eq!(got, status, "{manner}: {why}");
    assert!(why.contains(reason), "{manner}: {why}");
}

#[test]
fn whoever_does_right_is_measured_beside_them_all() {
    for contender in ["call", "fake-fine"] {
        assert_eq!(trial(contender), ("ok".into(), String::new()));
        assert_eq!(
            samples(contender),
            2,
            "{contender}: both turns of the smoke plan"
        );
    }
    assert_eq!(
        seen().code,
        Some(1),
        "a condition failed: {}",
        seen().stderr
    );
    let said = "switch/fake-panics/live=1:time_per_op: failed: panicked: a fake panics on purpose";
    assert!(seen().stderr.contains(said), "{}", seen().stderr);
    assert!(seen().record.join("summary.json").is_file());
}

#[test]
fn silence_is_cut_by_the_deadline() {
    assert_trial("sleeps", "timed_out", "silent for 2.0 s");
    assert_trial("mute", "timed_out", "silent for 2.0 s");
}

#[test]
fn a_panic_is_told_with_its_words() {
    assert_trial("panics", "failed", "panicked: a fake panics on purpose");
}

#[test]
fn a_signal_is_named_with_the_last_words() {
    assert_trial(
        "segfaults",
        "failed",
        "killed by SIGSEGV (11); it last printed \"about to fall\"",
    );
}

#[test]
fn an_end_without_a_word_is_told() {
    assert_trial("leaves", "failed", "ended without a word (exit status 0)");
}

#[test]
fn whoever_uses_the_cpu_without_the_baton_is_stopped_and_still_measured() {
    assert_trial("spins", "ok", "");
    assert_eq!(samples("fake-spins"), 2);
    let trials = of_kind(&seen().lines, "trial");
    let stilled = |contender: &str| {
        let found = trials
            .iter()
            .find(|trial| trial["condition"]["contender"] == contender);
        found.is_some_and(|trial| trial["stilled"] == true)
    };
    assert!(stilled("fake-spins"));
    assert!(!stilled("fake-fine"));
}

#[test]
fn rubbish_on_standard_output_is_harmless_and_kept_within_bounds() {
    assert_trial("shouts", "ok", "");
    assert_eq!(samples("fake-shouts"), 2);
    let log = seen()
        .record
        .join("log/switch_fake-shouts_live_1-launch0.txt");
    let kept = fs::metadata(log).unwrap().len();
    assert!((1_000..=256 << 10).contains(&kept), "{kept} bytes");
}

#[test]
fn half_a_line_is_told_as_such() {
    assert_trial(
        "half",
        "failed",
        "ended with exit status 3, in the middle of a line on the wire (\"{\\\"say\\\":\\\"sam\")",
    );
}

#[test]
fn what_is_not_of_the_wire_is_told() {
    assert_trial(
        "babbles",
        "failed",
        "a line that is not of the wire: \"good morning\"",
    );
    assert_trial("doubles", "failed", "it said Done out of turn");
}

#[test]
fn a_wrong_answer_is_no_sample() {
    assert_trial("wrong", "failed", "wrong answer after");
}

#[test]
fn a_program_that_is_not_there_any_more_costs_its_own_row() {
    assert_trial(
        "vanishes",
        "failed",
        "cannot be started: No such file or directory",
    );
}

#[test]
fn a_child_takes_whatever_it_has_started_with_it() {
    assert_trial("parent", "failed", "ended with exit status 1");
    let mut pid = String::new();
    File::open(seen().root.join("child"))
        .unwrap()
        .read_to_string(&mut pid)
        .unwrap();
    let status = Path::new("/proc").join(pid).join("status");
    common::wait_until("the child's child ends", || {
        // Whoever reaps orphans here may be slow; a zombie has ended as well.
        fs::read_to_string(&status).map_or(true, |text| text.contains("State:\tZ"))
    });
}

#[test]
fn a_runner_that_is_no_runner_is_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("record");
    let out = out.to_str().unwrap();
    for (runner, why) in [
        (
            "/no/such/runner",
            "cannot be started: No such file or directory",
        ),
        ("/bin/true", "ended without a word"),
    ] {
        let output = run(&["run", "--smoke", "--out", out, "--runner", runner]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(why), "{}", said(&output));
        assert!(!Path::new(out).exists(), "nothing was begun");
    }
    let twice = script(dir.path(), "fine");
    let twice = twice.to_str().unwrap();
    let output = run(&[
        "run", "--smoke", "--out", out, "--runner", twice, "--runner", twice,
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("a contender named fake-fine, which there is already"));
}

#[test]
fn a_runner_of_another_wire_is_told_both_versions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old");
    // dash and bash alike can write to a descriptor through /proc.
    fs::write(
        &path,
        "#!/bin/sh\necho '{\"say\":\"hello\",\"wire\":99,\"contenders\":[]}' > /proc/self/fd/${COROLAB_WIRE#*,}\n",
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let output = run(&["run", "--dry-run", "--runner", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("version 99 of the wire, this corolab version 2"),
        "{}",
        said(&output)
    );
}
