//! The rules on claims about calls out of a task. Pure.

use super::plain::paired;
use super::rules::{Found, NO_MEMORY, not_measurable, parts, stack_and_state};
use crate::summary::{Figure, Ratio, Row};

/// A green thread on a scheduler, and the bare coroutine of the same make, for
/// the route that only that has.
const FIBER: &str = "corosensei-on-tokio-current";
const BARE: &str = "corosensei-pooled";

fn id(contender: &str, told: &str, metric: &str) -> String {
    format!("foreign/{contender}/{told}:{metric}")
}

fn found<'a>(rows: &'a [Row], id: &str) -> Option<(&'a Row, Figure)> {
    let row = rows.iter().find(|row| row.id == id)?;
    Some((row, row.figure?))
}

/// One route of a green thread beside the thread's direct call.
struct Way {
    told: String,
    row: String,
    /// Low end of the ratio's interval.
    low: f64,
}

/// The published batch, which is steadier than samples of some milliseconds.
const BATCH: &str = ",batch=100000000";

/// What sets the rows apart that are judged by: the batch where it was measured.
fn of_batch(rows: &[Row]) -> &'static str {
    match found(rows, &thread(BATCH)) {
        Some(_) => BATCH,
        None => "",
    }
}

fn thread(batch: &str) -> String {
    id("os-thread", &format!("callee=noop{batch}"), "time_per_op")
}

fn way(rows: &[Row], ratios: &[Ratio], contender: &str, route: &str) -> Option<Way> {
    // A hundred million hops would take a quarter of an hour.
    let batch = match route {
        "spawn-blocking" => "",
        _ => of_batch(rows),
    };
    let by = match route {
        "direct" => String::new(),
        route => format!(",route={route}"),
    };
    let (told, name) = (format!("callee=noop{by}{batch}"), route);
    let row = id(contender, &told, "time_per_op");
    let (_, figure) = found(rows, &row)?;
    let ratio = paired(ratios, &row, &thread(batch))?;
    let added = found(rows, &id(contender, &told, "added_per_op"));
    let added = added.map_or_else(String::new, |(_, by)| match by.estimate {
        ns if ns.abs() < 1e3 => format!(" ({ns:+.2} ns)"),
        ns => format!(" ({:+.1} µs)", ns / 1e3),
    });
    let took = match figure.estimate {
        ns if ns < 1e3 => format!("{ns:.2} ns"),
        ns => format!("{:.1} µs", ns / 1e3),
    };
    let times = match ratio.ratio {
        times if times < 100.0 => format!("{times:.2}"),
        times => format!("{times:.0}"),
    };
    Some(Way {
        told: format!("{name} {took}{added}, ×{times}"),
        row,
        low: ratio.low,
    })
}

/// Judged by route: reproduced when a direct call from a green thread costs three
/// times a thread's or more, half of what was published; partly when it does not
/// and the call on the resumer's stack, which .NET's green threads had to make,
/// is dearer than a thread's beyond doubt.
pub fn dotnet_ffi(rows: &[Row], ratios: &[Ratio]) -> Found {
    let thread = thread(of_batch(rows));
    let Some((_, on_thread)) = found(rows, &thread) else {
        return not_measurable(format!("the row {thread} has no figure in this record"));
    };
    let of = |contender, route| way(rows, ratios, contender, route);
    let (direct, parent) = match (of(FIBER, "direct"), of(FIBER, "parent-stack")) {
        (Some(direct), Some(parent)) => (direct, parent),
        _ => {
            let needs = thread.replace("os-thread", FIBER);
            return not_measurable(format!(
                "{needs} or its row by parent-stack has no figure in this record"
            ));
        }
    };
    let held = [direct.low >= 3.0, parent.low > 1.0];
    let mut told = vec![
        format!("{:.2} ns on a thread", on_thread.estimate),
        format!("from a fiber {}", direct.told),
        parent.told.clone(),
    ];
    let mut ids = vec![thread, direct.row, parent.row];
    let further = [
        (FIBER, "big-stack"),
        (BARE, "suspend"),
        (FIBER, "spawn-blocking"),
    ];
    for (contender, route) in further {
        if let Some(way) = of(contender, route) {
            told.push(way.told);
            ids.push(way.row);
        }
    }
    let batches = batches(rows, &mut ids);
    Found {
        verdict: match held {
            [true, _] => "reproduced",
            [false, true] => "partly",
            [false, false] => "not reproduced",
        },
        measured: format!("{}{batches}", told.join("; ")),
        rows: ids,
        why:
            "by route: reproduced when a direct call costs three times a thread's or more; partly \
              when it does not and the call on the resumer's stack, which .NET had to make, is \
              dearer than a thread's (interval above 1)"
                .to_owned(),
    }
}

