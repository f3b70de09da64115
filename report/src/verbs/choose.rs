//! From what the command line chooses to a plan for this machine.

use anyhow::Result;
use corolab_lab::workload::{self, Scale};
use corolab_syscalls::{affinity, limits};
use regex::Regex;

use crate::cli::{Selection, usage};
use crate::host::Roots;
use crate::plan::{Planned, Wish, plan};
use crate::run::program::Cast;

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
    let planned = on_this_machine(cast, |wish| {
        wish.scale = selection.scale();
        wish.filter = regex("--filter", selection.filter.as_deref())?;
        wish.filter_not = regex("--filter-not", selection.filter_not.as_deref())?;
        wish.engine = regex("--engine", selection.engine.as_deref())?;
        wish.workers = selection.workers;
        wish.shard = selection.shard;
        wish.launches = launches;
        wish.budget_ns = budget_ns;
        wish.seed = seed;
        known_engine(wish)
    })?;
    if planned.plan.blocks.is_empty() && planned.refused.is_empty() {
        return Err(nothing(selection));
    }
    Ok(planned)
}

/// Every condition of a scale on this machine.
///
/// # Errors
/// None.
pub fn whole_plan(scale: Scale, cast: &Cast, seed: u64) -> Result<Planned> {
    on_this_machine(cast, |wish| {
        wish.scale = scale;
        wish.seed = seed;
        Ok(())
    })
}

fn on_this_machine(cast: &Cast, say: impl FnOnce(&mut Wish<'_>) -> Result<()>) -> Result<Planned> {
    let profiles = cast.profiles();
    let cpus = affinity::allowed().unwrap_or_default();
    let mut wish = Wish {
        scale: Scale::Quick,
        filter: None,
        filter_not: None,
        engine: None,
        workers: None,
        shard: None,
        launches: None,
        budget_ns: None,
        seed: 1,
        profiles: &profiles,
        admits: &|condition| cast.admits(condition),
        cpus: &cpus,
        memory: Roots::default().memory_available(),
        max_map_count: limits::max_map_count().ok(),
    };
    say(&mut wish)?;
    Ok(plan(&wish))
}

fn known_engine(wish: &Wish<'_>) -> Result<()> {
    let Some(regex) = &wish.engine else {
        return Ok(());
    };
    let names: Vec<_> = wish
        .profiles
        .iter()
        .map(|profile| profile.name.as_str())
        .collect();
    if names.iter().any(|name| regex.is_match(name)) {
        return Ok(());
    }
    Err(usage(format!(
        "--engine {regex} matches no contender: there are {}",
        names.join(", ")
    )))
}

/// Nothing was chosen: by which flags, and the way out.
fn nothing(selection: &Selection) -> anyhow::Error {
    let mut flags = Vec::new();
    let texts = [
        ("--filter", &selection.filter),
        ("--filter-not", &selection.filter_not),
        ("--engine", &selection.engine),
    ];
    for (flag, text) in texts {
        flags.extend(text.as_ref().map(|text| format!("{flag} {text}")));
    }
    flags.extend(
        selection
            .shard
            .map(|shard| format!("--shard {}/{}", shard.index, shard.of)),
    );
    let names: Vec<_> = workload::ALL.iter().map(|workload| workload.name).collect();
    usage(format!(
        "{} leaves no condition: the workloads are {}, and `corolab list` prints every condition",
        flags.join(" with "),
        names.join(", ")
    ))
}

fn regex(flag: &str, text: Option<&str>) -> Result<Option<Regex>> {
    text.map(|text| {
        Regex::new(text).map_err(|why| {
            let why = why.to_string();
            let last = why
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ")
                .to_owned();
            usage(format!("{flag} {text:?} is no regular expression ({last})"))
        })
    })
    .transpose()
}
