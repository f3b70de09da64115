//! The rules by which rows judge a claim. Pure: what is measured goes in, a
//! verdict and its reason come out.

use corolab_lab::contender::Family;

use crate::summary::{Figure, Ratio, Row};

/// How a rule came out.
pub struct Found {
    /// "reproduced", "partly", "not reproduced", "not measurable here".
    pub verdict: &'static str,
    /// Our figure.
    pub measured: String,
    /// The rows that it was computed from.
    pub rows: Vec<String>,
    /// The rule, in a sentence.
    pub why: String,
}

/// No row can tell.
pub fn not_measurable(why: String) -> Found {
    Found {
        verdict: "not measurable here",
        measured: "nothing".to_owned(),
        rows: Vec::new(),
        why,
    }
}

/// A measured row, or what is said where it is missing.
fn figure(rows: &[Row], id: &str) -> Result<Figure, Found> {
    let row = rows.iter().find(|row| row.id == id);
    row.and_then(|row| row.figure)
        .ok_or_else(|| not_measurable(format!("the row {id} has no figure in this record")))
}

/// The verdict on a claim of several parts.
pub fn parts(held: &[bool]) -> &'static str {
    match held.iter().filter(|held| **held).count() {
        0 => "not reproduced",
        count if count == held.len() => "reproduced",
        _ => "partly",
    }
}

/// Reproduced when even the high end of the interval is at most the published
/// 7 ns; partly when the low end is; else not.
pub fn not_intrinsic(rows: &[Row], _: &[Ratio]) -> Found {
    const PUBLISHED: f64 = 7.0;
    const ROW: &str = "switch/corosensei/live=1:time_per_op";
    let figure = match figure(rows, ROW) {
        Ok(figure) => figure,
        Err(missing) => return missing,
    };
    let verdict = match figure {
        _ if figure.high <= PUBLISHED => "reproduced",
        _ if figure.low <= PUBLISHED => "partly",
        _ => "not reproduced",
    };
    Found {
        verdict,
        measured: format!(
            "{:.2} ns a resume with its suspension ({:.2} to {:.2})",
            figure.estimate, figure.low, figure.high
        ),
        rows: vec![ROW.to_owned()],
        why: format!(
            "reproduced when the interval lies at or below {PUBLISHED} ns, partly when it reaches it"
        ),
    }
}

/// Three parts: fresh in microseconds; reuse at a fifth of that, within a
/// factor of three; a deep stack at three times a shallow one or more.
pub fn dotnet_create(rows: &[Row], _: &[Ratio]) -> Found {
    const FRESH: &str = "create/corosensei-pooled/touch=0,form=fresh:time_per_op";
    const REUSED: &str = "create/corosensei-pooled/touch=0:time_per_op";
    const DEEP: &str = "create/corosensei-pooled/touch=65536,form=fresh,stack=131072:time_per_op";
    let found = [FRESH, REUSED, DEEP].map(|id| figure(rows, id));
    let [fresh, reused, deep] = match found {
        [Ok(fresh), Ok(reused), Ok(deep)] => [fresh, reused, deep].map(|it| it.estimate),
        [Err(missing), ..] | [_, Err(missing), _] | [_, _, Err(missing)] => return missing,
    };
    let share = reused / fresh;
    let held = [
        fresh >= 1_000.0,
        (1.0 / 15.0..=0.6).contains(&share),
        deep >= 3.0 * fresh,
    ];
    Found {
        verdict: parts(&held),
        measured: format!(
            "{:.1} µs on fresh memory, {reused:.1} ns on a stack used again (one part in {:.0}), \
             {:.1} µs where 64 KiB of a fresh stack are touched",
            fresh / 1e3,
            1.0 / share,
            deep / 1e3
        ),
        rows: [FRESH, REUSED, DEEP].map(str::to_owned).to_vec(),
        why: "three parts: at least 1 µs fresh; reuse at a fifth of that, within a factor of \
              three; deep at three times shallow or more"
            .to_owned(),
    }
}

/// What one bare waiting task of each family occupies, where most of them
/// were measured: the least of each.
fn bare(rows: &[Row]) -> Option<(&Row, &Row)> {
    let waiting = |family: Family| {
        rows.iter()
            .filter(move |row| row.family == family && row.metric == "resident_per_task")
            .filter(|row| row.params.word("form") == Some("bare") && row.figure.is_some())
    };
    let bytes = |row: &&Row| row.figure.map_or(f64::INFINITY, |figure| figure.estimate);
    let count = |row: &&Row| row.params.number("n").unwrap_or(0);
    let most = waiting(Family::Stackful).map(|row| count(&row)).max()?;
    let least = |family| {
        waiting(family)
            .filter(|row| count(row) == most)
            .min_by(|a, b| bytes(a).total_cmp(&bytes(b)))
    };
    Some((least(Family::Stackful)?, least(Family::Stackless)?))
}

