//! `corolab`: stackful green threads or stackless futures? Measured.
//!
//! Data flows one way: [`plan`] -> [`run`] -> [`record`] -> [`stats`] ->
//! [`verdict`] -> [`render`], and never back. [`cli`] states the command line,
//! [`verbs`] holds one file for each verb.

mod cli;
mod estimate;
mod host;
mod plan;
mod record;
mod render;
mod run;
mod stats;
mod summary;
mod verbs;
mod verdict;

use std::io;
use std::process::ExitCode;

use corolab_lab::heap::Counting;

/// Children of this program can be told to count what they ask of the heap.
#[global_allocator]
static HEAP: Counting = Counting;

/// Says a line on standard error; a reader that has gone is no error.
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match verbs::dispatch(cli) {
        Ok(code) => code,
        Err(why) if is_closed_pipe(&why) => ExitCode::SUCCESS, // `corolab list | head -1`
        Err(why) => {
            tell!("corolab: {why:#}");
            let usage = why.downcast_ref::<cli::Usage>().is_some();
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}

fn is_closed_pipe(why: &anyhow::Error) -> bool {
    why.chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
