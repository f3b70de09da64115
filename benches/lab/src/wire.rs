//! The contract between parent and child: one JSON object on each line, over
//! two pipes of their own whose numbers stand in [`VARIABLE`].
//!
//! ```text
//! child                          parent
//! hello (contenders)         ->
//!                            <-  begin (one condition, settings)
//! ready | refused            ->
//!                            <-  warm (length of a sample)
//! warmed | refused           ->
//!                            <-  turn          } as often as
//! sample | refused           ->                } the parent likes
//!                            <-  end
//! done, then exit            ->
//! ```
//!
//! A workload whose one batch stands for itself (or that makes its tasks once
//! and then stands still) is asked for one turn without `warm`: `ready` comes
//! before the tasks, `sample` when the batch is done or the tasks wait.
//!
//! In a trial of the heap, `count` and `counted` stand where a turn and its
//! sample would: one batch, with everything counted that is asked of the heap.
//!
//! The baton is `warm` or `turn`: between its answer and the next message a
//! child blocks on its pipe and uses no CPU. Standard output and error stay
//! free: crates print there. A pipe that closes ends the child.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{OwnedFd, RawFd};

use serde::{Deserialize, Serialize};

use crate::contender::{Assignment, Profile};
use crate::sample::{Counted, Refusal, Sample};
use crate::stopwatch::Calibration;

/// Version of this contract; a child of another version is refused.
pub const VERSION: u32 = 2;

/// Environment variable with the two descriptors: `reading,writing`, as the
/// child sees them.
pub const VARIABLE: &str = "COROLAB_WIRE";

/// What the parent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum ToChild {
    /// Make the tasks of this condition.
    Begin(Assignment),
    /// Find out how many rounds a sample of this length has, and warm up.
    Warm {
        /// Length that a sample should have, ns.
        sample_ns: u64,
    },
    /// Do a short untimed prefix, then one sample.
    Turn {
        /// Number of the turn within the launch, from 0.
        turn: u32,
    },
    /// Do one batch and count what it asks of the heap.
    Count,
    /// Drop the tasks, check that all ended, and exit.
    End,
}

/// What a child says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromChild {
    /// The first line: which contenders this program has.
    Hello {
        /// [`VERSION`] of the child.
        wire: u32,
        /// Contenders that it can run, one at a time.
        contenders: Vec<Profile>,
    },
    /// The tasks stand.
    Ready {
        /// What the instrument reads in this child.
        calibration: Calibration,
        /// CPUs that the child read back as its own.
        cpus: Vec<u32>,
        /// What the contender wants its rows to say.
        #[serde(default)]
        notes: Vec<String>,
    },
    /// The sample's length is settled.
    Warmed {
        /// Rounds of a sample.
        rounds: u64,
        /// Operations of a sample.
        ops: u64,
    },
    /// The answer to a turn.
    Sample(Sample),
    /// The answer to `count`.
    Counted(Counted),
    /// Instead of any of these: why not. The child then exits.
    Refused(Refusal),
    /// The answer to `end`.
    Done,
}

/// The child's end of the wire.
#[derive(Debug)]
pub struct ChildEnd {
    reader: BufReader<File>,
    writer: File,
}

impl ChildEnd {
    /// Takes the two descriptors named in the environment over.
    ///
    /// # Errors
    /// The variable is missing or malformed, or a descriptor is not open.
    pub fn from_environment() -> io::Result<Self> {
        let told = std::env::var(VARIABLE).map_err(|_| {
            io::Error::other(format!(
                "this program is a corolab runner: start it with `corolab run --runner PATH`, \
                 which gives it a wire in {VARIABLE}"
            ))
        })?;
        let (reading, writing) = told
            .split_once(',')
            .and_then(|(r, w)| Some((r.parse::<RawFd>().ok()?, w.parse::<RawFd>().ok()?)))
            .filter(|(r, w)| r != w && *r > 2 && *w > 2)
            .ok_or_else(|| {
                io::Error::other(format!(
                    "{VARIABLE} is {told:?}; it should name two descriptors above 2, as in 3,4"
                ))
            })?;
        // SAFETY: the parent opened both for this child alone and said so in
        // the environment; they are above the standard three, distinct, and
        // taken over once, at the start of the child's main.
        let (reader, writer): (OwnedFd, OwnedFd) = unsafe {
            (
                corolab_syscalls::process::adopt(reading)?,
                corolab_syscalls::process::adopt(writing)?,
            )
        };
        Ok(ChildEnd {
            reader: BufReader::new(reader.into()),
            writer: writer.into(),
        })
    }

    /// Says one thing to the parent.
    ///
    /// # Errors
    /// The pipe is closed: the parent is gone.
    pub fn say(&mut self, message: &FromChild) -> io::Result<()> {
        self.writer.write_all(line(message)?.as_bytes())
    }

    /// Blocks until the parent says something; `None` when it has gone.
    ///
    /// # Errors
    /// A line that is not of this contract.
    pub fn hear(&mut self) -> io::Result<Option<ToChild>> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line)?))
    }
}

/// One message as a line, its end included, so that one `write` sends it.
///
/// # Errors
/// None for the messages of this contract.
pub fn line<T: Serialize>(message: &T) -> io::Result<String> {
    let mut line = serde_json::to_string(message)?;
    line.push('\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Status;

    #[test]
    fn a_turn_and_its_answer_are_one_line_each() {
        assert_eq!(
            line(&ToChild::Turn { turn: 3 }).unwrap(),
            "{\"say\":\"turn\",\"turn\":3}\n"
        );
        let refused = FromChild::Refused(Refusal::new(Status::Infeasible, "no room\nat all"));
        let text = line(&refused).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(serde_json::from_str::<FromChild>(&text).unwrap(), refused);
    }
}
