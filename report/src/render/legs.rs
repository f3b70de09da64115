//! The tables of the report's single questions: stack or state on one scheduler,
//! and what a waiting task occupies.

use super::number::{told, whole};
use crate::summary::{BlockInfo, Row, Summary};
use crate::verdict::plain;

/// What to know before a row with more than one worker is trusted.
pub const HEAP: &str = "With more than one worker the heap decides too: whether what two workers \
    write shares cache lines depends on what was allocated before, and can make a row of either side \
    twice as dear in every launch. Another allocator, preloaded, tells.";

/// Heads of the controlled experiment.
pub const CONTROLLED: [&str; 5] = ["rows", "fiber", "future", "fiber ÷ future", "lower"];

/// The controlled experiment: the same scheduler, channels and timers, and only
/// the representation of a task differs. Fiber and future are named by what
/// they run on.
pub fn controlled(summary: &Summary) -> Vec<[String; 5]> {
    const PREFIX: &str = "corosensei-on-";
    let mut table = Vec::new();
    // Calls beside others have a table of their own: they are about the others.
    let alone = |block: &&BlockInfo| !block.params.contains("form=beside");
    for block in summary.blocks.iter().filter(alone) {
        let rows = plain::measured(summary, &block.id);
        for fiber in &rows {
            let Some(scheduler) = fiber.contender.strip_prefix(PREFIX) else {
                continue;
            };
            let same = |row: &&&Row| row.contender == scheduler && row.params == fiber.params;
            let Some(future) = rows.iter().find(same) else {
                continue;
            };
            let Some(ratio) = plain::ratio_of(summary, &fiber.id, &future.id) else {
                continue;
            };
            let lower = match ratio.verdict {
                "a lower" => "fiber",
                "b lower" => "future",
                other => other,
            };
            // A ratio of rows that jump says less than it seems to.
            let jumps = |row: &Row| row.notes.iter().any(|note| note.starts_with("two modes"));
            let jumpy = match (jumps(fiber), jumps(future)) {
                (false, false) => "",
                (true, false) => "; the fiber has two modes",
                (false, true) => "; the future has two modes",
                (true, true) => "; both have two modes",
            };
            table.push([
                format!("{}: {}", block.id, plain::name(future, block)),
                told(fiber).0,
                told(future).0,
                format!("{:.2} ({:.2} – {:.2})", ratio.ratio, ratio.low, ratio.high),
                format!("{lower}{jumpy}"),
            ]);
        }
    }
    table
}

/// Heads of the table of memory.
pub const MEMORY: [&str; 6] = [
    "block",
    "contender",
    "memory a task",
    "interval",
    "mappings in all",
    "making a task",
];

/// What a waiting task occupies, block by block, lowest first.
pub fn memory(summary: &Summary) -> Vec<[String; 6]> {
    let mut table = Vec::new();
    for block in &summary.blocks {
        let of = |metric: &str| {
            let rows = summary.rows.iter();
            rows.filter(move |row| row.block == block.id && row.figure.is_some())
                .filter(|row| row.metric == metric)
                .collect::<Vec<&Row>>()
        };
        let mut rows = of("resident_per_task");
        let estimate = |row: &Row| row.figure.map_or(f64::INFINITY, |figure| figure.estimate);
        rows.sort_by(|a, b| estimate(a).total_cmp(&estimate(b)));
        for row in rows {
            let beside = |metric: &str| {
                let same =
                    |other: &&Row| other.contender == row.contender && other.params == row.params;
                of(metric).into_iter().find(same)
            };
            let Some(bytes) = row.figure else { continue };
            let maps = beside("maps").and_then(|row| row.figure);
            table.push([
                block.id.clone(),
                plain::name(row, block),
                format!("{} B", whole(bytes.estimate)),
                format!("{} – {}", whole(bytes.low), whole(bytes.high)),
                maps.map_or_else(String::new, |maps| whole(maps.estimate)),
                beside("time_per_op").map_or_else(String::new, |row| told(row).0),
            ]);
        }
    }
    table
}