/// The published batch of a hundred million, where it was measured.
fn batches(rows: &[Row], ids: &mut Vec<String>) -> String {
    const CALLS: f64 = 1e8;
    let mut of = |contender: &str, route: &str| {
        let row = id(
            contender,
            &format!("callee=noop{route}{BATCH}"),
            "time_per_op",
        );
        let (_, figure) = found(rows, &row)?;
        ids.push(row);
        Some(figure.estimate * CALLS / 1e6)
    };
    match (
        of("os-thread", ""),
        of(FIBER, ""),
        of(FIBER, ",route=parent-stack"),
    ) {
        (Some(thread), Some(direct), Some(parent)) => format!(
            "; 100 M calls in one batch: {thread:.0} ms on a thread, {direct:.0} ms direct, \
             {parent:.0} ms on the resumer's stack"
        ),
        _ => "; the batch of 100 M is measured by --full".to_owned(),
    }
}

/// Three parts, as far as they were measured: a stack is ten states or more; a
/// call that blocks leaves most of those that were ready standing; a system call
/// through a trait object costs at most 5% more.
pub fn rfc230(rows: &[Row], ratios: &[Ratio]) -> Found {
    let (mut held, mut told, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    match stack_and_state(rows) {
        Some((stack, state, rows)) => {
            held.push(stack >= 10.0 * state);
            told.push(format!("a waiting stack is {:.0} states", stack / state));
            ids.extend(rows);
        }
        None => told.push(format!(
            "how light a stack is was not measured ({NO_MEMORY})"
        )),
    }
    let beside = |callee: &str, metric| {
        let told = format!("callee={callee},callers=16,form=beside");
        found(rows, &id(FIBER, &told, metric))
    };
    let still = beside("sleep1ms", "stood_still");
    let (late, usual) = (
        beside("sleep1ms", "heartbeat_gap_max"),
        beside("noop", "heartbeat_gap_max"),
    );
    match (still, late, usual) {
        (Some((row, still)), Some((late_row, late)), Some((usual_row, usual))) => {
            held.push(still.low >= 8.0 && late.low > usual.high);
            told.push(format!(
                "while one of 16 tasks blocks its worker for 1 ms, {:.0} of 16 that were ready stand \
                 still, and a heartbeat of 1 ms beats after {:.1} ms at the worst ({:.1} beside a call \
                 that does nothing)",
                still.estimate,
                late.estimate / 1e6,
                usual.estimate / 1e6
            ));
            ids.extend([row, late_row, usual_row].map(|row| row.id.clone()));
        }
        _ => told.push("nobody was measured beside a call that blocks".to_owned()),
    }
    let [dynamic, plain] = ["callee=getppid,route=dyn", "callee=getppid"]
        .map(|told| id("os-thread", told, "time_per_op"));
    match paired(ratios, &dynamic, &plain) {
        Some(ratio) => {
            held.push(ratio.high <= 1.05);
            told.push(format!(
                "through a trait object, which is a function more to leave, a system call takes {:.3} \
                 of its time ({:.3} to {:.3})",
                ratio.ratio, ratio.low, ratio.high
            ));
            ids.extend([dynamic, plain]);
        }
        None => told.push("no call through a trait object was measured".to_owned()),
    }
    if held.is_empty() {
        return not_measurable(told.join("; "));
    }
    Found {
        verdict: parts(&held),
        measured: told.join("; "),
        rows: ids,
        why: format!(
            "three parts, of which {} were measured: a stack is ten states or more; a call that \
             blocks leaves most of those that were ready standing and a heartbeat late; a system \
             call through a trait object takes at most 5% longer",
            held.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixture;

    fn row(contender: &str, told: &str, metric: &'static str, estimate: f64) -> Row {
        let mut row = fixture::row("foreign", contender, &[], estimate);
        row.id = id(contender, told, metric);
        row.metric = metric;
        row
    }

    fn ratio(a: &Row, b: &Row) -> Ratio {
        let by = a.figure.unwrap().estimate / b.figure.unwrap().estimate;
        Ratio {
            a: a.id.clone(),
            b: b.id.clone(),
            ratio: by,
            low: by * 0.97,
            high: by * 1.03,
            launches: 5,
            paired: "baton",
            verdict: "tie",
        }
    }

    fn ffi(direct: f64, parent: f64) -> Found {
        let thread = row("os-thread", "callee=noop", "time_per_op", 3.0);
        let direct = row(FIBER, "callee=noop", "time_per_op", direct);
        let parent = row(
            FIBER,
            "callee=noop,route=parent-stack",
            "time_per_op",
            parent,
        );
        // The ratio may stand the other way round in the record.
        let ratios = [ratio(&direct, &thread), ratio(&thread, &parent)];
        dotnet_ffi(&[thread, direct, parent], &ratios)
    }

    #[test]
    fn a_native_call_is_judged_by_route() {
        let published = ffi(18.0, 18.0);
        assert_eq!(published.verdict, "reproduced");
        let ours = ffi(3.0, 7.5);
        assert_eq!(ours.verdict, "partly");
        let told = &ours.measured;
        assert!(told.starts_with("3.00 ns on a thread; from a fiber direct 3.00 ns, ×1.00; parent-stack 7.50 ns, ×2.50"), "{told}");
        assert!(told.contains("--full"), "{told}");
        assert_eq!(ours.rows.len(), 3);
        assert_eq!(ffi(3.0, 3.05).verdict, "not reproduced");
        assert_eq!(dotnet_ffi(&[], &[]).verdict, "not measurable here");
    }

    #[test]
    fn where_the_batch_was_measured_it_decides() {
        let thread = row(
            "os-thread",
            &format!("callee=noop{BATCH}"),
            "time_per_op",
            3.0,
        );
        let direct = row(FIBER, &format!("callee=noop{BATCH}"), "time_per_op", 18.0);
        let told = format!("callee=noop,route=parent-stack{BATCH}");
        let parent = row(FIBER, &told, "time_per_op", 18.0);
        let sampled = row("os-thread", "callee=noop", "time_per_op", 18.0);
        let ratios = [ratio(&direct, &thread), ratio(&parent, &thread)];
        let found = dotnet_ffi(&[sampled, thread, direct, parent], &ratios);
        assert_eq!(found.verdict, "reproduced");
        assert!(
            found.rows.iter().all(|row| row.contains("batch=")),
            "{:?}",
            found.rows
        );
    }

    #[test]
    fn the_batch_is_told_where_it_was_measured() {
        let batch = |contender: &str, route: &str, ns| {
            row(
                contender,
                &format!("callee=noop{route}{BATCH}"),
                "time_per_op",
                ns,
            )
        };
        let rows = [
            batch("os-thread", "", 3.0),
            batch(FIBER, "", 3.1),
            batch(FIBER, ",route=parent-stack", 18.0),
        ];
        let mut ids = Vec::new();
        let told = batches(&rows, &mut ids);
        assert!(
            told.contains("300 ms on a thread, 310 ms direct, 1800 ms"),
            "{told}"
        );
        assert_eq!(ids.len(), 3);
    }

    fn blocked(still: f64, late: f64, dynamic: f64) -> Found {
        let beside = |callee: &str| format!("callee={callee},callers=16,form=beside");
        let plain = row("os-thread", "callee=getppid", "time_per_op", 100.0);
        let object = row(
            "os-thread",
            "callee=getppid,route=dyn",
            "time_per_op",
            dynamic,
        );
        let ratios = [ratio(&object, &plain)];
        let rows = [
            row(FIBER, &beside("sleep1ms"), "stood_still", still),
            row(FIBER, &beside("sleep1ms"), "heartbeat_gap_max", late),
            row(FIBER, &beside("noop"), "heartbeat_gap_max", 2e6),
            plain,
            object,
        ];
        rfc230(&rows, &ratios)
    }

    #[test]
    fn what_was_not_measured_is_no_part_of_the_verdict() {
        let found = blocked(16.0, 17e6, 101.0);
        assert_eq!(found.verdict, "reproduced");
        assert!(
            found.why.contains("of which 2 were measured"),
            "{}",
            found.why
        );
        assert!(
            found.measured.contains("16 of 16 that were ready"),
            "{}",
            found.measured
        );
        assert_eq!(found.rows.len(), 5);
        assert_eq!(blocked(16.0, 17e6, 140.0).verdict, "partly");
        assert_eq!(blocked(0.0, 2e6, 140.0).verdict, "not reproduced");
        assert_eq!(rfc230(&[], &[]).verdict, "not measurable here");
    }
}
