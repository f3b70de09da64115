//! One child, seen from the parent: started, spoken with, and put to an end.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use corolab_lab::contender::Profile;
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::wire::{self, FromChild, ToChild};
use corolab_syscalls::callee::descriptors_are_short;
use corolab_syscalls::process::{Binding, Signal, bind, has_ended, readable, signal_group};
use corolab_syscalls::{clock, limits};

use super::ending;
use super::program::Program;

/// Bytes kept of what a child prints; the rest is read and let go.
const KEPT: usize = 64 << 10;
/// A line longer than this is not of the contract.
const LONGEST_LINE: usize = 1 << 20;

/// A child process, its wire, and what it prints.
pub struct Child {
    process: process::Child,
    answers: PipeReader,
    questions: PipeWriter,
    unread: Vec<u8>,
    printed: Arc<Mutex<Vec<u8>>>,
    drains: Vec<JoinHandle<()>>,
    ended: bool,
}

/// Why a child cannot be started. The children of a block stand side by side,
/// and each takes four descriptors of the parent's.
fn no_start(program: &Program, why: &io::Error) -> Refusal {
    if !descriptors_are_short(why) {
        let path = program.path.display();
        return Refusal::failed(format!("{path} cannot be started: {why}"));
    }
    let limit = limits::open_files().map_or("unknown".to_owned(), |files| files.to_string());
    Refusal::infeasible(format!(
        "no descriptor is left for one more child ({why}): the limit is {limit}, and each child of a \
         block takes four; ulimit -n 1024 has room for every block"
    ))
}

