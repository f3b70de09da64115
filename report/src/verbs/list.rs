//! `corolab list`: what there is, and what a plan would hold.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use corolab_lab::workload::{self, Usual};

use super::choose::make_plan;
use crate::cli::Selection;
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
