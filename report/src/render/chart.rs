//! The chart of a workload: one line for each row, grouped by block, with its
//! interval, on a logarithmic axis. Inline SVG on the page's CSS variables.

use std::fmt::Write as _;

use super::number::{span, told};
use super::scale::{Log, label};
use crate::summary::{BlockInfo, Row, Summary};
use crate::verdict::plain;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 275.0;
const RIGHT: f64 = 110.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 30.0;

/// Text that may stand in markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The mark of an estimate: a disc for a stack, a square for a state machine,
/// a diamond for the rest, so that families differ without colour too.
pub fn point(family: &str, x: f64, y: f64) -> String {
    match family {
        "stackful" => format!("<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        "stackless" => format!(
            "<rect class=\"dot\" x=\"{:.1}\" y=\"{:.1}\" width=\"7.4\" height=\"7.4\"/>",
            x - 3.7,
            y - 3.7
        ),
        _ => format!(
            "<path class=\"dot\" d=\"M{:.1},{y:.1} {x:.1},{:.1} {:.1},{y:.1} {x:.1},{:.1}z\"/>",
            x - 5.0,
            y - 5.0,
            x + 5.0,
            y + 5.0
        ),
    }
}

/// The chart of a workload; empty where it has no figure.
pub fn workload(summary: &Summary, workload: &str) -> String {
    let groups: Vec<(&BlockInfo, Vec<&Row>)> = summary
        .blocks
        .iter()
        .filter(|block| block.workload == workload)
        .map(|block| (block, plain::measured(summary, &block.id)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if groups.is_empty() {
        return String::new();
    }
    let figures = groups
        .iter()
        .flat_map(|(_, rows)| rows.iter().filter_map(|row| row.figure));
    let ends = figures.flat_map(|figure| [figure.low, figure.high]);
    let axis = Log::holding(ends, LEFT, WIDTH - RIGHT);
    let height: f64 = groups
        .iter()
        .map(|(_, rows)| HEAD + ROW * rows.len() as f64)
        .sum::<f64>()
        + 40.0;
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{} by contender, ns an \
         operation, log axis\">",
        escape(workload)
    );
    ticks(&mut svg, &axis, LEFT, height, "ns an operation");
    let mut y = 0.0;
    for (block, mut rows) in groups {
        group(&mut svg, &block.params.replace(',', ", "), y + HEAD - 8.0);
        y += HEAD;
        let time = |row: &Row| row.figure.map_or(f64::INFINITY, |figure| figure.estimate);
        rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        for row in rows {
            mark(&mut svg, row, block, &axis, y + ROW / 2.0);
            y += ROW;
        }
    }
    svg.push_str("</svg>");
    svg
}

/// The marks of an axis along the bottom, with what it measures to their left.
pub fn ticks(svg: &mut String, axis: &Log, left: f64, height: f64, title: &str) {
    for tick in axis.ticks() {
        let x = axis.at(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"8\" y2=\"{:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            height - 30.0,
            height - 14.0,
            label(tick)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{title}</text>",
        left - 30.0,
        height - 14.0
    );
}

/// The name of a group of rows.
pub fn group(svg: &mut String, name: &str, y: f64) {
    let name = escape(name);
    let _ = write!(
        svg,
        "<text class=\"group\" x=\"4\" y=\"{y:.1}\">{name}</text>"
    );
}

/// One row: name, interval, estimate, figure.
fn mark(svg: &mut String, row: &Row, block: &BlockInfo, axis: &Log, y: f64) {
    let Some(figure) = row.figure else { return };
    let (name, (value, _)) = (plain::name(row, block), told(row));
    let (low, at, high) = (
        axis.at(figure.low),
        axis.at(figure.estimate),
        axis.at(figure.high),
    );
    let title = format!("{}: {value} ({})", row.id, span(figure.low, figure.high));
    let _ = write!(
        svg,
        "<g class=\"{}\"><title>{}</title>\
         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <line class=\"bar\" x1=\"{LEFT}\" x2=\"{at:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         <line class=\"whisker\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         {}<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
        row.family.name(),
        escape(&title),
        LEFT - 10.0,
        y + 4.5,
        escape(&name),
        point(row.family.name(), at, y),
        high.max(at) + 9.0,
        y + 4.5,
        escape(&value)
    );
}
