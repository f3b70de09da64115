//! The tables for a terminal.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, ContentArrangement, LineStyle, Table};

use super::number::host_line;
use super::table;
use crate::summary::Summary;
use crate::verdict::plain;

/// The report in short, at most `width` columns wide. Colour, if any, only
/// repeats what the words say.
pub fn table(summary: &Summary, width: usize, colour: bool) -> String {
    let width = u16::try_from(width.clamp(40, 400)).unwrap_or(100);
    let mut text = String::new();
    let mut say = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    say(&host_line(&summary.host));
    say(&format!(
        "{} ({:.0} s of measuring)",
        summary.command, summary.wall_s
    ));
    for block in &summary.blocks {
        let rows = table::block(summary, block);
        if rows.is_empty() {
            continue;
        }
        say("");
        say(&format!("{} · {}", block.id, table::settings(block)));
        // Notes are long; they are in the report and in the CSV.
        let cells = |row: &[String; 7]| row[..6].to_vec();
        let heads: Vec<&str> = table::BLOCK[..6].to_vec();
        say(&draw(&heads, rows.iter().map(cells), width, colour));
    }
    say("");
    say("The best of each family");
    let rows = table::headline(summary);
    say(&draw(
        &table::HEADLINE,
        rows.iter().map(|row| row.to_vec()),
        width,
        colour,
    ));
    say(&plain::score(&plain::duels(summary)));
    let failed = summary
        .rows
        .iter()
        .filter(|row| row.status.is_failure())
        .count();
    let other = table::refused(summary).len() - failed;
    say(&format!(
        "{failed} conditions failed; {other} have no figure for a reason (see the report)."
    ));
    for warning in &summary.warnings {
        say(&format!("warning: {warning}"));
    }
    text
}

fn draw(
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    width: u16,
    colour: bool,
) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING.header_separator(LineStyle::new('─', '─', '─', '─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(
        heads
            .iter()
            .map(|head| Cell::new(head).add_attribute(Attribute::Bold)),
    );
    for row in rows {
        table.add_row(row);
    }
    let drawn = table.to_string();
    drawn
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}
