//! `report.md`.

use std::fmt::Write as _;

use super::number::host_line;
use super::{legs, table};
use crate::summary::Summary;
use crate::verdict::plain;

/// The report as Markdown.
pub fn report(summary: &Summary) -> String {
    let mut text = String::new();
    let mut say = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    say("# Stackful green threads or stackless futures?\n");
    say(&format!(
        "Measured by `{}` in {:.0} s, begun {}, on {}.\n",
        summary.command,
        summary.wall_s,
        summary.began,
        host_line(&summary.host)
    ));
    say(&headline(summary));
    let duels = plain::duels(summary);
    say(&format!("{}\n", plain::score(&duels)));
    for duel in &duels {
        say(&format!("- {}", plain::sentence(duel)));
    }
    let controlled = legs::controlled(summary);
    if !controlled.is_empty() {
        say(&format!(
            "\n## The controlled experiment\n\nFibers and futures on the same scheduler. {} Measured by \
             `{}`.\n",
            legs::HEAP,
            summary.command
        ));
        say(&grid(&legs::CONTROLLED, &controlled));
    }
    say("\n## Every block\n");
    for block in &summary.blocks {
        let rows = table::block(summary, block);
        if rows.is_empty() {
            continue;
        }
        say(&format!(
            "### {}\n\n{}. Measured by `{}`.\n",
            block.id,
            table::settings(block),
            summary.command
        ));
        say(&grid(&table::BLOCK, &rows));
    }
    // A table that is taken out of the report still says where it comes from.
    let by = format!("Measured by `{}`.\n", summary.command);
    for (title, table) in [
        (
            "Memory of a waiting task",
            grid(&legs::MEMORY, &legs::memory(summary)),
        ),
        (
            "Without a figure",
            grid(&table::REFUSED, &table::refused(summary)),
        ),
        (
            "Cost of our own abstraction",
            grid(&table::OWN_COST, &table::own_cost(summary)),
        ),
        ("Claims", grid(&table::CLAIMS, &table::claims(summary))),
        (
            "Contenders",
            grid(&table::CONTENDERS, &table::contenders(summary)),
        ),
    ] {
        say(&format!("## {title}\n\n{by}"));
        say(&table);
    }
    if !summary.warnings.is_empty() {
        say("## Warnings\n");
        for warning in &summary.warnings {
            say(&format!("- {warning}"));
        }
    }
    text
}

/// The headline table, as the README has it too.
pub fn headline(summary: &Summary) -> String {
    grid(&table::HEADLINE, &table::headline(summary))
}

/// Text that may stand in a cell: a child's last words hold what they like.
fn in_cell(text: &str) -> String {
    let line = text.split(['\n', '\r']).collect::<Vec<_>>().join(" ");
    line.replace('<', "&lt;").replace('|', "\\|")
}

fn grid<const N: usize>(heads: &[&str; N], rows: &[[String; N]]) -> String {
    if rows.is_empty() {
        return "None.\n".to_owned();
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(heads.iter().map(|head| (*head).to_owned()).collect());
    text.push_str(&line(vec!["---".to_owned(); N]));
    for row in rows {
        text.push_str(&line(row.iter().map(|cell| in_cell(cell)).collect()));
    }
    text
}
