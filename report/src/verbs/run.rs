//! `corolab run`: plan, measure, write the record and its views.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, fs};

use anyhow::Result;
use corolab_lab::{versions, workload};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::list::{make_plan, print};
use super::report::{show, write_views};
use crate::cli::{Run, usage};
use crate::host::{self, Roots};
use crate::plan::{FEWEST_TURNS, Planned, expected_total_ns};
use crate::record::line::{Line, SessionBegan};
use crate::record::manifest::{self, Manifest};
use crate::record::{Record, Writer};
use crate::run::program::Cast;
use crate::run::progress::Loudness;
use crate::run::session::{Session, catch_interrupts, interrupted};
use crate::summary::Host;

/// Measures.
///
/// # Errors
/// Bad input, or a record that cannot be written.
pub fn run(options: &Run) -> Result<ExitCode> {
    let patience = Duration::try_from_secs_f64(options.deadline)
        .map_err(|_| usage("--deadline is a number of seconds"))?;
    let cast = Cast::gather(&options.selection.runner, patience)?;
    let seed = options.seed.unwrap_or(1);
    let budget_ns = options.budget.map(|budget| budget.as_nanos() as u64);
    let mut planned = make_plan(&options.selection, &cast, options.launches, budget_ns, seed)?;
    if options.dry_run {
        return print(&dry_run(&planned));
    }
    within_budget(&planned)?;
    catch_interrupts()?;
    let host = host::facts(&Roots::default());
    let manifest = manifest(&planned, &cast)?;
    let (mut writer, number, whole, next) = match &options.resume {
        Some(dir) => {
            let record = Record::read(dir)?;
            same(dir, &record, &manifest, &host)?;
            planned.plan = record.manifest.plan.clone();
            let (number, whole, next) = standing(&record);
            (Writer::open(dir)?, number, whole, next)
        }
        None => {
            let dir = options.out.clone().unwrap_or_else(|| usual_folder(&host));
            let mut writer = Writer::create(&dir, &manifest, &host)?;
            let refused: Vec<Line> = planned.refused.iter().cloned().map(Line::Refused).collect();
            writer.append(&refused)?;
            (writer, 1, BTreeMap::new(), BTreeMap::new())
        }
    };
    writer.append(&[Line::SessionBegan(SessionBegan {
        session: number,
        at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        binary: manifest.binary.clone(),
    })])?;
    let loudness = match (options.quiet, options.verbose) {
        (true, _) => Loudness::Quiet,
        (_, true) => Loudness::Verbose,
        _ => Loudness::Usual,
    };
    let mut session = Session {
        number,
        plan: &planned.plan,
        cast: &cast,
        patience,
        whole,
        next,
        loudness,
    };
    session.run(&mut writer)?;
    let dir = writer.dir().to_owned();
    drop(writer);
    let summary = write_views(&dir)?;
    let shown = show(&summary, options.format, options.color);
    if loudness != Loudness::Quiet {
        eprintln!("record: {}", dir.display());
        eprintln!("report: {}", dir.join("report.html").display());
    }
    if interrupted() {
        eprintln!(
            "interrupted: what was measured is kept; `corolab run --resume {}` goes on",
            dir.display()
        );
        drop(shown);
        return Ok(ExitCode::from(130));
    }
    shown?;
    let failed: Vec<_> = summary
        .rows
        .iter()
        .filter(|row| row.status.is_failure())
        .collect();
    for row in &failed {
        eprintln!(
            "{}: {}: {}",
            row.id,
            row.status.name(),
            row.reason.as_deref().unwrap_or("")
        );
    }
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Refuses a budget that cannot be kept.
fn within_budget(planned: &Planned) -> Result<()> {
    let Some(budget) = planned.plan.budget_ns else {
        return Ok(());
    };
    let least = expected_total_ns(&planned.plan, FEWEST_TURNS.min(planned.plan.turns));
    if least <= budget {
        return Ok(());
    }
    Err(usage(format!(
        "{} launches of {} blocks take about {:.0} s even with {FEWEST_TURNS} turns each, and the \
         budget is {:.0} s: give more time, fewer --launches, or a --filter",
        planned.plan.launches,
        planned.plan.blocks.len(),
        least as f64 / 1e9,
        budget as f64 / 1e9
    )))
}

fn dry_run(planned: &Planned) -> String {
    let plan = &planned.plan;
    let mut text = String::new();
    for block in &plan.blocks {
        for condition in &block.conditions {
            let _ = writeln!(text, "{}", condition.id());
        }
    }
    let conditions: usize = plan.blocks.iter().map(|block| block.conditions.len()).sum();
    let peak = plan
        .blocks
        .iter()
        .map(|block| block.memory)
        .max()
        .unwrap_or(0);
    let mut seconds = expected_total_ns(plan, plan.turns) as f64 / 1e9;
    if let Some(budget) = plan.budget_ns {
        seconds = seconds.min(budget as f64 / 1e9);
    }
    let _ = writeln!(
        text,
        "{conditions} conditions in {} blocks, {} launches of up to {} turns; {} refused before \
         anything runs\nabout {seconds:.0} s, at most about {} MiB at a time",
        plan.blocks.len(),
        plan.launches,
        plan.turns,
        planned.refused.len(),
        peak >> 20
    );
    text
}

/// `results/<UTC>-<host>`
fn usual_folder(host: &Host) -> PathBuf {
    let name = host["hostname"].as_str().unwrap_or("unknown");
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    Path::new("results").join(format!("{now}-{name}"))
}

fn manifest(planned: &Planned, cast: &Cast) -> Result<Manifest> {
    let (revision, dirty) = source();
    Ok(Manifest {
        schema: manifest::SCHEMA.to_owned(),
        command: command_line(),
        plan: planned.plan.clone(),
        contenders: cast.profiles(),
        binary: hash(&env::current_exe()?)?,
        revision,
        dirty,
        rustc: versions::of("std").to_owned(),
        profile: if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
        .to_owned(),
        locked: versions::LOCKED
            .iter()
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
            .collect(),
    })
}

/// The command as a shell would take it, without the path of the binary.
fn command_line() -> String {
    let mut words = vec!["corolab".to_owned()];
    for argument in env::args_os().skip(1) {
        let word = argument.to_string_lossy().into_owned();
        let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            words.push(word);
        } else {
            words.push(format!("'{}'", word.replace('\'', "'\\''")));
        }
    }
    words.join(" ")
}

