//! `corolab run`: plan, measure, write the record and its views.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use corolab_lab::contender::Profile;
use corolab_syscalls::limits;
use jiff::Timestamp;

use super::choose::make_plan;
use super::list::print;
use super::report::{show, write_views};
use crate::cli::{Run, usage};
use crate::estimate::Estimate;
use crate::host::{self, Roots};
use crate::plan::{FEWEST_TURNS, Planned, crowded};
use crate::record::line::{Line, SessionBegan};
use crate::record::manifest::{Manifest, Plan};
use crate::record::{Record, Writer, provenance};
use crate::run::interrupt::{catch_interrupts, interrupted};
use crate::run::program::Cast;
use crate::run::progress::Loudness;
use crate::run::resume::{same, standing};
use crate::run::session::{Session, Standing};
use crate::summary::{Host, Summary};
use crate::tell;

/// Measures.
///
/// # Errors
/// Bad input, or a record that cannot be written.
pub fn run(options: &Run) -> Result<ExitCode> {
    let patience = options.patience()?;
    let cast = Cast::gather(&options.selection.runner, patience)?;
    if let Some(dir) = &options.resume {
        let record = Record::read(dir)?;
        let planned = if options.plans_nothing() {
            None
        } else {
            Some(planned(options, &cast)?)
        };
        let manifest = provenance::manifest(&record.manifest.plan, cast.profiles())?;
        let host = host::facts(&Roots::default());
        same(
            dir,
            &record,
            &manifest,
            planned.as_ref().map(|planned| &planned.plan),
            &host,
        )?;
        let (session, standing) = standing(&record.lines);
        let writer = Writer::open(dir)?;
        return measure(options, &cast, &record.manifest, session, standing, writer);
    }
    let mut planned = planned(options, &cast)?;
    let profiles = cast.profiles();
    let estimate = estimate(&profiles);
    let least = least_ns(&planned.plan, &estimate);
    if planned.plan.budget_ns.is_some_and(|budget| least > budget) {
        if options.budget.is_some() {
            return Err(too_short(&planned.plan, least));
        }
        // Nobody asked for this time: it is what the plan usually takes.
        tell!(
            "this plan takes about {:.0} s on this machine",
            least as f64 / 1e9
        );
        planned.plan.budget_ns = None;
    }
    if options.dry_run {
        return print(&dry_run(&planned, &estimate));
    }
    let manifest = provenance::manifest(&planned.plan, cast.profiles())?;
    let host = host::facts(&Roots::default());
    let dir = options.out.clone().unwrap_or_else(|| usual_folder(&host));
    let mut writer = Writer::create(&dir, &manifest, &host)?;
    let refused: Vec<Line> = planned.refused.iter().cloned().map(Line::Refused).collect();
    writer.append(&refused)?;
    measure(options, &cast, &manifest, 1, Standing::default(), writer)
}

fn estimate(profiles: &[Profile]) -> Estimate<'_> {
    Estimate {
        profiles,
        max_map_count: limits::max_map_count().ok(),
    }
}

fn planned(options: &Run, cast: &Cast) -> Result<Planned> {
    let seed = options.seed.unwrap_or(1);
    let budget_ns = options.budget.map(|budget| budget.as_nanos() as u64);
    make_plan(&options.selection, cast, options.launches, budget_ns, seed)
}

/// One session of measuring, then the views.
fn measure(
    options: &Run,
    cast: &Cast,
    manifest: &Manifest,
    number: u32,
    standing: Standing,
    mut writer: Writer,
) -> Result<ExitCode> {
    catch_interrupts()?;
    let loudness = match (options.quiet, options.verbose) {
        (true, _) => Loudness::Quiet,
        (_, true) => Loudness::Verbose,
        _ => Loudness::Usual,
    };
    if loudness != Loudness::Quiet {
        warnings(&manifest.plan, manifest)
            .iter()
            .for_each(|warning| tell!("{warning}"));
    }
    writer.append(&[Line::SessionBegan(SessionBegan {
        session: number,
        at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        binary: manifest.binary.clone(),
    })])?;
    let plan = &manifest.plan;
    let estimate = estimate(&manifest.contenders);
    let patience = options.patience()?;
    let mut session = Session {
        number,
        plan,
        cast,
        patience,
        standing,
        loudness,
        estimate,
    };
    session.run(&mut writer)?;
    let dir = writer.dir().to_owned();
    drop(writer);
    let summary = write_views(&dir)?;
    let shown = show(&summary, options.format, options.color);
    if loudness != Loudness::Quiet {
        tell!("record: {}", dir.display());
        tell!("report: {}", dir.join("report.html").display());
    }
    if interrupted() {
        tell!(
            "interrupted: what was measured is kept; `corolab run --resume {}` goes on",
            dir.display()
        );
        return Ok(ExitCode::from(130));
    }
    // A reader of the table that has gone does not undo a failure.
    let failed = tell_failures(&summary);
    shown?;
    Ok(if failed {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Names every condition that failed; whether there is one.
fn tell_failures(summary: &Summary) -> bool {
    let failed = summary.rows.iter().filter(|row| row.status.is_failure());
    failed.fold(false, |_, row| {
        tell!(
            "{}: {}: {}",
            row.id,
            row.status.name(),
            row.reason.as_deref().unwrap_or("")
        );
        true
    })
}

/// What to know before the run.
fn warnings(plan: &Plan, manifest: &Manifest) -> Vec<String> {
    let mut warnings: Vec<String> = crowded(plan)
        .into_iter()
        .map(|sentence| format!("warning: {sentence}"))
        .collect();
    if manifest.profile == "debug" {
        warnings.push(
            "warning: a debug build measures, and its figures say nothing; use `cargo run \
             --release`"
                .to_owned(),
        );
    }
    warnings
}

/// The least time that a plan takes, with every launch cut short and a tenth
/// for what an estimate overlooks.
fn least_ns(plan: &Plan, estimate: &Estimate<'_>) -> u64 {
    estimate.total_ns(plan, FEWEST_TURNS.min(plan.turns)) / 10 * 11
}

/// A budget that cannot be kept.
fn too_short(plan: &Plan, least: u64) -> anyhow::Error {
    usage(format!(
        "{} launches of {} blocks take about {:.0} s even with {} turns each, and the budget is \
         {:.0} s: give more time, fewer --launches, or a --filter",
        plan.launches,
        plan.blocks.len(),
        least as f64 / 1e9,
        FEWEST_TURNS.min(plan.turns),
        plan.budget_ns.unwrap_or(0) as f64 / 1e9
    ))
}

fn dry_run(planned: &Planned, estimate: &Estimate<'_>) -> String {
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
    let mut seconds = estimate.total_ns(plan, plan.turns) as f64 / 1e9;
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
    for sentence in crowded(plan) {
        let _ = writeln!(text, "{sentence}");
    }
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
