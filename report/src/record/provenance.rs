//! Where a record comes from: the command, the binary, its source.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use corolab_lab::contender::Profile;
use corolab_lab::versions;
use sha2::{Digest, Sha256};

use super::manifest::{Manifest, Plan, SCHEMA};

/// The manifest of a plan, measured by this very program.
///
/// # Errors
/// The running binary cannot be read.
pub fn manifest(plan: &Plan, contenders: Vec<Profile>) -> Result<Manifest> {
    let (revision, dirty) = source();
    Ok(Manifest {
        schema: SCHEMA.to_owned(),
        command: command_line(),
        plan: plan.clone(),
        contenders,
        binary: hash(&env::current_exe()?)?,
        revision,
        dirty,
        rustc: versions::of("std").to_owned(),
        profile: if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
        .to_owned(),
        locked: versions::LOCKED
            .iter()
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
            .collect(),
    })
}

/// The command as a shell would take it, without the path of the binary.
fn command_line() -> String {
    let mut words = vec!["corolab".to_owned()];
    for argument in env::args_os().skip(1) {
        let word = argument.to_string_lossy().into_owned();
        let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            words.push(word);
        } else {
            words.push(format!("'{}'", word.replace('\'', "'\\''")));
        }
    }
    words.join(" ")
}

fn hash(path: &Path) -> Result<String> {
    let digest = Sha256::digest(fs::read(path)?);
    Ok(digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Git revision of the folder that this runs in, if it is our source.
fn source() -> (String, Option<bool>) {
    let git = |arguments: &[&str]| -> Option<String> {
        let told = Command::new("git").args(arguments).output().ok()?;
        told.status
            .success()
            .then(|| String::from_utf8_lossy(&told.stdout).trim().to_owned())
    };
    let ours = Path::new("benches/lab/Cargo.toml").is_file();
    match git(&["rev-parse", "HEAD"]).filter(|_| ours) {
        Some(revision) => {
            let dirty = git(&["status", "--porcelain", "--untracked-files=no"]);
            (revision, dirty.map(|changes| !changes.is_empty()))
        }
        None => ("unknown".to_owned(), None),
    }
}
