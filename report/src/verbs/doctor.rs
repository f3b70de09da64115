//! `corolab doctor`: what is known of this host.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use corolab_lab::stopwatch::Calibration;
use corolab_syscalls::callee;

use super::list::print;
use crate::host::{Roots, advice, facts};

/// Prints the facts, the instrument's own reading, and advice.
///
/// # Errors
/// Standard output is closed.
pub fn doctor() -> Result<ExitCode> {
    let host = facts(&Roots::default());
    let mut text = String::new();
    for (name, value) in &host {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "{name:<24} {value}");
    }
    let it = Calibration::measure();
    let cycle = it
        .cycle_ns
        .map_or("unknown".to_owned(), |ns| format!("{ns:.3} ns"));
    let _ = writeln!(text, "{:<24} {:.0} ns", "empty_batch", it.empty_ns);
    let _ = writeln!(text, "{:<24} {:.0} ns", "clock_tick", it.tick_ns);
    let _ = writeln!(text, "{:<24} {cycle}", "cpu_cycle");
    text.push_str("\ncalls out of a task: bare prices, to expect and not to compare by\n");
    for entry in callee::ALL {
        let price = match entry.price() {
            Ok(ns) => format!("{ns:.1} ns"),
            Err(why) => format!("refused: {why}"),
        };
        let _ = writeln!(text, "{:<24} {price:<14} {}", entry.name, entry.meaning);
    }
    text.push('\n');
    if cfg!(debug_assertions) {
        text.push_str("This is a debug build: its figures say nothing. Use --release.\n");
    }
    for line in advice(&host) {
        let _ = writeln!(text, "{line}");
    }
    print(&text)
}
