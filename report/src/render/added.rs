//! The chart of added cost: what a call by each route takes more than on a
//! thread, with its interval, on a logarithmic axis.

use std::fmt::Write as _;

use corolab_lab::contender::Family;

use super::chart::{escape, group, point, ticks};
use super::foreign::{ROUTES, best, callee, difference, figure, priced, route, time};
use super::scale::Log;
use crate::stats::added::ADDED;
use crate::summary::{BlockInfo, Figure, Row, Summary};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 330.0;
const RIGHT: f64 = 110.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 30.0;

/// The chart: for each callee the best of each family by each route; empty where
/// nothing was measured.
pub fn chart(summary: &Summary) -> String {
    let groups: Vec<(&BlockInfo, Vec<(&Row, Figure)>)> = priced(summary)
        .into_iter()
        .map(|block| {
            let families = [Family::Stackful, Family::Stackless];
            let ways = ROUTES
                .iter()
                .flat_map(|by| families.map(|family| (family, *by)));
            let rows = ways.filter_map(|(family, by)| {
                let row = best(summary, block, family, by)?;
                Some((row, figure(summary, row, ADDED)?))
            });
            (block, rows.collect::<Vec<_>>())
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if groups.is_empty() {
        return String::new();
    }
    let figures = groups.iter().flat_map(|(_, rows)| rows.iter());
    // What lies under a tenth of a nanosecond is drawn at the edge.
    let ends = figures.flat_map(|(_, added)| [added.low, added.high]);
    let axis = Log::holding(ends.map(|end| end.max(0.1)), LEFT, WIDTH - RIGHT);
    let lines: usize = groups.iter().map(|(_, rows)| rows.len()).sum();
    let height = HEAD * groups.len() as f64 + ROW * lines as f64 + 40.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"added cost of a call by \
         callee and route, ns, log axis\">"
    );
    ticks(&mut svg, &axis, LEFT, height, "ns more than on a thread");
    let mut y = 0.0;
    for (block, rows) in groups {
        group(&mut svg, &callee(block), y + HEAD - 8.0);
        y += HEAD;
        for (row, added) in rows {
            let value = difference(summary, block, row, &added);
            mark(&mut svg, row, &added, &value, &axis, y + ROW / 2.0);
            y += ROW;
        }
    }
    svg.push_str("</svg>");
    svg
}

/// One row: route and contender, interval, estimate, figure.
fn mark(svg: &mut String, row: &Row, figure: &Figure, value: &str, axis: &Log, y: f64) {
    let at = |value: f64| axis.at(value.max(0.1)).max(LEFT);
    let title = format!(
        "{}: {value} ({} to {})",
        row.id.replace("time_per_op", ADDED),
        time(figure.low),
        time(figure.high)
    );
    let _ = write!(
        svg,
        "<g class=\"{}\"><title>{}</title>\
         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}: {}</text>\
         <line class=\"bar\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         <line class=\"whisker\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         {}<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
        row.family.name(),
        escape(&title),
        LEFT - 10.0,
        y + 4.5,
        route(row),
        escape(&row.contender),
        at(figure.estimate),
        at(figure.low),
        at(figure.high),
        point(row.family.name(), at(figure.estimate), y),
        at(figure.high) + 9.0,
        y + 4.5,
        escape(value)
    );
}
