//! `corolab list`: what there is, and what a plan would hold.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use corolab_lab::workload::{self, Usual};
use corolab_syscalls::{affinity, limits};
use regex::Regex;

use crate::cli::{Selection, usage};
use crate::host::Roots;
use crate::plan::{Planned, Wish, plan};
use crate::run::program::Cast;

/// Lists workloads, contenders and conditions.
///
/// # Errors
/// Bad input, or a closed standard output.
pub fn list(selection: &Selection) -> Result<ExitCode> {
    let cast = Cast::gather(&selection.runner, Duration::from_secs(10))?;
    let planned = make_plan(selection, &cast, None, None, 1)?;
    let mut text = String::from("workloads\n");
    for workload in workload::ALL {
        let _ = writeln!(text, "  {:<10} {}", workload.name, workload.what);
        for param in workload.params {
            let usual = match param.usual {
                Usual::None => String::new(),
                Usual::Number(n) => format!(" (usually {n})"),
                Usual::Word(word) => format!(" (usually {word})"),
            };
            let _ = writeln!(text, "  {:<10}   {}: {}{usual}", "", param.key, param.about);
        }
    }
    text.push_str("contenders\n");
    for profile in cast.profiles() {
        let _ = writeln!(
            text,
            "  {:<18} {:<9} {} {}: {}",
            profile.name,
            profile.family.name(),
            profile.package,
            profile.version,
            profile.about
        );
    }
    text.push_str("conditions\n");
    for block in &planned.plan.blocks {
        for condition in &block.conditions {
            let _ = writeln!(text, "  {condition}");
        }
    }
    text.push_str("refused\n");
    for refused in &planned.refused {
        let (id, status) = (refused.condition.id(), refused.status.name());
        let _ = writeln!(text, "  {id}: {status}: {}", refused.reason);
    }
    print(&text)
}

/// Prints to standard output; a reader that has gone is no error.
///
/// # Errors
/// The kernel's.
pub fn print(text: &str) -> Result<ExitCode> {
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The plan of a selection on this machine.
///
/// # Errors
/// A filter that is no regular expression, or chooses nothing.
pub fn make_plan(
    selection: &Selection,
    cast: &Cast,
    launches: Option<u32>,
    budget_ns: Option<u64>,
    seed: u64,
) -> Result<Planned> {
    let profiles = cast.profiles();
    let engine = regex("--engine", selection.engine.as_deref())?;
    if let Some(regex) = &engine {
        let names: Vec<_> = profiles
            .iter()
            .map(|profile| profile.name.as_str())
            .collect();
        if !names.iter().any(|name| regex.is_match(name)) {
            return Err(usage(format!(
                "--engine {regex} matches no contender: there are {}",
                names.join(", ")
            )));
        }
    }
    let cpus = affinity::allowed().unwrap_or_default();
    let wish = Wish {
        scale: selection.scale(),
        filter: regex("--filter", selection.filter.as_deref())?,
        filter_not: regex("--filter-not", selection.filter_not.as_deref())?,
        engine,
        workers: selection.workers,
        shard: selection.shard,
        launches,
        budget_ns,
        seed,
        profiles: &profiles,
        admits: &|condition| cast.admits(condition),
        cpus: &cpus,
        memory: Roots::default().memory_available(),
        max_map_count: limits::max_map_count().ok(),
    };
    let planned = plan(&wish);
    if planned.plan.blocks.is_empty() && planned.refused.is_empty() {
        return Err(usage(format!(
            "no condition matches --filter {} (with --filter-not {} and --engine {}): the \
             workloads are {}, and `corolab list` prints every condition",
            selection.filter.as_deref().unwrap_or("."),
            selection.filter_not.as_deref().unwrap_or("nothing"),
            selection.engine.as_deref().unwrap_or("."),
            super::run::names()
        )));
    }
    Ok(planned)
}

fn regex(flag: &str, text: Option<&str>) -> Result<Option<Regex>> {
    text.map(|text| {
        Regex::new(text).map_err(|why| {
            let why = why.to_string();
            let last = why.lines().last().unwrap_or("").trim().to_owned();
            usage(format!("{flag} {text:?} is no regular expression ({last})"))
        })
    })
    .transpose()
}
