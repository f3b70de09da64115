//! The child's side of a trial: one condition, served turn by turn.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Duration;

use corolab_syscalls::usage::{self, Switches};
use corolab_syscalls::{affinity, clock};

use crate::contender::{Assignment, Contender};
use crate::sample::{Batch, Counted, Refusal, Sample};
use crate::stopwatch::{Calibration, Stopwatch, nanos};
use crate::turns::wrong;
use crate::wire::{ChildEnd, FromChild, ToChild, VERSION};
use crate::{heap, notes};

pub use crate::turns::{Alone, Turns, checked};

/// The whole of a runner: speaks the wire for one of `contenders`.
///
/// A runner of your own is an executable whose `main` is this call.
pub fn main(contenders: &[&Contender]) -> ExitCode {
    let mut wire = match ChildEnd::from_environment() {
        Ok(wire) => wire,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let hello = FromChild::Hello {
        wire: VERSION,
        contenders: contenders
            .iter()
            .map(|contender| contender.profile())
            .collect(),
    };
    if wire.say(&hello).is_err() {
        return ExitCode::SUCCESS; // the parent only wanted to look, and has gone
    }
    let assignment = match wire.hear() {
        Ok(Some(ToChild::Begin(assignment))) => assignment,
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(other)) => return out_of_order(&other),
        Err(why) => return unheard(&why),
    };
    let ended = panic::catch_unwind(AssertUnwindSafe(|| {
        let measure = find(contenders, &assignment)?.measure_of(&assignment.condition)?;
        let mut turns = OverWire {
            wire: &mut wire,
            begun: Counts::default(),
        };
        measure(&assignment, &mut turns)
    }));
    let last = match ended {
        Ok(Ok(())) => FromChild::Done,
        Ok(Err(refusal)) => FromChild::Refused(refusal),
        Err(panic) => FromChild::Refused(Refusal::failed(format!("panicked: {}", words(&*panic)))),
    };
    let code = if last == FromChild::Done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    drop(wire.say(&last));
    code
}

fn find<'a>(
    contenders: &[&'a Contender],
    assignment: &Assignment,
) -> Result<&'a Contender, Refusal> {
    let name = &assignment.condition.contender;
    contenders
        .iter()
        .find(|contender| contender.name == name)
        .copied()
        .ok_or_else(|| Refusal::failed(format!("this runner has no contender named {name}")))
}

fn out_of_order(message: &ToChild) -> ExitCode {
    eprintln!("the parent said {message:?} before it said begin");
    ExitCode::FAILURE
}

fn unheard(why: &std::io::Error) -> ExitCode {
    eprintln!("the parent said something that is not of the wire: {why}");
    ExitCode::FAILURE
}

/// The message of a panic, where it is text.
pub fn words(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a payload that is not text".to_owned()
    }
}

/// Turns that the parent gives by passing the baton.
struct OverWire<'w> {
    wire: &'w mut ChildEnd,
    /// When the tasks of a workload that stands still were begun.
    begun: Counts,
}

impl Turns for OverWire<'_> {
    fn serve(
        &mut self,
        round_ops: u64,
        expected: &dyn Fn(u64) -> u64,
        body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
    ) -> Result<(), Refusal> {
        self.say(&ready())?;
        let mut rounds = 1;
        while let Some(message) = self.hear()? {
            let answer = match message {
                ToChild::Warm { sample_ns } => {
                    rounds = settle(sample_ns, expected, body)?;
                    FromChild::Warmed {
                        rounds,
                        ops: rounds * round_ops,
                    }
                }
                ToChild::Turn { turn } => {
                    checked(prefix(rounds), expected, body)?;
                    FromChild::Sample(sample(turn, rounds, round_ops, expected, body)?)
                }
                ToChild::Count => FromChild::Counted(counted(rounds, round_ops, expected, body)?),
                ToChild::End => break,
                ToChild::Begin(_) => return Err(Refusal::failed("a second begin on one wire")),
            };
            self.say(&answer)?;
        }
        Ok(())
    }

    fn once(
        &mut self,
        body: &mut dyn FnMut() -> Result<(u64, Batch), Refusal>,
    ) -> Result<(), Refusal> {
        if !self.begin()? {
            return Ok(());
        }
        let (ops, batch) = body()?;
        if batch.answer != ops {
            return Err(wrong(ops, batch.answer, ops));
        }
        let sample = self.begun.until_now(0, ops, batch);
        self.say(&FromChild::Sample(sample))?;
        self.hear().map(drop)
    }

    fn begin(&mut self) -> Result<bool, Refusal> {
        self.say(&ready())?;
        match self.hear()? {
            Some(ToChild::Turn { .. }) => {
                self.begun = Counts::now();
                Ok(true)
            }
            None | Some(ToChild::End) => Ok(false),
            Some(other) => Err(Refusal::failed(format!(
                "the parent said {other:?} to a workload that stands still"
            ))),
        }
    }

    fn stand(&mut self, tasks: u64, watch: Stopwatch) -> Result<(), Refusal> {
        let sample = self.begun.until_now(0, tasks, Batch::new(watch, 0));
        self.say(&FromChild::Sample(sample))?;
        self.hear().map(drop)
    }
}

