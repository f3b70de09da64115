//! What a call out of a task costs more than the same call on a thread. Pure.

use super::Measured;
use super::figures::of_launches;
use super::order::median;
use super::ratio::Turns;
use crate::summary::{Figure, Row};

/// The metric's name.
pub const ADDED: &str = "added_per_op";

/// One row for each measured row of a block but the one that it is held
/// against: a thread's direct call, or the control's where no thread has one
/// (on a stack that the call does not fit on).
///
/// Differences are taken turn by turn, as ratios are; each launch gives one
/// value, the median of its turns'.
pub(super) fn rows(measured: &[Measured], rows: &[Row]) -> Vec<Row> {
    let row_of = |one: &Measured| rows.iter().find(|row| row.id == one.id);
    let direct = |row: &Row| row.params.word("route").is_none();
    let alone = |row: &Row| row.workload == "foreign" && row.params.word("form").is_none();
    let of = |name: &str| {
        measured.iter().find(|one| {
            row_of(one).is_some_and(|row| row.contender == name && direct(row) && alone(row))
        })
    };
    let Some(thread) = of("os-thread").or_else(|| of("call")) else {
        return Vec::new();
    };
    let others = measured.iter().filter(|one| one.id != thread.id);
    others
        .filter_map(|one| {
            let figure = difference(&one.launches, &thread.launches)?;
            let mut row = row_of(one)?.clone();
            row.id = format!("{}:{ADDED}", row.id.rsplit_once(':')?.0);
            row.metric = ADDED;
            row.figure = Some(figure);
            row.notes = vec![format!("over {}", thread.id)];
            Some(row)
        })
        .collect()
}

/// a − b with its interval between launches; `None` unless some turn of some
/// launch has both.
fn difference(a: &[Turns], b: &[Turns]) -> Option<Figure> {
    let of_launch = |(a, b): (&Turns, &Turns)| -> Vec<f64> {
        let pairs = a.iter().filter_map(|(turn, a)| Some(a - b.get(turn)?));
        pairs.collect()
    };
    let mut by_launch: Vec<Vec<f64>> = a.iter().zip(b).map(of_launch).collect();
    by_launch.retain(|pairs| !pairs.is_empty());
    if by_launch.is_empty() {
        return None;
    }
    let medians: Vec<f64> = by_launch.iter().map(|pairs| median(pairs)).collect();
    Some(of_launches(&medians, &by_launch.concat(), 0.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixture;

    fn measured(contender: &str, route: Option<&str>, launches: &[&[f64]]) -> (Measured, Row) {
        let mut row = fixture::row("foreign", contender, &[], 1.0);
        let told = route.map_or_else(String::new, |route| format!(",route={route}"));
        if let Some(route) = route {
            row.params = row.params.with("route", route);
        }
        row.id = format!("foreign/{contender}/callee=noop{told}:time_per_op");
        let turns = |launch: &&[f64]| (0..).zip(launch.iter().copied()).collect();
        let one = Measured {
            id: row.id.clone(),
            estimate: 1.0,
            launches: launches.iter().map(turns).collect(),
        };
        (one, row)
    }

    #[test]
    fn a_difference_is_taken_turn_by_turn_over_the_threads_direct_call() {
        let (measured, table): (Vec<_>, Vec<_>) = [
            measured("call", None, &[&[9.0, 9.0]]),
            measured("os-thread", None, &[&[1.0, 3.0], &[2.0]]),
            measured("os-thread", Some("dyn"), &[&[2.0, 4.0], &[2.5]]),
            measured("may", Some("spawn-blocking"), &[&[11.0, 13.0], &[]]),
        ]
        .into_iter()
        .unzip();
        let told: Vec<_> = rows(&measured, &table)
            .into_iter()
            .map(|row| (row.id, row.figure.unwrap()))
            .map(|(id, figure)| (id, figure.low, figure.estimate, figure.high))
            .collect();
        let id = |it: &str| format!("foreign/{it}:added_per_op");
        assert_eq!(
            told,
            [
                (id("call/callee=noop"), 7.0, 7.0, 7.0),
                (id("os-thread/callee=noop,route=dyn"), 0.5, 0.75, 1.0),
                (id("may/callee=noop,route=spawn-blocking"), 10.0, 10.0, 10.0),
            ]
        );
    }

    #[test]
    fn without_a_thread_the_control_stands_for_it() {
        let (measured, table): (Vec<_>, Vec<_>) = [
            measured("call", None, &[&[1.0]]),
            measured("may", None, &[&[1.5]]),
        ]
        .into_iter()
        .unzip();
        assert_eq!(
            rows(&measured, &table)[0].notes,
            [format!("over {}", table[0].id)]
        );
        assert!(rows(&measured[1..], &table[1..]).is_empty());
    }
}
