//! The views of a made summary, held against golden files.

use corolab_lab::sample::Status;

use super::*;
use crate::stats::{fixture, fixture_calls};
use crate::summary::Ratio;

fn view(name: &str) -> String {
    views(&fixture::summary())
        .into_iter()
        .find(|(file, _)| *file == name)
        .unwrap()
        .1
}

#[test]
fn markdown_is_as_it_was() {
    insta::assert_snapshot!(view("report.md"));
}

#[test]
fn json_is_as_it_was() {
    insta::assert_snapshot!(view("summary.json"));
}

#[test]
fn csv_is_as_it_was() {
    insta::assert_snapshot!(view("summary.csv"));
}

#[test]
fn the_terminal_is_as_it_was() {
    insta::assert_snapshot!(terminal::table(&fixture::summary(), 100, false));
}

#[test]
fn charts_are_as_they_were() {
    insta::assert_snapshot!(chart::workload(&fixture::summary(), "yield").replace("><", ">\n<"));
}

#[test]
fn the_leg_of_calls_is_as_it_was() {
    let summary = fixture_calls::summary();
    let text = markdown::report(&summary);
    let (_, leg) = text.split_once("## Calls out of a task").unwrap();
    let (leg, _) = leg.split_once("## Every block").unwrap();
    insta::assert_snapshot!("calls_out_of_a_task", leg);
    insta::assert_snapshot!("added_cost", added::chart(&summary).replace("><", ">\n<"));
}

#[test]
fn a_record_without_calls_has_no_such_leg() {
    assert!(!view("report.md").contains("## Calls out of a task"));
    assert!(!view("report.html").contains("id=\"calls\""));
    assert!(html::page(&fixture_calls::summary()).contains("A hundred million calls"));
}

#[test]
fn one_reason_is_told_once_with_how_many_it_holds_for() {
    let mut summary = fixture::summary();
    let refused = |row: &&crate::summary::Row| row.status == Status::NotOffered;
    let first = summary.rows.iter().find(refused).unwrap().clone();
    for at in 0..3 {
        let mut another = first.clone();
        another.id = format!("switch/may/live={at}:time_per_op");
        summary.rows.push(another);
    }
    let told = table::refused(&summary);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0][0], "switch/may/live=1 and 3 more");
}

#[test]
fn colour_only_repeats_what_the_words_say() {
    let coloured = terminal::table(&fixture::summary(), 100, true);
    let mut bare = String::new();
    let mut escaped = false;
    for character in coloured.chars() {
        match (escaped, character) {
            (false, '\u{1b}') => escaped = true,
            (true, 'm') => escaped = false,
            (true, _) => {}
            (false, other) => bare.push(other),
        }
    }
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(&bare),
        words(&terminal::table(&fixture::summary(), 100, false))
    );
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let page = view("report.html");
    for load in [
        "http:", "https:", "src=", "href=", "<script", "@import", "url(",
    ] {
        assert!(!page.contains(load), "{load} in the page");
    }
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

#[test]
fn every_mark_of_a_chart_has_a_title() {
    let chart = chart::workload(&fixture::summary(), "switch");
    assert_eq!(chart.matches("class=\"dot\"").count(), 4);
    for svg in [chart, curve::switch(&with_curve())] {
        let groups: Vec<&str> = svg.split("<g ").skip(1).collect();
        for group in &groups {
            assert_eq!(group.matches("<title>").count(), 1, "{group}");
        }
        let marks = svg.matches("class=\"dot\"").count();
        let in_groups: usize = groups.iter().map(|g| g.matches("\"dot\"").count()).sum();
        assert!(marks > 0 && marks == in_groups, "a mark outside its group");
    }
}

/// The fixture with a curve: three points of one line, two and a limit of the
/// other.
fn with_curve() -> Summary {
    let mut summary = fixture::summary();
    for (contender, live, time) in [
        ("hand-polled", 1_000, 2.1),
        ("hand-polled", 100_000, 2.4),
        ("corosensei", 1_000, 7.0),
    ] {
        let row = fixture::row("switch", contender, &[("live", live)], time);
        summary.rows.push(row);
    }
    let mut limit = fixture::row("switch", "corosensei", &[("live", 100_000)], 1.0);
    limit.figure = None;
    limit.status = Status::Infeasible;
    limit.reason = Some("vm.max_map_count is 65530 <& \"no more\">".to_owned());
    summary.rows.push(limit);
    summary
}

#[test]
fn the_curve_is_as_it_was() {
    insta::assert_snapshot!(curve::switch(&with_curve()).replace("><", ">\n<"));
}

