//! The programs that can be children: this binary, and runners brought along.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Contender, Profile};
use corolab_lab::control;
use corolab_lab::sample::Refusal;

use super::child::Child;
use crate::cli::usage;

/// Every built-in contender, the control first.
pub fn built_in() -> Vec<&'static Contender> {
    [&control::CALL]
        .into_iter()
        .chain(corolab_green::CONTENDERS.iter().copied())
        .chain(corolab_stackless::CONTENDERS.iter().copied())
        .collect()
}

/// How a child is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Everybody who can be measured, and by which program.
#[derive(Clone, Debug)]
pub struct Cast {
    own: Program,
    brought: Vec<(Program, Vec<Profile>)>,
}

impl Cast {
    /// The built-in contenders, and those of `runners`, each of which is
    /// started once to say hello.
    ///
    /// # Errors
    /// A runner is not there, says something else, or brings a name twice.
    pub fn gather(runners: &[PathBuf], patience: Duration) -> Result<Self> {
        let own = Program {
            path: std::env::current_exe()?,
            arguments: vec!["child".into()],
        };
        let mut cast = Cast {
            own,
            brought: Vec::new(),
        };
        for path in runners {
            let program = Program {
                path: path.clone(),
                arguments: Vec::new(),
            };
            let profiles = hello(&program, path, patience)?;
            for profile in &profiles {
                if cast
                    .profiles()
                    .iter()
                    .any(|known| known.name == profile.name)
                {
                    return Err(usage(format!(
                        "the runner {} brings a contender named {}, which there is already: \
                         give it a name of its own",
                        path.display(),
                        profile.name
                    )));
                }
            }
            cast.brought.push((program, profiles));
        }
        Ok(cast)
    }

    /// Profiles of everybody.
    pub fn profiles(&self) -> Vec<Profile> {
        let built_in = built_in().into_iter().map(Contender::profile);
        let brought = self
            .brought
            .iter()
            .flat_map(|(_, profiles)| profiles.iter().cloned());
        built_in.chain(brought).collect()
    }

    /// The program that runs a contender.
    pub fn program_of(&self, contender: &str) -> &Program {
        self.brought
            .iter()
            .find(|(_, profiles)| profiles.iter().any(|profile| profile.name == contender))
            .map_or(&self.own, |(program, _)| program)
    }

    /// Whether a pair is refused before anything runs. What a brought runner
    /// refuses beyond its list of workloads, it says when it is asked to begin.
    ///
    /// # Errors
    /// The refusal that becomes the row.
    pub fn admits(&self, condition: &Condition) -> Result<(), Refusal> {
        if let Some(contender) = built_in()
            .into_iter()
            .find(|contender| contender.name == condition.contender)
        {
            return contender.measure_of(condition).map(drop);
        }
        let profile = self
            .brought
            .iter()
            .flat_map(|(_, profiles)| profiles)
            .find(|profile| profile.name == condition.contender);
        match profile {
            Some(profile) if profile.workloads.contains(&condition.workload) => Ok(()),
            _ => Err(Refusal::not_offered(format!(
                "its runner does not offer the workload {}",
                condition.workload
            ))),
        }
    }
}

/// Starts a runner to hear which contenders it has.
fn hello(program: &Program, path: &Path, patience: Duration) -> Result<Vec<Profile>> {
    let refused = |why: String| {
        usage(format!(
            "the runner {} cannot be used: {why}; it should speak the wire contract, as \
             examples/bring_your_own.rs does",
            path.display()
        ))
    };
    let mut child = Child::start(program, &[], 0).map_err(|refusal| refused(refusal.reason))?;
    let profiles = child
        .hello(patience)
        .map_err(|refusal| refused(refusal.reason))?;
    if profiles.is_empty() {
        return Err(refused("it has no contender".to_owned()));
    }
    Ok(profiles)
}
