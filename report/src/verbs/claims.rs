//! `corolab claims DIR`: what the rows of a record say of published claims.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;

use super::list::print;
use super::report::summary_of;
use crate::cli::{Format, OfRecord};

/// Prints the verdicts.
///
/// # Errors
/// The folder is no record.
pub fn claims(of: &OfRecord) -> Result<ExitCode> {
    let summary = summary_of(&of.dir)?;
    if of.format == Format::Json {
        return print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&summary.claims)?
        ));
    }
    let mut text = String::new();
    for claim in &summary.claims {
        let _ = writeln!(
            text,
            "{}: {}\n  {}\n  published: {} ({})\n  measured: {}\n  why: {}",
            claim.id,
            claim.verdict,
            claim.statement,
            claim.published,
            claim.source,
            claim.measured,
            claim.why
        );
        for row in &claim.rows {
            let _ = writeln!(text, "  row: {row}");
        }
    }
    print(&text)
}