pub const NO_MEMORY: &str =
    "the workload footprint has no figure for a bare stack beside a bare state in this record";

/// A bare stack beside a bare state: their bytes, and the rows.
pub fn stack_and_state(rows: &[Row]) -> Option<(f64, f64, Vec<String>)> {
    let (stack, state) = bare(rows)?;
    let ids = vec![stack.id.clone(), state.id.clone()];
    Some((stack.figure?.estimate, state.figure?.estimate, ids))
}

/// Reproduced from a hundred states a stack on, partly from ten.
pub fn stack_vs_state(rows: &[Row], _: &[Ratio]) -> Found {
    let Some((stack, state, rows)) = stack_and_state(rows) else {
        return not_measurable(NO_MEMORY.to_owned());
    };
    let holds = stack / state;
    Found {
        verdict: match holds {
            _ if holds >= 100.0 => "reproduced",
            _ if holds >= 10.0 => "partly",
            _ => "not reproduced",
        },
        measured: format!(
            "the smallest guarded stack, {stack:.0} B, holds {holds:.0} waiting futures of \
             {state:.0} B"
        ),
        rows,
        why: "reproduced from a hundred on, partly from ten".to_owned(),
    }
}

/// Two parts: a state about 100 B, within a factor of three; a stack of 12 KB
/// or more.
pub fn dotnet_memory(rows: &[Row], _: &[Ratio]) -> Found {
    let Some((stack, state, rows)) = stack_and_state(rows) else {
        return not_measurable(NO_MEMORY.to_owned());
    };
    let held = [(33.0..=300.0).contains(&state), stack >= 12_000.0];
    Found {
        verdict: parts(&held),
        measured: format!("a waiting future {state:.0} B, a waiting guarded stack {stack:.0} B"),
        rows,
        why: "two parts: a state about 100 B, within a factor of three; the least stack 12 KB or \
              more"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixture;

    fn create(fresh: f64, reused: f64, deep: f64) -> Vec<Row> {
        let of_pool = |params: &str, time| {
            let mut row = fixture::row("create", "corosensei", &[], time);
            row.id = format!("create/corosensei-pooled/{params}:time_per_op");
            row
        };
        vec![
            of_pool("touch=0,form=fresh", fresh),
            of_pool("touch=0", reused),
            of_pool("touch=65536,form=fresh,stack=131072", deep),
        ]
    }

    #[test]
    fn creation_has_three_parts() {
        let verdict = |rows: &[Row]| dotnet_create(rows, &[]).verdict;
        assert_eq!(verdict(&create(3_000.0, 600.0, 120_000.0)), "reproduced");
        assert_eq!(verdict(&create(2_900.0, 9.0, 27_000.0)), "partly");
        assert_eq!(verdict(&create(100.0, 99.0, 120.0)), "not reproduced");
        assert_eq!(verdict(&create(1.0, 1.0, 1.0)[..2]), "not measurable here");
    }

    fn footprint(stack: f64, state: f64) -> Vec<Row> {
        [("corosensei", stack), ("hand-polled", state)]
            .into_iter()
            .flat_map(|(contender, bytes)| {
                [(10_000, 2.0 * bytes), (1_000_000, bytes)].map(|it| (contender, it))
            })
            .map(|(contender, (n, bytes))| {
                let mut row = fixture::row("footprint", contender, &[("n", n)], bytes);
                row.metric = "resident_per_task";
                row.params = row.params.with("form", "bare");
                row
            })
            .collect()
    }

    #[test]
    fn memory_is_judged_where_most_tasks_were_measured() {
        let found = stack_vs_state(&footprint(4_160.0, 64.0), &[]);
        assert_eq!(found.verdict, "partly");
        assert!(
            found.measured.contains("4160 B, holds 65"),
            "{}",
            found.measured
        );
        assert!(found.rows.iter().all(|row| row.contains("n=1000000")));
        assert_eq!(
            stack_vs_state(&footprint(12_800.0, 64.0), &[]).verdict,
            "reproduced"
        );
        assert_eq!(
            stack_vs_state(&footprint(500.0, 64.0), &[]).verdict,
            "not reproduced"
        );
        assert_eq!(
            dotnet_memory(&footprint(4_160.0, 64.0), &[]).verdict,
            "partly"
        );
        assert_eq!(
            dotnet_memory(&footprint(12_500.0, 100.0), &[]).verdict,
            "reproduced"
        );
        assert_eq!(dotnet_memory(&[], &[]).verdict, "not measurable here");
    }
}
