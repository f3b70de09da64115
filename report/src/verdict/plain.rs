//! Plain sentences, computed from ratios. Pure.

use corolab_lab::contender::Family;
use corolab_lab::sample::Status;

use crate::summary::{BlockInfo, Ratio, Row, Summary};

/// The best of each family in one block, laid against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel<'a> {
    /// The block.
    pub block: &'a BlockInfo,
    /// The stackful row with the lowest time.
    pub stackful: &'a Row,
    /// The stackless row with the lowest time.
    pub stackless: &'a Row,
    /// Stackful ÷ stackless.
    pub ratio: f64,
    /// Low end of its interval.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// "stackful lower", "stackless lower" or "tie".
    pub verdict: &'static str,
}

/// Whether a contender only prices another, and is not ranked.
fn prices(summary: &Summary, contender: &str) -> bool {
    summary
        .contenders
        .iter()
        .any(|profile| profile.name == contender && profile.prices.is_some())
}

/// Rows of a block's time, measured.
pub fn measured<'a>(summary: &'a Summary, block: &str) -> Vec<&'a Row> {
    let here =
        |row: &&Row| row.block == block && row.metric == "time_per_op" && row.status == Status::Ok;
    summary
        .rows
        .iter()
        .filter(here)
        .filter(|row| row.figure.is_some())
        .collect()
}

/// The ratio of two rows, either way round.
pub fn ratio_of(summary: &Summary, a: &str, b: &str) -> Option<Ratio> {
    paired(&summary.ratios, a, b)
}

/// The same, among those ratios.
pub fn paired(ratios: &[Ratio], a: &str, b: &str) -> Option<Ratio> {
    ratios.iter().find_map(|ratio| {
        if ratio.a == a && ratio.b == b {
            return Some(ratio.clone());
        }
        (ratio.a == b && ratio.b == a).then(|| Ratio {
            a: ratio.b.clone(),
            b: ratio.a.clone(),
            ratio: 1.0 / ratio.ratio,
            low: 1.0 / ratio.high,
            high: 1.0 / ratio.low,
            launches: ratio.launches,
            paired: ratio.paired,
            verdict: match ratio.verdict {
                "a lower" => "b lower",
                "b lower" => "a lower",
                other => other,
            },
        })
    })
}

/// The duels of all blocks that have both families.
pub fn duels(summary: &Summary) -> Vec<Duel<'_>> {
    summary
        .blocks
        .iter()
        .filter_map(|block| duel(summary, block))
        .collect()
}

fn duel<'a>(summary: &'a Summary, block: &'a BlockInfo) -> Option<Duel<'a>> {
    let rows = measured(summary, &block.id);
    let best = |family: Family| {
        rows.iter()
            .filter(|row| row.family == family && !prices(summary, &row.contender))
            .filter(|row| same_question(row))
            .min_by(|a, b| time(a).total_cmp(&time(b)))
            .copied()
    };
    let (stackful, stackless) = (best(Family::Stackful)?, best(Family::Stackless)?);
    let ratio = ratio_of(summary, &stackful.id, &stackless.id)?;
    Some(Duel {
        block,
        stackful,
        stackless,
        ratio: ratio.ratio,
        low: ratio.low,
        high: ratio.high,
        verdict: match ratio.verdict {
            "a lower" => "stackful lower",
            "b lower" => "stackless lower",
            _ => "tie",
        },
    })
}

/// A channel for one sender is another question than a channel for many (only
/// may has one), and so is fresh memory beside reused, a bare coroutine beside
/// a task, or a stack without a guard.
fn same_question(row: &Row) -> bool {
    row.params.word("queue").is_none() && row.params.word("form").is_none()
}

fn time(row: &Row) -> f64 {
    row.figure.map_or(f64::INFINITY, |figure| figure.estimate)
}

