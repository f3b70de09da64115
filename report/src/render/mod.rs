//! The views of a summary. Pure: the same summary gives the same bytes.

mod added;
mod chart;
mod csv;
mod curve;
mod foreign;
mod html;
mod json;
mod legs;
mod markdown;
mod number;
mod scale;
mod table;
pub mod terminal;

use crate::summary::Summary;

/// Every view that a record holds: file name and text.
pub fn views(summary: &Summary) -> Vec<(&'static str, String)> {
    vec![
        ("report.html", html::page(summary)),
        ("report.md", markdown::report(summary)),
        ("summary.json", json::summary(summary)),
        ("summary.csv", csv::rows(summary)),
    ]
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
