//! The house holds together: three lists of workloads, twins in step, prose in
//! step with the code, and a word from every contender on every workload.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use corolab_benches::contenders;
use corolab_lab::workload;

fn room(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder)
}

/// Names of the workload files in a folder.
fn files(folder: &str) -> BTreeSet<String> {
    fs::read_dir(room(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| name != "mod" && name != "gate")
        .collect()
}

/// Names of the functions of a file, in order.
fn functions(folder: &str, workload: &str) -> Vec<String> {
    text(folder, workload)
        .lines()
        .filter_map(|line| line.split_once("fn "))
        .filter(|(before, _)| matches!(*before, "" | "pub " | "async " | "pub async "))
        .filter_map(|(_, after)| after.split(['<', '(']).next())
        .map(str::to_owned)
        .collect()
}

fn text(folder: &str, workload: &str) -> String {
    fs::read_to_string(room(folder).join(format!("{workload}.rs"))).unwrap()
}

const GREEN: &str = "green/src/workload";
const STACKLESS: &str = "stackless/src/workload";

#[test]
fn the_three_lists_of_workloads_are_one() {
    let stated = files("benches/lab/src/workload");
    assert_eq!(
        stated.len(),
        workload::ALL.len(),
        "a file for each workload and no more"
    );
    assert_eq!(files(GREEN), stated);
    assert_eq!(files(STACKLESS), stated);
}

#[test]
fn twins_have_the_same_items_in_the_same_order() {
    let workloads = files(GREEN);
    let of_workloads = workloads
        .iter()
        .map(|name| (GREEN, STACKLESS, name.as_str()));
    let others = ["beside", "gate"].map(|name| ("green/src", "stackless/src", name));
    for (green, stackless, name) in of_workloads.chain(others) {
        assert_eq!(functions(green, name), functions(stackless, name), "{name}");
    }
}

#[test]
fn the_clock_opens_and_closes_once_in_each_twin() {
    for workload in files(GREEN) {
        for folder in [GREEN, STACKLESS] {
            let text = text(folder, &workload);
            for call in ["watch.start();", "watch.stop();"] {
                assert_eq!(
                    text.matches(call).count(),
                    1,
                    "{call} in {folder}/{workload}.rs"
                );
            }
        }
    }
}

#[test]
fn every_contender_speaks_of_every_workload() {
    let all: Vec<_> = workload::ALL.iter().map(|workload| workload.name).collect();
    for contender in contenders() {
        let spoken: Vec<_> = contender
            .offers
            .iter()
            .map(|offer| offer.workload)
            .collect();
        assert_eq!(spoken, all, "{}", contender.name);
    }
}

#[test]
fn contenders_have_names_of_their_own_and_versions_from_the_lock_file() {
    let mut names = BTreeSet::new();
    for contender in contenders() {
        assert!(names.insert(contender.name), "{} twice", contender.name);
        assert_ne!(contender.version, "unknown", "{}", contender.name);
        if let Some(priced) = contender.prices {
            assert!(
                contenders().any(|other| other.name == priced),
                "{priced} is nobody"
            );
        }
    }
}

#[test]
fn libc_stays_on_the_ground_floor() {
    for folder in [
        "benches/lab/src",
        "green/src",
        "stackless/src",
        "report/src",
        "benches",
    ] {
        let mut left = vec![room(folder)];
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("twins.rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("libc::"), "{} calls libc", path.display());
            }
        }
    }
}

#[test]
fn the_readme_keeps_its_order_and_its_two_commands() {
    let readme = fs::read_to_string(room("README.md")).unwrap();
    let order = [
        "# corolab",
        "report/report.png",
        "cargo run --release",
        "cargo test --workspace",
        "| block | best stackful |",
        "## What it shows, and what not",
        "## Method",
        "## Contenders",
        "## Command line",
        "## Reproducing",
        "## Minimum supported Rust version",
        "## Licence",
    ];
    let mut rest = readme.as_str();
    for part in order {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("{part} is missing or out of its place"));
        rest = &rest[at..];
    }
    for contender in contenders() {
        assert!(
            readme.contains(&format!("| {} |", contender.name)),
            "{}",
            contender.name
        );
        let version = format!("{} {}", contender.package, contender.version);
        assert!(
            readme.contains(&version) || contender.package == "std",
            "{version}"
        );
    }
}

#[test]
fn the_changelog_names_the_version() {
    let changelog = fs::read_to_string(room("CHANGELOG.md")).unwrap();
    assert!(changelog.contains(&format!("## {}", env!("CARGO_PKG_VERSION"))));
}