/// The name of a row within its block: contender, and the way if it has one.
pub fn name(row: &Row, block: &BlockInfo) -> String {
    let of_block: Vec<&str> = block
        .params
        .split(',')
        .filter_map(|pair| pair.split('=').next())
        .collect();
    let ways: Vec<String> = row
        .params
        .iter()
        .filter(|(key, _)| !of_block.contains(key))
        .map(|(_, value)| value.to_string())
        .collect();
    match ways.is_empty() {
        true => row.contender.clone(),
        false => format!("{} ({})", row.contender, ways.join(", ")),
    }
}

/// One sentence for each duel: who is lower, by how much.
pub fn sentence(duel: &Duel<'_>) -> String {
    let stackful = name(duel.stackful, duel.block);
    let stackless = name(duel.stackless, duel.block);
    let (low, high) = (duel.low, duel.high);
    match duel.verdict {
        "stackful lower" => format!(
            "{}: stackful wins. {stackful} takes {:.2} of the time of {stackless} ({low:.2} to {high:.2}).",
            duel.block.id, duel.ratio
        ),
        "stackless lower" => format!(
            "{}: stackless wins. {stackful} takes {:.2} times the time of {stackless} ({low:.2} to {high:.2}).",
            duel.block.id, duel.ratio
        ),
        _ if low > 1.0 || high < 1.0 => format!(
            "{}: a tie. {stackful} and {stackless} cannot be told apart: the paired ratio is {:.2} \
             ({low:.2} to {high:.2}), but that difference is too small, or their own estimates say \
             the opposite.",
            duel.block.id, duel.ratio
        ),
        _ => format!(
            "{}: a tie. {stackful} and {stackless} cannot be told apart (ratio {:.2}, {low:.2} to {high:.2}).",
            duel.block.id, duel.ratio
        ),
    }
}

/// How often each side is lower, in a sentence.
pub fn score(duels: &[Duel<'_>]) -> String {
    let count = |verdict| duels.iter().filter(|duel| duel.verdict == verdict).count();
    format!(
        "Of {} blocks that hold both families, the best stackless contender is lower in {}, the \
         best stackful one in {}, and {}.",
        duels.len(),
        count("stackless lower"),
        count("stackful lower"),
        match count("tie") {
            0 => "none is a tie".to_owned(),
            1 => "1 is a tie".to_owned(),
            ties => format!("{ties} are ties"),
        }
    )
}

/// What our own traits cost: each contender that is priced, in each block.
pub fn own_cost(summary: &Summary) -> Vec<Ratio> {
    let mut costs = Vec::new();
    for profile in &summary.contenders {
        let Some(priced) = &profile.prices else {
            continue;
        };
        for block in &summary.blocks {
            let rows = measured(summary, &block.id);
            for by_hand in rows.iter().filter(|row| row.contender == profile.name) {
                let twin = rows
                    .iter()
                    .find(|row| row.contender == *priced && row.params == by_hand.params);
                costs.extend(twin.and_then(|row| ratio_of(summary, &row.id, &by_hand.id)));
            }
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixture;

    #[test]
    fn the_lower_side_is_named_whichever_it_is() {
        let summary = fixture::summary();
        let told: Vec<String> = duels(&summary).iter().map(sentence).collect();
        assert_eq!(
            told,
            [
                "switch/live=1: stackless wins. corosensei takes 2.00 times the time of hand-polled (1.90 to 2.10).",
                "yield/tasks=2: stackful wins. may takes 0.50 of the time of tokio-current (self-wake) (0.47 to 0.53).",
            ]
        );
        assert!(score(&duels(&summary)).contains("stackful one in 1"));
    }

    #[test]
    fn our_own_cost_is_the_ratio_to_the_hand_written_row() {
        let summary = fixture::summary();
        let costs = own_cost(&summary);
        assert_eq!(costs.len(), 1);
        assert_eq!(costs[0].a, "switch/corosensei/live=1:time_per_op");
        assert_eq!(costs[0].b, "switch/corosensei-by-hand/live=1:time_per_op");
    }
}
