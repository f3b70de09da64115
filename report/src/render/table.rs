//! The tables that several views share, as plain cells.

use corolab_lab::sample::Status;

use super::number::{three, told, whole};
use crate::summary::{BlockInfo, Row, Summary};
use crate::verdict::plain::{self, Duel};

/// Blocks in the headline table, in this order, as far as a record has them.
const HEADLINES: &[&str] = &[
    "switch/live=1",
    "switch/live=1000",
    "switch/live=100000",
    "switch/live=1000000",
    "create/touch=0",
    "yield/tasks=2",
    "yield/tasks=200",
    "ping_pong/pairs=1",
    "ping_pong/pairs=1,workers=2",
    "spawn/batch=1000",
    "spawn/batch=1000,workers=2",
];

/// Heads of the headline table.
pub const HEADLINE: [&str; 5] = [
    "block",
    "best stackful",
    "best stackless",
    "stackful ÷ stackless",
    "lower",
];

/// The headline table: the best of each family in the main blocks. Every duel
/// where the record has none of these.
pub fn headline(summary: &Summary) -> Vec<[String; 5]> {
    let duels = plain::duels(summary);
    let main: Vec<&Duel<'_>> = HEADLINES
        .iter()
        .filter_map(|id| duels.iter().find(|duel| duel.block.id == *id))
        .collect();
    let shown = if main.is_empty() {
        duels.iter().collect()
    } else {
        main
    };
    shown
        .into_iter()
        .map(|duel| {
            let side = |row: &Row| format!("{}: {}", plain::name(row, duel.block), told(row).0);
            [
                duel.block.id.clone(),
                side(duel.stackful),
                side(duel.stackless),
                format!("{:.2} ({:.2} – {:.2})", duel.ratio, duel.low, duel.high),
                match duel.verdict {
                    "stackful lower" => "stackful".to_owned(),
                    "stackless lower" => "stackless".to_owned(),
                    _ => "tie".to_owned(),
                },
            ]
        })
        .collect()
}

/// Heads of the controlled experiment.
pub const CONTROLLED: [&str; 5] = ["rows", "fiber", "future", "fiber ÷ future", "lower"];

/// The controlled experiment: the same scheduler, channels and timers, and only
/// the representation of a task differs. Fiber and future are named by what
/// they run on.
pub fn controlled(summary: &Summary) -> Vec<[String; 5]> {
    const PREFIX: &str = "corosensei-on-";
    let mut table = Vec::new();
    for block in &summary.blocks {
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

/// Heads of a block's table.
pub const BLOCK: [&str; 7] = [
    "contender",
    "family",
    "time an op",
    "interval",
    "floor",
    "÷ call",
    "notes",
];

/// The measured rows of a block, lowest first.
pub fn block(summary: &Summary, block: &BlockInfo) -> Vec<[String; 7]> {
    let mut rows = plain::measured(summary, &block.id);
    let time = |row: &Row| row.figure.map_or(f64::INFINITY, |figure| figure.estimate);
    rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let control = rows
        .iter()
        .find(|row| row.contender == "call")
        .map(|row| row.id.clone());
    rows.iter()
        .map(|row| {
            let (figure, interval) = told(row);
            let to_control = control
                .as_ref()
                .filter(|control| **control != row.id)
                .and_then(|control| plain::ratio_of(summary, &row.id, control))
                .map_or_else(String::new, |ratio| three(ratio.ratio));
            [
                plain::name(row, block),
                row.family.name().to_owned(),
                figure,
                interval,
                row.figure
                    .map_or_else(String::new, |figure| three(figure.floor)),
                to_control,
                row.notes.join("; "),
            ]
        })
        .collect()
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

/// Heads of the table of refusals.
pub const REFUSED: [&str; 3] = ["condition", "status", "reason"];

/// Rows without a figure: those that went wrong or found a ceiling first, then
/// what was refused before anything ran.
pub fn refused(summary: &Summary) -> Vec<[String; 3]> {
    let mut rows: Vec<&Row> = summary
        .rows
        .iter()
        .filter(|row| row.status != Status::Ok)
        .collect();
    rows.sort_by_key(|row| row.status);
    rows.into_iter()
        .map(|row| {
            let id = row
                .id
                .rsplit_once(':')
                .map_or(row.id.as_str(), |(id, _)| id);
            let mut reason = row.reason.clone().unwrap_or_default();
            if !row.notes.is_empty() {
                reason.push_str(&format!(" ({})", row.notes.join("; ")));
            }
            [id.to_owned(), row.status.name().replace('_', " "), reason]
        })
        .collect()
}

/// Heads of the table of our own cost.
pub const OWN_COST: [&str; 4] = ["through our traits", "by hand", "ratio", "within 5%"];

/// What our own traits cost.
pub fn own_cost(summary: &Summary) -> Vec<[String; 4]> {
    plain::own_cost(summary)
        .into_iter()
        .map(|cost| {
            let within = match cost {
                _ if cost.high <= 1.05 => "yes",
                _ if cost.low > 1.05 => "no",
                _ => "cannot be told: the interval holds 1.05",
            };
            [
                cost.a.clone(),
                cost.b.clone(),
                format!("{:.3} ({:.3} – {:.3})", cost.ratio, cost.low, cost.high),
                within.to_owned(),
            ]
        })
        .collect()
}

/// Heads of the table of claims.
pub const CLAIMS: [&str; 5] = ["claim", "verdict", "published", "measured", "why"];

/// Claims with a verdict first.
pub fn claims(summary: &Summary) -> Vec<[String; 5]> {
    let mut claims: Vec<_> = summary.claims.iter().collect();
    claims.sort_by_key(|claim| claim.verdict == "not measurable here");
    claims
        .into_iter()
        .map(|claim| {
            [
                format!("{}: {}", claim.id, claim.statement),
                claim.verdict.to_owned(),
                format!("{} ({})", claim.published, claim.source),
                claim.measured.clone(),
                claim.why.clone(),
            ]
        })
        .collect()
}

/// Heads of the table of contenders.
pub const CONTENDERS: [&str; 4] = ["contender", "family", "package", "what it is"];

/// Contenders with their versions.
pub fn contenders(summary: &Summary) -> Vec<[String; 4]> {
    summary
        .contenders
        .iter()
        .map(|profile| {
            [
                profile.name.clone(),
                profile.family.name().to_owned(),
                format!("{} {}", profile.package, profile.version),
                profile.about.clone(),
            ]
        })
        .collect()
}

/// What is equal within a block, in a line.
pub fn settings(block: &BlockInfo) -> String {
    let cpus: Vec<String> = block.settings.cpus.iter().map(u32::to_string).collect();
    format!(
        "{} worker{}, CPU set {{{}}}, {} B of stack, system allocator, {}",
        block.settings.workers,
        if block.settings.workers == 1 { "" } else { "s" },
        cpus.join(", "),
        block.settings.stack,
        match block.paired {
            "baton" => "paired by the baton",
            _ => "whole trials in alternation",
        }
    )
}