#[test]
fn a_line_that_ends_says_where_and_why_and_the_table_behind_it_too() {
    let svg = curve::switch(&with_curve());
    assert!(svg.contains("corosensei (ends before 100k)"));
    assert!(svg.contains("vm.max_map_count is 65530 &lt;&amp; &quot;no more&quot;&gt;"));
    let (heads, rows) = curve::figures(&with_curve());
    assert_eq!(heads[0], "live tasks");
    let at = heads.iter().position(|head| head == "corosensei, ns");
    let column: Vec<&str> = rows.iter().map(|row| row[at.unwrap()].as_str()).collect();
    assert_eq!(
        column,
        ["4.00 (3.80 – 4.20)", "7.00 (6.65 – 7.35)", "infeasible"]
    );
    assert!(
        curve::switch(&fixture::summary()).is_empty(),
        "one point is no curve"
    );
}

#[test]
fn ids_of_the_page_are_valid_and_its_own() {
    let page = html::page(&with_curve());
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let valid = |id: &&str| !id.is_empty() && !id.contains(char::is_whitespace);
    assert!(!ids.is_empty() && ids.iter().all(valid), "{ids:?}");
    let mut own = ids.clone();
    own.sort_unstable();
    own.dedup();
    assert_eq!(own.len(), ids.len(), "{ids:?}");
}

#[test]
fn every_element_of_the_page_is_closed() {
    let page = html::page(&with_curve());
    for name in [
        "svg", "g", "title", "text", "table", "tr", "td", "details", "summary", "ul", "code",
    ] {
        let open =
            page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        let closed = page.matches(&format!("</{name}>")).count();
        assert_eq!(open, closed, "{name}");
    }
}

#[test]
fn what_a_child_said_last_breaks_no_view() {
    let mut summary = fixture::summary();
    let row = summary.rows.iter_mut().find(|row| row.reason.is_some());
    row.unwrap().reason = Some("panicked:\n<script>| Vec<u8>".to_owned());
    let views = views(&summary);
    let of = |name: &str| &views.iter().find(|(file, _)| *file == name).unwrap().1;
    assert!(!of("report.html").contains("<script"));
    assert!(of("report.md").contains("| panicked: &lt;script>\\| Vec&lt;u8> |"));
    let mut lines = ::csv::Reader::from_reader(of("summary.csv").as_bytes());
    assert_eq!(
        lines.records().filter(Result::is_ok).count(),
        summary.rows.len()
    );
}

#[test]
fn warnings_are_told_at_the_top_of_the_page() {
    let mut summary = fixture::summary();
    assert!(!html::page(&summary).contains("class=\"warn\""));
    summary.warnings.push("a debug build measured".to_owned());
    let page = html::page(&summary);
    let (warned, first_table) = (page.find("class=\"warn\""), page.find("<table"));
    assert!(warned.unwrap() < first_table.unwrap());
}

#[test]
fn the_same_summary_gives_the_same_bytes() {
    assert_eq!(views(&fixture::summary()), views(&fixture::summary()));
}

#[test]
fn the_controlled_experiment_pairs_a_fiber_with_its_future_and_tells_of_modes() {
    let mut summary = fixture::summary();
    let future = "yield/tokio-current/tasks=2:time_per_op";
    let mut fiber = summary
        .rows
        .iter()
        .find(|row| row.id == future)
        .unwrap()
        .clone();
    fiber.id = fiber.id.replace("tokio", "corosensei-on-tokio");
    fiber.contender = "corosensei-on-tokio-current".to_owned();
    summary.ratios.push(Ratio {
        a: fiber.id.clone(),
        b: future.to_owned(),
        ratio: 0.5,
        low: 0.4,
        high: 0.6,
        launches: 5,
        paired: "baton",
        verdict: "a lower",
    });
    fiber
        .notes
        .push("two modes: samples gather 1.7 apart".to_owned());
    summary.rows.push(fiber);
    assert_eq!(
        legs::controlled(&summary),
        [[
            "yield/tasks=2: tokio-current",
            "80.0 ns",
            "80.0 ns",
            "0.50 (0.40 – 0.60)",
            "fiber; the fiber has two modes",
        ]]
    );
    assert!(legs::controlled(&fixture::summary()).is_empty());
}

#[test]
fn memory_stands_with_its_mappings_and_the_time_of_making_lowest_first() {
    let mut summary = fixture::summary();
    let block = summary.blocks[0].clone();
    let mut row = |contender: &str, metric: &'static str, unit, value| {
        let mut row = fixture::row("switch", contender, &[("live", 1)], value);
        row.block = block.id.clone();
        (row.metric, row.unit) = (metric, unit);
        summary.rows.push(row);
    };
    row("corosensei", "resident_per_task", "B", 4_176.0);
    row("corosensei", "maps", "mappings", 39.0);
    row("may", "resident_per_task", "B", 64.0);
    let table = legs::memory(&summary);
    let cells = |at: usize| table[at].each_ref().map(String::as_str);
    assert_eq!(cells(0)[1..3], ["may", "64 B"]);
    assert_eq!(cells(1)[1..3], ["corosensei", "4,176 B"]);
    assert_eq!(cells(1)[4..], ["39", "4.00 ns"]);
}
