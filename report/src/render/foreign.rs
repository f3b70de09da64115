//! The tables of calls out of a task.

use corolab_lab::contender::Family;
use corolab_lab::sample::Status;
use corolab_lab::workload;
use corolab_lab::workload::foreign::{
    BIG_STACK, BLOCK_IN_PLACE, BYSTANDERS, DIRECT, DYN, PARENT_STACK, SPAWN_BLOCKING, SUSPEND,
};

use super::number::{three, whole};
use crate::stats::added::ADDED;
use crate::summary::{BlockInfo, Figure, Row, Summary};
use crate::verdict::plain;

/// The routes, in the order of what they change.
pub const ROUTES: [&str; 7] = [
    DIRECT,
    DYN,
    PARENT_STACK,
    BIG_STACK,
    SUSPEND,
    BLOCK_IN_PLACE,
    SPAWN_BLOCKING,
];

/// What .NET's 100 M calls took, ms: from a thread, and from a green thread.
const PUBLISHED: [&str; 2] = ["300 ms", "1,800 ms"];

/// The route of a row.
pub fn route(row: &Row) -> &str {
    row.params.word("route").unwrap_or(DIRECT)
}

/// Blocks of one caller with nobody beside, in which a callee is priced by route.
pub fn priced(summary: &Summary) -> Vec<&BlockInfo> {
    let alone = |block: &&BlockInfo| {
        block.workload == "foreign"
            && !["callers=", "form=", "batch=", "workers="]
                .iter()
                .any(|key| block.params.contains(key))
    };
    summary.blocks.iter().filter(alone).collect()
}

/// The callee of a block, with whatever else sets the block apart.
pub fn callee(block: &BlockInfo) -> String {
    let told = block.params.trim_start_matches("callee=");
    told.replace(',', ", ")
}

/// The row of a block that a family has at the lowest time by a route.
pub fn best<'a>(
    summary: &'a Summary,
    block: &BlockInfo,
    family: Family,
    by: &str,
) -> Option<&'a Row> {
    plain::measured(summary, &block.id)
        .into_iter()
        .filter(|row| row.family == family && route(row) == by)
        .min_by(|a, b| estimate(a).total_cmp(&estimate(b)))
}

/// The row that added cost is over: a thread's, or a plain call's.
fn thread<'a>(summary: &'a Summary, block: &BlockInfo) -> Option<&'a Row> {
    best(summary, block, Family::Kernel, DIRECT)
        .or_else(|| best(summary, block, Family::Control, DIRECT))
}

fn estimate(row: &Row) -> f64 {
    row.figure.map_or(f64::INFINITY, |figure| figure.estimate)
}

/// Another metric of the same condition, where it has a figure.
pub fn figure(summary: &Summary, row: &Row, metric: &str) -> Option<Figure> {
    let (condition, _) = row.id.rsplit_once(':')?;
    let id = format!("{condition}:{metric}");
    summary.rows.iter().find(|row| row.id == id)?.figure
}

/// ns with a unit that fits.
pub fn time(ns: f64) -> String {
    match ns.abs() {
        size if size < 1e3 => format!("{} ns", three(ns)),
        size if size < 1e6 => format!("{} µs", three(ns / 1e3)),
        _ => format!("{} ms", three(ns / 1e6)),
    }
}

/// What a row adds to a thread's call, as a time with its sign; ±0 where the two
/// cannot be told apart.
pub fn difference(summary: &Summary, block: &BlockInfo, row: &Row, added: &Figure) -> String {
    let told_apart = |other: &Row| {
        let ratio = plain::ratio_of(summary, &row.id, &other.id);
        ratio.is_some_and(|ratio| ratio.verdict != "tie")
    };
    if (added.low <= 0.0 && added.high >= 0.0) || !thread(summary, block).is_some_and(told_apart) {
        "±0".to_owned()
    } else if added.estimate < 0.0 {
        format!("−{}", time(-added.estimate))
    } else {
        format!("+{}", time(added.estimate))
    }
}

