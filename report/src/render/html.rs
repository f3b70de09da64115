//! `report.html`: one offline file. The page itself is
//! `templates/report.html`; this fills it.

use askama::Template;
use corolab_lab::contender::Family;
use corolab_lab::sample::Status;
use corolab_lab::workload::{self, Layer, Workload};

use super::number::{fact, host_line, three};
use super::{added, chart, curve, foreign, legs, table};
use crate::summary::Summary;
use crate::verdict::{plain, words};

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    host: String,
    began: &'a str,
    wall: String,
    command: &'a str,
    score: String,
    headline: Grid,
    controlled: Grid,
    heap: &'static str,
    sentences: Vec<Sentence>,
    curve: String,
    curve_figures: Grid,
    calls: Option<Calls>,
    workloads: Vec<Section>,
    memory: Grid,
    refused: Grid,
    refused_count: usize,
    own_cost: Grid,
    empty: String,
    stopwatch: String,
    claims: Grid,
    contenders: Grid,
    warnings: &'a [String],
    facts: Vec<(String, String)>,
}

/// The leg of calls out of a task.
struct Calls {
    section: Section,
    sentences: Vec<String>,
    letters: String,
    stackful: Grid,
    stackless: Grid,
    batches: Grid,
    hops: Grid,
    collateral: Grid,
    planted: Grid,
    planted_ns: String,
    rest: bool,
}

struct Grid {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

struct Sentence {
    class: &'static str,
    text: String,
}

struct Section {
    name: &'static str,
    what: String,
    op: String,
    timed: String,
    untimed: String,
    answer: String,
    chart: String,
    blocks: Vec<BlockTable>,
}

struct BlockTable {
    id: String,
    settings: String,
    table: Grid,
}

fn grid<const N: usize>(heads: &[&'static str; N], rows: Vec<[String; N]>) -> Grid {
    Grid {
        heads: heads.iter().map(|head| (*head).to_owned()).collect(),
        rows: rows.into_iter().map(|row| row.to_vec()).collect(),
    }
}

/// The report as a page.
pub fn page(summary: &Summary) -> String {
    let duels = plain::duels(summary);
    let facts = summary
        .build
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()));
    let host = summary
        .host
        .keys()
        .map(|name| (name.clone(), fact(&summary.host, name)));
    let of_curve = curve::figures(summary);
    let page = Page {
        host: host_line(&summary.host),
        began: &summary.began,
        wall: format!("{:.0}", summary.wall_s),
        command: &summary.command,
        score: plain::score(&duels),
        headline: grid(&table::HEADLINE, table::headline(summary)),
        heap: legs::HEAP,
        controlled: grid(&legs::CONTROLLED, legs::controlled(summary)),
        sentences: duels
            .iter()
            .map(|duel| Sentence {
                class: duel.verdict.split(' ').next().unwrap_or("tie"),
                text: plain::sentence(duel),
            })
            .collect(),
        curve: curve::switch(summary),
        curve_figures: Grid {
            heads: of_curve.0,
            rows: of_curve.1,
        },
        calls: calls(summary),
        workloads: workload::ALL
            .iter()
            .filter(|it| it.layer != Layer::Foreign)
            .filter_map(|it| section(summary, it))
            .collect(),
        memory: grid(&legs::MEMORY, legs::memory(summary)),
        refused: grid(&table::REFUSED, table::refused(summary)),
        refused_count: summary
            .rows
            .iter()
            .filter(|row| row.status != Status::Ok)
            .count(),
        own_cost: grid(&table::OWN_COST, table::own_cost(summary)),
        empty: summary.instrument.map_or("unknown".to_owned(), |it| {
            format!("{} ns", three(it.empty_ns))
        }),
        stopwatch: summary
            .instrument
            .map_or("an unknown time".to_owned(), |it| {
                format!("{} ns", three(it.added_ns_per_op))
            }),
        claims: grid(&table::CLAIMS, table::claims(summary)),
        contenders: grid(&table::CONTENDERS, table::contenders(summary)),
        warnings: &summary.warnings,
        facts: facts.chain(host).collect(),
    };
    // The template has no fallible filter.
    page.render().unwrap_or_default()
}

/// Prose of the lab as markup: what stands between backquotes is code.
fn marked(text: &str) -> String {
    let parts = text.split('`').map(chart::escape).enumerate();
    parts
        .map(|(at, part)| {
            if at % 2 == 1 {
                format!("<code>{part}</code>")
            } else {
                part
            }
        })
        .collect()
}

fn calls(summary: &Summary) -> Option<Calls> {
    let matrix = |family| Grid {
        heads: foreign::matrix_heads(),
        rows: foreign::matrix(summary, family),
    };
    let mut section = section(summary, &workload::foreign::WORKLOAD)?;
    section.chart = added::chart(summary);
    Some(Calls {
        section,
        sentences: words::calls(summary),
        letters: foreign::letters(),
        stackful: matrix(Family::Stackful),
        stackless: matrix(Family::Stackless),
        batches: grid(&foreign::BATCHES, foreign::batches(summary)),
        hops: grid(&foreign::HOPS, foreign::hops(summary)),
        collateral: grid(&foreign::COLLATERAL, foreign::collateral(summary)),
        planted: grid(&foreign::PLANTED, foreign::planted(summary)),
        planted_ns: foreign::planted_ns(summary),
        rest: foreign::is_partial(summary),
    })
}

fn section(summary: &Summary, workload: &Workload) -> Option<Section> {
    let chart = chart::workload(summary, workload.name);
    if chart.is_empty() {
        return None;
    }
    let blocks = summary
        .blocks
        .iter()
        .filter(|block| block.workload == workload.name);
    Some(Section {
        name: workload.name,
        what: marked(workload.what),
        op: marked(workload.op),
        timed: marked(workload.timed),
        untimed: marked(workload.untimed),
        answer: marked(workload.answer),
        chart,
        blocks: blocks
            .map(|block| BlockTable {
                id: block.id.clone(),
                settings: table::settings(block),
                table: grid(&table::BLOCK, table::block(summary, block)),
            })
            .collect(),
    })
}