fn hash(path: &Path) -> Result<String> {
    let digest = Sha256::digest(fs::read(path)?);
    Ok(digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Git revision of the folder that this runs in, if it is our source.
fn source() -> (String, Option<bool>) {
    let git = |arguments: &[&str]| -> Option<String> {
        let told = Command::new("git").args(arguments).output().ok()?;
        told.status
            .success()
            .then(|| String::from_utf8_lossy(&told.stdout).trim().to_owned())
    };
    let ours = Path::new("benches/lab/Cargo.toml").is_file();
    match git(&["rev-parse", "HEAD"]).filter(|_| ours) {
        Some(revision) => {
            let dirty = git(&["status", "--porcelain", "--untracked-files=no"]);
            (revision, dirty.map(|changes| !changes.is_empty()))
        }
        None => ("unknown".to_owned(), None),
    }
}

/// Refuses to go on with a record of another binary, machine or plan.
fn same(dir: &Path, record: &Record, manifest: &Manifest, host: &Host) -> Result<()> {
    let mut differences = Vec::new();
    if record.manifest.binary != manifest.binary {
        differences.push("another binary".to_owned());
    }
    if record.manifest.plan != manifest.plan {
        differences.push("another plan".to_owned());
    }
    for fact in ["hostname", "cpu_model", "kernel", "cpus_allowed"] {
        if record.host.get(fact) != host.get(fact) {
            differences.push(format!("another {fact}"));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(usage(format!(
        "{} was measured with {}: measure anew with --out, or go on with the same command on the \
         same machine ({})",
        dir.display(),
        differences.join(", "),
        record.manifest.command
    )))
}

/// Number of the next session, and by block the launches that are whole and
/// the number of the next one.
fn standing(record: &Record) -> (u32, BTreeMap<String, u32>, BTreeMap<String, u32>) {
    let (mut session, mut whole, mut next) = (0, BTreeMap::new(), BTreeMap::new());
    let mut seen = |block: &str, launch: u32| {
        let next = next.entry(block.to_owned()).or_insert(0);
        *next = (*next).max(launch + 1);
    };
    for line in &record.lines {
        match line {
            Line::SessionBegan(began) => session = session.max(began.session),
            Line::Sample(taken) => seen(&taken.block, taken.launch),
            Line::Trial(trial) => seen(&trial.block, trial.launch),
            Line::Launch(launch) => {
                seen(&launch.block, launch.launch);
                if launch.complete {
                    *whole.entry(launch.block.clone()).or_insert(0) += 1;
                }
            }
            Line::Refused(_) | Line::SessionEnded(_) => {}
        }
    }
    (session + 1, whole, next)
}

/// Workloads, for the message about a filter that matches nothing.
pub fn names() -> String {
    workload::ALL
        .iter()
        .map(|workload| workload.name)
        .collect::<Vec<_>>()
        .join(", ")
}
