//! A record: one folder of results, from which every view is computed.

pub mod line;
pub mod manifest;
pub mod provenance;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::usage;
use crate::summary::Host;
use line::Line;
use manifest::Manifest;

const MANIFEST: &str = "manifest.json";
const HOST: &str = "env.json";
const SAMPLES: &str = "samples.jsonl";

/// A record that is being written.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    samples: File,
}

impl Writer {
    /// Makes the folder and its first files.
    ///
    /// # Errors
    /// The folder exists or cannot be written to.
    pub fn create(dir: &Path, manifest: &Manifest, host: &Host) -> Result<Self> {
        if dir.exists() {
            return Err(usage(format!(
                "the folder {} exists: give another --out, or go on with it by --resume",
                dir.display()
            )));
        }
        fs::create_dir_all(dir.join("log")).map_err(|why| {
            usage(format!(
                "the folder {} cannot be made ({why}): give an --out that can be written to",
                dir.display()
            ))
        })?;
        write_json(dir, MANIFEST, manifest)?;
        write_json(dir, HOST, host)?;
        Self::open(dir)
    }

    /// Goes on with a record.
    ///
    /// # Errors
    /// The samples cannot be appended to.
    pub fn open(dir: &Path) -> Result<Self> {
        let path = dir.join(SAMPLES);
        let samples = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("{} cannot be appended to", path.display()))?;
        let mut writer = Writer {
            dir: dir.to_owned(),
            samples,
        };
        writer.mend_last_line()?;
        Ok(writer)
    }

    /// A writer that was killed may have left half a line; ends it.
    fn mend_last_line(&mut self) -> Result<()> {
        let text = fs::read(self.dir.join(SAMPLES))?;
        if text.last().is_some_and(|last| *last != b'\n') {
            self.samples.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Appends lines, all by one write.
    ///
    /// # Errors
    /// The disk is full, or the folder has gone.
    pub fn append(&mut self, lines: &[Line]) -> Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        self.samples
            .write_all(text.as_bytes())
            .with_context(|| format!("samples cannot be written to {}", self.dir.display()))
    }

    /// Keeps what a child printed, if it printed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_log(&self, name: &str, printed: &[u8]) -> Result<()> {
        if printed.is_empty() {
            return Ok(());
        }
        let safe: String = name
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        write_whole(&self.dir.join("log"), &format!("{safe}.txt"), printed)
    }
}

/// A record that was read.
#[derive(Debug)]
pub struct Record {
    /// What was to be measured.
    pub manifest: Manifest,
    /// The host that measured.
    pub host: Host,
    /// Everything that was seen.
    pub lines: Vec<Line>,
    /// Lines of the samples that are not whole; a killed run leaves at most
    /// one.
    pub broken: usize,
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    /// The folder is no record, or not of this program's schema.
    pub fn read(dir: &Path) -> Result<Self> {
        let manifest: Manifest = read_json(dir, MANIFEST)?;
        if manifest.schema != manifest::SCHEMA {
            return Err(usage(format!(
                "{} has the schema {}, and this corolab reads {}",
                dir.display(),
                manifest.schema,
                manifest::SCHEMA
            )));
        }
        let host = read_json(dir, HOST)?;
        let path = dir.join(SAMPLES);
        let text = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let text = String::from_utf8_lossy(&text);
        let (mut lines, mut broken) = (Vec::new(), 0);
        for line in text.lines().filter(|line| !line.is_empty()) {
            match serde_json::from_str(line) {
                Ok(line) => lines.push(line),
                Err(_) => broken += 1,
            }
        }
        Ok(Record {
            manifest,
            host,
            lines,
            broken,
        })
    }
}

fn read_json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T> {
    let path = dir.join(name);
    let text = fs::read_to_string(&path).map_err(|why| {
        usage(format!(
            "{} is no record of corolab ({name}: {why}): give a folder that `corolab run` made",
            dir.display()
        ))
    })?;
    serde_json::from_str(&text).map_err(|why| {
        usage(format!(
            "{} is not what corolab writes: {why}",
            path.display()
        ))
    })
}

fn write_json<T: Serialize>(dir: &Path, name: &str, value: &T) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write_whole(dir, name, text.as_bytes())
}

/// Writes a file under a temporary name and renames it, so that a reader never
/// sees half of it.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_whole(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let temporary = dir.join(format!(".{name}.{}", std::process::id()));
    let whole = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        fs::rename(&temporary, dir.join(name))
    };
    whole().with_context(|| format!("{} cannot be written to {}", name, dir.display()))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use corolab_lab::condition::{Condition, Params};
    use corolab_lab::sample::Status;
    use line::{SessionEnded, Trial};

    /// A trial that ended well.
    pub fn trial(block: &str, launch: u32) -> Trial {
        Trial {
            counted: None,
            block: block.to_owned(),
            launch,
            condition: Condition {
                workload: "switch".into(),
                contender: "call".into(),
                params: Params::new().with("live", 1),
            },
            status: Status::Ok,
            reason: None,
            calibration: None,
            cpus: Vec::new(),
            notes: Vec::new(),
            memory: None,
            threads: None,
            made_ns: None,
            outside_cpu_ns: 0,
            outside_wall_ns: 0,
            stilled: false,
        }
    }

    fn ended(session: u32) -> Line {
        Line::SessionEnded(SessionEnded {
            session,
            wall_s: 1.5,
            interrupted: false,
        })
    }

    #[test]
    fn half_a_line_costs_itself_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(dir.path()).unwrap();
        writer.append(&[ended(1)]).unwrap();
        OpenOptions::new()
            .append(true)
            .open(dir.path().join(SAMPLES))
            .unwrap()
            .write_all(b"{\"kind\":\"sam")
            .unwrap();
        Writer::open(dir.path())
            .unwrap()
            .append(&[ended(2)])
            .unwrap();
        let text = fs::read_to_string(dir.path().join(SAMPLES)).unwrap();
        let whole: Vec<Line> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        assert_eq!(whole, [ended(1), ended(2)]);
    }

    #[test]
    fn a_folder_that_is_no_record_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let told = Record::read(dir.path()).unwrap_err().to_string();
        assert!(told.contains("is no record of corolab"), "{told}");
    }
}
