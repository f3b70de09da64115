//! The verbs, one file each.

mod agree;
mod choose;
mod claims;
mod doctor;
mod list;
mod report;
mod run;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Cli, Verb};
use crate::run::program;

/// Does what the command line says.
///
/// # Errors
/// One sentence that says what, where, and the way out.
pub fn dispatch(cli: Cli) -> Result<ExitCode> {
    match cli.verb {
        None => run::run(&cli.run),
        Some(Verb::Run(options)) => run::run(&options),
        Some(Verb::List(selection)) => list::list(&selection),
        Some(Verb::Report(of)) => report::report(&of),
        Some(Verb::Claims(of)) => claims::claims(&of),
        Some(Verb::Doctor) => doctor::doctor(),
        Some(Verb::Child) => Ok(corolab_lab::child::main(&program::built_in())),
        Some(Verb::Agree(options)) => agree::agree(&options),
    }
}
