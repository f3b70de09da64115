//! The tables that several views share, as plain cells.

use corolab_lab::sample::Status;

use super::number::{three, told};
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
    "foreign/callee=noop",
    "foreign/callee=getppid",
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

/// Heads of the table of refusals.
pub const REFUSED: [&str; 3] = ["condition", "status", "reason"];

/// Rows without a figure: those that went wrong or found a ceiling first, then
/// what was refused before anything ran. What a contender refuses of a workload
/// for one and the same reason is told once, with its first condition.
pub fn refused(summary: &Summary) -> Vec<[String; 3]> {
    let mut rows: Vec<&Row> = summary
        .rows
        .iter()
        .filter(|row| row.status != Status::Ok)
        .collect();
    rows.sort_by_key(|row| row.status);
    let mut told: Vec<(&Row, String, usize)> = Vec::new();
    for row in rows {
        let mut reason = row.reason.clone().unwrap_or_default();
        if !row.notes.is_empty() {
            reason.push_str(&format!(" ({})", row.notes.join("; ")));
        }
        let same = |(first, why, _): &&mut (&Row, String, usize)| {
            (&first.workload, &first.contender, first.status)
                == (&row.workload, &row.contender, row.status)
                && *why == reason
        };
        match told.iter_mut().find(same) {
            Some((.., count)) => *count += 1,
            None => told.push((row, reason, 1)),
        }
    }
    told.into_iter()
        .map(|(row, reason, count)| {
            let id = row
                .id
                .rsplit_once(':')
                .map_or(row.id.as_str(), |(id, _)| id);
            let more = match count {
                1 => String::new(),
                2 => " and 1 more".to_owned(),
                count => format!(" and {} more", count - 1),
            };
            [
                format!("{id}{more}"),
                row.status.name().replace('_', " "),
                reason,
            ]
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
