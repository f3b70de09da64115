//! Calls out of a task in three sentences, computed from rows. Pure.

use std::collections::BTreeSet;

use super::plain::ratio_of;
use crate::stats::added::ADDED;
use crate::summary::{Figure, Ratio, Row, Summary};

const FIBER: &str = "corosensei-on-tokio-current";
const THREAD: &str = "os-thread";

/// When direct is free, when the switch costs, when only a hop is safe; empty
/// where a record has none of these calls.
pub fn calls(summary: &Summary) -> Vec<String> {
    let is_of_leg = |row: &Row| row.workload == "foreign" && row.figure.is_some();
    if !summary.rows.iter().any(is_of_leg) {
        return Vec::new();
    }
    vec![direct(summary), switch(summary), hop(summary)]
}

fn id(contender: &str, told: &str) -> String {
    format!("foreign/{contender}/{told}:time_per_op")
}

fn figure(summary: &Summary, id: &str) -> Option<Figure> {
    summary.rows.iter().find(|row| row.id == id)?.figure
}

/// Callees whose direct call was measured on a thread and on a fiber.
fn pairs(summary: &Summary) -> Vec<(String, Ratio)> {
    let callees: BTreeSet<String> = summary
        .blocks
        .iter()
        .filter(|block| block.workload == "foreign")
        .filter(|block| {
            !["callers=", "form=", "batch="]
                .iter()
                .any(|key| block.params.contains(key))
        })
        .map(|block| block.params.clone())
        .collect();
    let pair = |told: String| {
        let ratio = ratio_of(summary, &id(FIBER, &told), &id(THREAD, &told))?;
        Some((told.trim_start_matches("callee=").replace(',', ", "), ratio))
    };
    callees.into_iter().filter_map(pair).collect()
}

fn direct(summary: &Summary) -> String {
    let pairs = pairs(summary);
    let by = |a: &&(String, Ratio), b: &&(String, Ratio)| a.1.ratio.total_cmp(&b.1.ratio);
    let (Some(least), Some(most)) = (pairs.iter().min_by(by), pairs.iter().max_by(by)) else {
        return "Whether a direct call is free was not measured: it takes a fiber and a thread in one \
                block."
            .to_owned();
    };
    let dearer: Vec<String> = pairs
        .iter()
        .filter(|(_, ratio)| ratio.verdict == "b lower")
        .map(|(callee, ratio)| format!("{callee} (×{:.2})", ratio.ratio))
        .collect();
    let told = format!(
        "from a fiber it takes {:.2} ({}) to {:.2} ({}) of what the same call takes on a thread",
        least.1.ratio, least.0, most.1.ratio, most.0
    );
    let fits = "as long as what is called fits on the task's stack";
    if dearer.is_empty() {
        format!("A direct call is free: {told}, and no callee can be told apart as dearer, {fits}.")
    } else {
        format!(
            "A direct call is free for most: {told}, dearer for {}, {fits}.",
            dearer.join(", ")
        )
    }
}

fn switch(summary: &Summary) -> String {
    let parent = |callee: &str| {
        let told = format!("callee={callee},route=parent-stack");
        let row = id(FIBER, &told);
        let added = figure(summary, &row.replace("time_per_op", ADDED))?;
        let ratio = ratio_of(summary, &row, &id(THREAD, &format!("callee={callee}")))?;
        Some((added, ratio))
    };
    let Some((added, ratio)) = parent("noop") else {
        return "What a switch for a call costs was not measured.".to_owned();
    };
    let first = format!(
        "The switch costs when the call itself is short: on the stack of whoever resumed it, a call \
         that does nothing takes {:.1} ns more ({:.1} to {:.1}), {:.1} times a thread's",
        added.estimate, added.low, added.high, ratio.ratio
    );
    match parent("getppid") {
        Some((_, ratio)) if ratio.verdict == "tie" => format!(
            "{first}; beside the shortest system call it cannot be told apart (×{:.2}).",
            ratio.ratio
        ),
        Some((_, ratio)) => format!(
            "{first}, the shortest system call {:.2} times.",
            ratio.ratio
        ),
        None => format!("{first}."),
    }
}

fn hop(summary: &Summary) -> String {
    let of = |route: &str, metric: &str| {
        let told = format!("callee=sleep1ms{route},callers=16,form=beside");
        figure(summary, &id(FIBER, &told).replace("time_per_op", metric))
    };
    const HOP: &str = ",route=spawn-blocking";
    let hop = |metric: &str| {
        let told = format!("callee=noop{HOP}");
        figure(summary, &id(FIBER, &told).replace("time_per_op", metric))
    };
    let told = (
        of("", "stood_still"),
        of("", "heartbeat_gap_max"),
        of(HOP, "stood_still"),
        of(HOP, "heartbeat_gap_max"),
        hop("time_per_op"),
    );
    let (Some(still), Some(late), Some(moving), Some(on_time), Some(cost)) = told else {
        return "Whether only a hop is safe was not measured: it takes calls that block beside tasks \
                that want to run."
            .to_owned();
    };
    let tail = hop("queue_wait_p999").map_or_else(String::new, |wait| {
        format!(
            ", and one in a thousand waits {:.0} µs for its thread",
            wait.estimate / 1e3
        )
    });
    format!(
        "Only a hop is safe when the call blocks: while 16 tasks sleep their thread for 1 ms each, \
         {:.0} of 16 ready tasks stand still and a heartbeat of 1 ms beats after {:.1} ms at the \
         worst; with a hop {:.0} stand still and it beats after {:.1} ms. A hop takes {:.1} µs{tail}.",
        still.estimate,
        late.estimate / 1e6,
        moving.estimate,
        on_time.estimate / 1e6,
        cost.estimate / 1e3
    )
}
