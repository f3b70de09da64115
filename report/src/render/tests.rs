//! The views of a made summary, held against golden files.

use super::*;
use crate::stats::fixture;

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
    assert_eq!(
        chart.matches("<circle").count(),
        chart.matches("<title>").count()
    );
    assert_eq!(chart.matches("<circle").count(), 4);
}

#[test]
fn the_same_summary_gives_the_same_bytes() {
    assert_eq!(views(&fixture::summary()), views(&fixture::summary()));
}