impl Child {
    /// Starts `program` confined to `cpus`, with `padding` bytes of environment
    /// more, so that each launch has addresses of its own.
    ///
    /// # Errors
    /// The executable is not there, or the kernel refuses it.
    pub fn start(program: &Program, cpus: &[u32], padding: usize) -> Result<Self, Refusal> {
        let not_there = |why: io::Error| no_start(program, &why);
        let (theirs_in, questions) = io::pipe().map_err(not_there)?;
        let (answers, theirs_out) = io::pipe().map_err(not_there)?;
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env(
                wire::VARIABLE,
                format!("{},{}", theirs_in.as_raw_fd(), theirs_out.as_raw_fd()),
            )
            .env("COROLAB_PADDING", "x".repeat(padding))
            // A panic at the limit on mappings finds no memory for a backtrace,
            // and hangs in the middle of it.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let binding = Binding {
            inherit: &[theirs_in.as_fd(), theirs_out.as_fd()],
            cpus,
        };
        bind(&mut command, &binding);
        let mut process = command.spawn().map_err(not_there)?;
        let printed = Arc::new(Mutex::new(Vec::new()));
        let pipes = [
            process.stdout.take().map(OwnedFd::from),
            process.stderr.take().map(OwnedFd::from),
        ];
        let drains = pipes
            .into_iter()
            .flatten()
            .map(|pipe| drain(pipe, printed.clone()))
            .collect();
        Ok(Child {
            process,
            answers,
            questions,
            unread: Vec::new(),
            printed,
            drains,
            ended: false,
        })
    }

    /// Waits for the child's first line.
    ///
    /// # Errors
    /// It says something else, or another version of the contract.
    pub fn hello(&mut self, patience: Duration) -> Result<Vec<Profile>, Refusal> {
        match self.hear(patience)? {
            FromChild::Hello {
                wire: wire::VERSION,
                contenders,
            } => Ok(contenders),
            FromChild::Hello { wire, .. } => Err(Refusal::failed(format!(
                "it speaks version {wire} of the wire, this corolab version {}",
                wire::VERSION
            ))),
            other => Err(out_of_turn(&other)),
        }
    }

    /// Says one thing to the child.
    ///
    /// # Errors
    /// The child is gone; how it ended is the reason.
    pub fn say(&mut self, message: &ToChild) -> Result<(), Refusal> {
        let line = wire::line(message).map_err(|why| Refusal::failed(why.to_string()))?;
        self.questions
            .write_all(line.as_bytes())
            .map_err(|_| self.gone())
    }

    /// Waits for the child's next line; a refusal that it says is an error.
    ///
    /// # Errors
    /// Silence beyond `patience`, an end, half a line, a line of another kind.
    pub fn hear(&mut self, patience: Duration) -> Result<FromChild, Refusal> {
        let line = self.line(patience)?;
        match serde_json::from_slice(&line) {
            Ok(FromChild::Refused(refusal)) => Err(refusal),
            Ok(message) => Ok(message),
            Err(_) => Err(Refusal::failed(format!(
                "it wrote a line that is not of the wire: {:?}",
                String::from_utf8_lossy(&line[..line.len().min(80)])
            ))),
        }
    }

    fn line(&mut self, patience: Duration) -> Result<Vec<u8>, Refusal> {
        let until = Instant::now() + patience;
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.unread.drain(..=end).collect();
                line.pop();
                return Ok(line);
            }
            if self.unread.len() > LONGEST_LINE {
                return Err(Refusal::failed(
                    "it wrote a line without an end on the wire",
                ));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Refusal::new(
                    Status::TimedOut,
                    format!("silent for {:.1} s, then killed", patience.as_secs_f64()),
                ));
            }
            if super::interrupt::interrupted() {
                return Err(Refusal::failed("the run was interrupted"));
            }
            // Short waits, so that an interrupt is seen even if its signal came
            // between the check and the wait.
            let wait = left.min(Duration::from_millis(500)).as_millis().max(1);
            match readable(self.answers.as_fd(), u32::try_from(wait).unwrap_or(500)) {
                Ok(false) => {}
                Ok(true) => {
                    let mut chunk = [0; 4_096];
                    match self.answers.read(&mut chunk) {
                        Ok(0) => return Err(self.gone()),
                        Ok(length) => self.unread.extend_from_slice(&chunk[..length]),
                        Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                        Err(why) => return Err(Refusal::failed(format!("the wire broke: {why}"))),
                    }
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(Refusal::failed(format!("the wire broke: {why}"))),
            }
        }
    }

    /// The child has closed its wire: tells how it ended.
    fn gone(&mut self) -> Refusal {
        let half = (!self.unread.is_empty()).then(|| String::from_utf8_lossy(&self.unread).into());
        let by_itself = self.ends_within(Duration::from_secs(2));
        let status = self.end().filter(|_| by_itself);
        Refusal::failed(ending::sentence(status, half, &self.printed()))
    }

    /// Whether the process ends by itself before long. It is not reaped here,
    /// so that its group's number stays its own until the group is killed.
    fn ends_within(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match has_ended(self.process.id()) {
                Ok(true) => return true,
                Ok(false) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
                _ => return false,
            }
        }
    }

    /// Lets the child end by itself after its last answer, then makes sure.
    pub fn leave(mut self, patience: Duration) -> Vec<u8> {
        self.ends_within(patience);
        self.end();
        self.printed()
    }

    /// Stops or continues the child's whole group.
    pub fn signal(&self, signal: Signal) {
        // A group that is gone shows at the next word on the wire.
        drop(signal_group(self.process.id(), signal));
    }

    /// CPU time of the child so far; zero where the kernel does not say.
    pub fn cpu_time(&self) -> Duration {
        clock::cpu_time_of(self.process.id()).unwrap_or(Duration::ZERO)
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What the child has printed so far.
    pub fn printed(&self) -> Vec<u8> {
        self.printed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Kills the group, which also holds whatever the leader has started, and
    /// reaps the leader; what was printed is complete after that.
    fn end(&mut self) -> Option<process::ExitStatus> {
        if !std::mem::replace(&mut self.ended, true) {
            self.signal(Signal::Kill);
        }
        let status = self.process.wait().ok();
        // Somebody who left the group may still hold the pipes: what was
        // printed is then told without its end, instead of waiting forever.
        let until = Instant::now() + Duration::from_millis(500);
        for drain in self.drains.drain(..) {
            while !drain.is_finished() && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
        }
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads what a child prints, so that it never waits for room in a pipe.
fn drain(pipe: OwnedFd, printed: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut pipe = File::from(pipe);
        let mut chunk = [0; 4_096];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => return,
                Ok(length) => {
                    let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = KEPT.saturating_sub(printed.len());
                    printed.extend_from_slice(&chunk[..length.min(room)]);
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    })
}

/// A message that the contract does not have at this point.
pub fn out_of_turn(message: &FromChild) -> Refusal {
    Refusal::failed(format!("it said {message:?} out of turn"))
}