/// What a child says once its tasks can be given turns.
fn ready() -> FromChild {
    FromChild::Ready {
        calibration: Calibration::measure(),
        cpus: affinity::allowed().unwrap_or_default(),
        notes: notes::said(),
    }
}

impl OverWire<'_> {
    fn say(&mut self, message: &FromChild) -> Result<(), Refusal> {
        self.wire.say(message).map_err(broken)
    }

    fn hear(&mut self) -> Result<Option<ToChild>, Refusal> {
        self.wire.hear().map_err(broken)
    }
}

fn broken(why: std::io::Error) -> Refusal {
    Refusal::failed(format!("the wire broke: {why}"))
}

/// The untimed prefix of a turn, which brings the child's own cache back.
const fn prefix(rounds: u64) -> u64 {
    let eighth = rounds / 8;
    if eighth == 0 { 1 } else { eighth }
}

/// Finds how many rounds last `sample_ns`, and leaves everything warm.
fn settle(
    sample_ns: u64,
    expected: &dyn Fn(u64) -> u64,
    body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
) -> Result<u64, Refusal> {
    let mut lasts = |rounds| -> Result<u64, Refusal> {
        Ok(nanos(checked(rounds, expected, body)?.watch.elapsed()).max(1))
    };
    let mut rounds = 1_u64;
    let reached = loop {
        let mut wall = lasts(rounds)?;
        if wall >= sample_ns / 4 {
            // Once may be a hiccup, after which a sample would be far too short.
            wall = wall.min(lasts(rounds)?);
            if wall >= sample_ns / 4 {
                break wall;
            }
        }
        let factor = (sample_ns / wall).clamp(2, 10);
        rounds = rounds.saturating_mul(factor);
    };
    let scaled = u128::from(rounds) * u128::from(sample_ns) / u128::from(reached);
    Ok(u64::try_from(scaled).unwrap_or(u64::MAX).max(1))
}

/// One sample, with what the kernel counted around it.
fn sample(
    turn: u32,
    rounds: u64,
    round_ops: u64,
    expected: &dyn Fn(u64) -> u64,
    body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
) -> Result<Sample, Refusal> {
    let before = Counts::now();
    let batch = checked(rounds, expected, body)?;
    Ok(before.until_now(turn, rounds * round_ops, batch))
}

/// One batch with the heap counted, after another that has brought everything
/// to where it stays.
fn counted(
    rounds: u64,
    round_ops: u64,
    expected: &dyn Fn(u64) -> u64,
    body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
) -> Result<Counted, Refusal> {
    checked(rounds, expected, body)?;
    let counts = heap::begin();
    let batch = checked(rounds, expected, body)?;
    Ok(Counted {
        ops: rounds * round_ops,
        asked: batch.watch.asked().filter(|_| counts),
    })
}

/// What the kernel has counted of this process so far.
#[derive(Clone, Copy, Default)]
struct Counts {
    cpu: Duration,
    switches: Switches,
}

impl Counts {
    fn now() -> Self {
        Counts {
            cpu: clock::own_cpu_time().unwrap_or(Duration::ZERO),
            switches: usage::switches().unwrap_or_default(),
        }
    }

    /// The sample of what was done and counted since.
    fn until_now(self, turn: u32, ops: u64, batch: Batch) -> Sample {
        let now = Counts::now();
        Sample {
            turn,
            ops,
            wall_ns: nanos(batch.watch.elapsed()),
            cpu_ns: nanos(now.cpu.saturating_sub(self.cpu)),
            voluntary: now.switches.voluntary - self.switches.voluntary,
            involuntary: now.switches.involuntary - self.switches.involuntary,
            tails: batch.tails,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that says it has taken that long a round.
    fn lasting(round: Duration) -> impl FnMut(u64) -> Result<Batch, Refusal> {
        move |rounds| {
            Ok(Batch::new(
                Stopwatch::having_run(round * u32::try_from(rounds).unwrap()),
                rounds,
            ))
        }
    }

    #[test]
    fn a_round_longer_than_a_sample_is_done_once() {
        let mut body = lasting(Duration::from_millis(4));
        assert_eq!(settle(3_000_000, &|rounds| rounds, &mut body).unwrap(), 1);
        assert_eq!((prefix(1), prefix(7), prefix(80)), (1, 1, 10));
    }

    #[test]
    fn a_hiccup_is_not_taken_for_the_length_of_a_round() {
        let mut first = true;
        let mut body = |rounds| {
            let hiccup = std::mem::replace(&mut first, false);
            let round = if hiccup { 20_000 } else { 1 };
            lasting(Duration::from_micros(round))(rounds)
        };
        let rounds = settle(3_000_000, &|rounds| rounds, &mut body).unwrap();
        assert!((2_900..=3_000).contains(&rounds), "{rounds} rounds of 1 µs");
    }
}
