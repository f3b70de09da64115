//! The switch curve: time of a resume against the number of live tasks, both
//! axes logarithmic, one line for each contender.

use std::fmt::Write as _;

use corolab_lab::sample::Status;

use super::chart::{escape, point};
use super::number::{span, three};
use super::scale::{Log, label};
use crate::summary::{Figure, Row, Summary};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 46.0;
/// Dashes and marks tell lines apart without colour.
const DASHES: [&str; 6] = ["", "7 4", "2 3", "10 3 2 3", "12 4", "4 2"];

struct Line<'a> {
    name: &'a str,
    family: &'static str,
    points: Vec<(u64, Figure)>,
    /// Where it ends before the others, and why.
    end: Option<(u64, &'a str)>,
}

/// The curve; empty where a record has fewer than two points of it.
pub fn switch(summary: &Summary) -> String {
    let lines = lines(summary);
    let lives = || {
        lines
            .iter()
            .flat_map(|line| line.points.iter().map(|(live, _)| *live as f64))
    };
    if lives().fold(0.0, f64::max) <= lives().fold(f64::MAX, f64::min) {
        return String::new();
    }
    let x = Log::holding(lives(), LEFT, WIDTH - RIGHT);
    let figures = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|(_, figure)| figure));
    let y = Log::holding(figures.flat_map(|f| [f.low, f.high]), HEIGHT - BOTTOM, TOP);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"ns a switch against live \
         tasks, log axes\">"
    );
    axes(&mut svg, &x, &y);
    for (at, line) in lines.iter().enumerate() {
        draw(&mut svg, line, DASHES[at % DASHES.len()], &x, &y);
    }
    labels(&mut svg, &lines, &x, &y);
    svg.push_str("</svg>");
    svg
}

fn lines(summary: &Summary) -> Vec<Line<'_>> {
    let bare = |row: &&Row| {
        row.workload == "switch"
            && row.metric == "time_per_op"
            && row.params.iter().all(|(key, _)| key == "live")
    };
    summary
        .contenders
        .iter()
        .filter(|profile| profile.prices.is_none())
        .map(|profile| {
            let rows = summary
                .rows
                .iter()
                .filter(bare)
                .filter(|row| row.contender == profile.name);
            let (mut points, mut end) = (Vec::new(), None);
            for row in rows {
                let Some(live) = row.params.number("live") else {
                    continue;
                };
                match (row.figure, row.status) {
                    (Some(figure), _) => points.push((live, figure)),
                    (None, Status::Infeasible) => {
                        let reason = row.reason.as_deref().unwrap_or("");
                        if end.is_none_or(|(earlier, _)| live < earlier) {
                            end = Some((live, reason));
                        }
                    }
                    (None, _) => {}
                }
            }
            points.sort_by_key(|(live, _)| *live);
            Line {
                name: &profile.name,
                family: profile.family.name(),
                points,
                end,
            }
        })
        .filter(|line| !line.points.is_empty())
        .collect()
}

fn axes(svg: &mut String, x: &Log, y: &Log) {
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0,
            label(tick)
        );
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0,
            label(tick)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">live tasks</text>\
         <text class=\"tick\" x=\"4\" y=\"12\">ns</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0
    );
}

fn draw(svg: &mut String, line: &Line<'_>, dash: &str, x: &Log, y: &Log) {
    let path: Vec<String> = line
        .points
        .iter()
        .map(|(live, figure)| format!("{:.1},{:.1}", x.at(*live as f64), y.at(figure.estimate)))
        .collect();
    let _ = write!(
        svg,
        "<g class=\"{}\"><title>{}</title><polyline class=\"path\" stroke-dasharray=\"{dash}\" \
         points=\"{}\"/></g>",
        line.family,
        escape(line.name),
        path.join(" ")
    );
    for (live, figure) in &line.points {
        let (at, low, high) = (x.at(*live as f64), y.at(figure.low), y.at(figure.high));
        let _ = write!(
            svg,
            "<g class=\"{}\"><title>{} at {live} live: {} ns ({})</title>\
             <line class=\"whisker\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>\
             {}</g>",
            line.family,
            escape(line.name),
            three(figure.estimate),
            span(figure.low, figure.high),
            point(line.family, at, y.at(figure.estimate))
        );
    }
}

/// The figures of the curve: a line for each number of live tasks, a column for
/// each contender; what met a limit says so.
pub fn figures(summary: &Summary) -> (Vec<String>, Vec<Vec<String>>) {
    let lines = lines(summary);
    let mut lives: Vec<u64> = lines
        .iter()
        .flat_map(|line| {
            let points = line.points.iter().map(|(live, _)| *live);
            points.chain(line.end.map(|(live, _)| live))
        })
        .collect();
    lives.sort_unstable();
    lives.dedup();
    let cell = |line: &Line<'_>, live: u64| {
        let point = line.points.iter().find(|(at, _)| *at == live);
        match (point, line.end) {
            (Some((_, f)), _) => format!("{} ({})", three(f.estimate), span(f.low, f.high)),
            (None, Some((end, _))) if live >= end => "infeasible".to_owned(),
            (None, _) => String::new(),
        }
    };
    let heads = lines.iter().map(|line| format!("{}, ns", line.name));
    let rows = lives.iter().map(|live| {
        let cells = lines.iter().map(|line| cell(line, *live));
        [live.to_string()].into_iter().chain(cells).collect()
    });
    (
        ["live tasks".to_owned()].into_iter().chain(heads).collect(),
        rows.collect(),
    )
}

/// Names at the ends of the lines, moved apart where they would touch.
fn labels(svg: &mut String, lines: &[Line<'_>], x: &Log, y: &Log) {
    let mut placed: Vec<(f64, f64)> = Vec::new();
    for line in lines {
        let Some((live, figure)) = line.points.last() else {
            continue;
        };
        let (px, mut py) = (x.at(*live as f64) + 10.0, y.at(figure.estimate) + 4.0);
        while placed
            .iter()
            .any(|(ox, oy)| (ox - px).abs() < 220.0 && (oy - py).abs() < 16.0)
        {
            py -= 16.0;
        }
        placed.push((px, py));
        let end = line.end.map_or_else(String::new, |(live, _)| {
            format!(" (ends before {})", label(live as f64))
        });
        let _ = write!(
            svg,
            "<g class=\"{}\"><title>{}</title><text class=\"end\" x=\"{px:.1}\" y=\"{py:.1}\">\
             {}{end}</text></g>",
            line.family,
            escape(line.end.map_or(line.name, |(_, reason)| reason)),
            escape(line.name)
        );
    }
}
