//! `report.md`.

use std::fmt::Write as _;

use corolab_lab::contender::Family;

use super::number::host_line;
use super::{foreign, legs, table};
use crate::summary::Summary;
use crate::verdict::{plain, words};

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
    say_calls(summary, &mut say);
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

/// The leg of calls out of a task.
fn say_calls(summary: &Summary, say: &mut impl FnMut(&str)) {
    let sentences = words::calls(summary);
    if sentences.is_empty() {
        return;
    }
    let by = format!("Measured by `{}`.\n", summary.command);
    say(&format!("\n## Calls out of a task\n\n{by}"));
    for sentence in sentences {
        say(&format!("- {sentence}"));
    }
    let heads = foreign::matrix_heads();
    for (family, who) in [
        (Family::Stackful, "Green threads and coroutines"),
        (Family::Stackless, "Futures"),
    ] {
        say(&format!(
            "\n### {who}: callee by route\n\nThe lowest time of one of them, what it adds to the same \
             call on a thread, and whose it is: {}. {by}",
            foreign::letters()
        ));
        say(&lines(&heads, &foreign::matrix(summary, family)));
    }
    let planted = format!(
        "Two callees that differ by four dependent additions, {}: what the rows find. {by}",
        foreign::planted_ns(summary)
    );
    for (title, about, table) in [
        (
            "A hundred million calls in one batch",
            &by,
            grid(&foreign::BATCHES, &foreign::batches(summary)),
        ),
        (
            "Hops to another thread",
            &by,
            grid(&foreign::HOPS, &foreign::hops(summary)),
        ),
        (
            "What others lose",
            &by,
            grid(&foreign::COLLATERAL, &foreign::collateral(summary)),
        ),
        (
            "A planted nanosecond",
            &planted,
            grid(&foreign::PLANTED, &foreign::planted(summary)),
        ),
    ] {
        say(&format!("### {title}\n\n{about}"));
        say(&table);
    }
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
    lines(&heads.map(str::to_owned), rows)
}

fn lines(heads: &[String], rows: &[impl AsRef<[String]>]) -> String {
    if rows.is_empty() {
        return "None.\n".to_owned();
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(heads.to_vec());
    text.push_str(&line(vec!["---".to_owned(); heads.len()]));
    for row in rows {
        text.push_str(&line(
            row.as_ref().iter().map(|cell| in_cell(cell)).collect(),
        ));
    }
    text
}
