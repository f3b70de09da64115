//! `corolab report DIR`: renders the views of a record again.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use comfy_table::Table;

use super::list::print;
use crate::cli::{Colour, Format, OfRecord};
use crate::record::{Record, write_whole};
use crate::summary::Summary;
use crate::{render, stats};

/// Renders the views again, byte for byte.
///
/// # Errors
/// The folder is no record, or cannot be written to.
pub fn report(of: &OfRecord) -> Result<ExitCode> {
    let summary = write_views(&of.dir)?;
    show(&summary, of.format, of.color)
}

/// Computes every view from the record and writes it beside it.
///
/// # Errors
/// The folder is no record, or cannot be written to.
pub fn write_views(dir: &Path) -> Result<Summary> {
    let summary = summary_of(dir)?;
    for (name, text) in render::views(&summary) {
        write_whole(dir, name, text.as_bytes())?;
    }
    Ok(summary)
}

/// The summary of a record.
///
/// # Errors
/// The folder is no record.
pub fn summary_of(dir: &Path) -> Result<Summary> {
    let record = Record::read(dir)?;
    let mut summary = stats::summarise(&record.manifest, &record.host, &record.lines);
    if record.broken > 0 {
        summary.warnings.push(format!(
            "{} lines of samples.jsonl are not whole and were passed over: a run was killed",
            record.broken
        ));
    }
    Ok(summary)
}

/// Prints a summary in the form asked for.
///
/// # Errors
/// Standard output is closed.
pub fn show(summary: &Summary, format: Format, colour: Colour) -> Result<ExitCode> {
    let view = |name: &str| {
        render::views(summary)
            .into_iter()
            .find(|(file, _)| *file == name)
            .map(|(_, text)| text)
    };
    let text = match format {
        Format::Text => {
            let terminal = std::io::stdout().is_terminal();
            let coloured = match colour {
                Colour::Always => true,
                Colour::Never => false,
                Colour::Auto => {
                    terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                }
            };
            Some(render::terminal::table(summary, width(), coloured))
        }
        Format::Json => view("summary.json"),
        Format::Csv => view("summary.csv"),
        Format::Md => view("report.md"),
    };
    print(&text.unwrap_or_default())
}

/// Columns of the terminal; 100 where there is none.
fn width() -> usize {
    Table::new().width().map_or(100, usize::from)
}