/// Heads of the table callee × route of a family.
pub fn matrix_heads() -> Vec<String> {
    let heads = ["callee".to_owned(), "on a thread".to_owned()];
    heads.into_iter().chain(ROUTES.map(str::to_owned)).collect()
}

/// Callee × route of one family: the lowest time that one of its contenders has,
/// what it adds to a thread's call (±0 where the interval holds 0), and who it
/// is, by a letter of [`letters`].
pub fn matrix(summary: &Summary, family: Family) -> Vec<Vec<String>> {
    let mut table = Vec::new();
    for block in priced(summary) {
        let mut line = vec![
            callee(block),
            thread(summary, block).map_or_else(String::new, |row| {
                let by = if row.family == Family::Control {
                    " (call)"
                } else {
                    ""
                };
                format!("{}{by}", time(estimate(row)))
            }),
        ];
        line.extend(ROUTES.map(|by| match best(summary, block, family, by) {
            Some(row) => {
                let added = figure(summary, row, ADDED);
                let added =
                    added.map_or_else(String::new, |added| difference(summary, block, row, &added));
                format!(
                    "{} {}\n({added})",
                    time(estimate(row)),
                    letter(&row.contender)
                )
            }
            None => missing(summary, block, family, by),
        }));
        if line[2..].iter().any(|cell| !cell.is_empty()) {
            table.push(line);
        }
    }
    table
}

/// Why a family has no figure by a route; nothing where the block has no such
/// way at all.
fn missing(summary: &Summary, block: &BlockInfo, family: Family, by: &str) -> String {
    let rows = summary.rows.iter().filter(|row| {
        row.block == block.id && row.family == family && route(row) == by && row.figure.is_none()
    });
    let worst = rows.map(|row| row.status).min();
    worst
        .filter(|status| *status != Status::Ok)
        .map_or_else(String::new, |status| status.name().replace('_', " "))
}

const HOSTS: [(&str, &str); 9] = [
    ("corosensei", "c"),
    ("corosensei-pooled", "p"),
    ("corosensei-on-tokio-current", "fc"),
    ("corosensei-on-tokio-multi", "fm"),
    ("generator", "g"),
    ("may", "m"),
    ("hand-polled", "h"),
    ("tokio-current", "tc"),
    ("tokio-multi", "tm"),
];

fn letter(contender: &str) -> &str {
    HOSTS
        .iter()
        .find(|(name, _)| *name == contender)
        .map_or(contender, |(_, letter)| letter)
}

/// Who the letters of the matrix are.
pub fn letters() -> String {
    HOSTS
        .map(|(name, letter)| format!("{letter} {name}"))
        .join(", ")
}

/// Heads of the table of hops.
pub const HOPS: [&str; 8] = [
    "block",
    "contender",
    "hop and back",
    "wait P50",
    "P99",
    "P99.9",
    "switches a hop, voluntary + not",
    "heap a hop",
];

/// Hops to another thread: how long they take, and how long a call waited for
/// that thread.
pub fn hops(summary: &Summary) -> Vec<[String; 8]> {
    let rows = of_leg(summary).filter(|(block, row)| {
        route(row) == SPAWN_BLOCKING && block.params.starts_with("callee=noop")
    });
    let told = |row: &Row, metric: &str| {
        figure(summary, row, metric).map_or_else(String::new, |figure| time(figure.estimate))
    };
    rows.map(|(block, row)| {
        let count = |metric: &str| {
            figure(summary, row, metric).map_or("?".to_owned(), |it| three(it.estimate))
        };
        let heap = figure(summary, row, "heap_per_op").map_or_else(String::new, |bytes| {
            format!("{} B in {}", whole(bytes.estimate), count("allocs_per_op"))
        });
        [
            callee(block),
            row.contender.clone(),
            time(estimate(row)),
            told(row, "queue_wait_p50"),
            told(row, "queue_wait_p99"),
            told(row, "queue_wait_p999"),
            format!(
                "{} + {}",
                count("voluntary_per_op"),
                count("involuntary_per_op")
            ),
            heap,
        ]
    })
    .collect()
}

/// Heads of the table of collateral.
pub const COLLATERAL: [&str; 6] = [
    "block",
    "contender",
    "a call and a yield",
    "heartbeat P99",
    "worst",
    "stood still",
];

/// What others lose by a call: a heartbeat that sleeps 1 ms between beats, and
/// tasks that are ready when a call begins.
pub fn collateral(summary: &Summary) -> Vec<[String; 6]> {
    let told = |row: &Row, metric: &str| {
        figure(summary, row, metric).map_or_else(String::new, |figure| time(figure.estimate))
    };
    of_leg(summary)
        .filter(|(block, _)| block.params.contains("form=beside"))
        .map(|(block, row)| {
            let still = figure(summary, row, "stood_still");
            [
                callee(block).replace(", form=beside", ""),
                plain::name(row, block),
                time(estimate(row)),
                told(row, "heartbeat_gap_p99"),
                told(row, "heartbeat_gap_max"),
                still.map_or_else(String::new, |tasks| {
                    format!("{} of {BYSTANDERS}", whole(tasks.estimate))
                }),
            ]
        })
        .collect()
}

/// Heads of the table of batches.
pub const BATCHES: [&str; 5] = ["contender", "100 M calls", "interval", "÷ thread", ".NET"];

/// A hundred million calls in one uninterrupted batch, beside the published ones.
pub fn batches(summary: &Summary) -> Vec<[String; 5]> {
    let ms = |ns: f64, calls: f64| format!("{} ms", whole(ns * calls / 1e6));
    let line = |(block, row): (&BlockInfo, &Row)| {
        let (calls, figure) = (row.params.number("batch")? as f64, row.figure?);
        let published = match (row.family, route(row)) {
            (Family::Kernel, _) => PUBLISHED[0],
            (Family::Stackful, PARENT_STACK) => PUBLISHED[1],
            _ => "",
        };
        let to_thread =
            thread(summary, block).and_then(|thread| plain::ratio_of(summary, &row.id, &thread.id));
        Some([
            plain::name(row, block),
            ms(figure.estimate, calls),
            format!("{} – {}", ms(figure.low, calls), ms(figure.high, calls)),
            to_thread.map_or_else(String::new, |ratio| {
                format!("{:.2} ({:.2} – {:.2})", ratio.ratio, ratio.low, ratio.high)
            }),
            published.to_owned(),
        ])
    };
    of_leg(summary).filter_map(line).collect()
}

/// Measured times of the leg, with their blocks.
fn of_leg(summary: &Summary) -> impl Iterator<Item = (&BlockInfo, &Row)> {
    let blocks = summary
        .blocks
        .iter()
        .filter(|block| block.workload == "foreign");
    blocks.flat_map(|block| {
        let rows = plain::measured(summary, &block.id);
        rows.into_iter().map(move |row| (block, row))
    })
}

/// Heads of the table of what was planted.
pub const PLANTED: [&str; 3] = ["contender", "found", "interval"];

/// Four dependent additions more: what each contender's rows find of them. The
/// two callees are of two blocks, so an interval is as wide as both together.
pub fn planted(summary: &Summary) -> Vec<[String; 3]> {
    let rows = of_leg(summary).filter(|(block, _)| block.params == "callee=adds20");
    rows.filter_map(|(block, row)| {
        let id = row.id.replace("callee=adds20", "callee=adds16");
        let less = summary.rows.iter().find(|row| row.id == id)?.figure?;
        let more = row.figure?;
        Some([
            plain::name(row, block),
            format!("{} ns", three(more.estimate - less.estimate)),
            format!(
                "{} – {}",
                three(more.low - less.high),
                three(more.high - less.low)
            ),
        ])
    })
    .collect()
}

/// What was planted: four cycles, by the CPU's own reading.
pub fn planted_ns(summary: &Summary) -> String {
    let cycle = summary
        .instrument
        .and_then(|instrument| instrument.cycle_ns);
    cycle.map_or("unknown".to_owned(), |ns| format!("{} ns", three(4.0 * ns)))
}

/// Whether the record lacks blocks that belong to the leg.
pub fn is_partial(summary: &Summary) -> bool {
    priced(summary).len() < workload::foreign::priced_blocks()
}
