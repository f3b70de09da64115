//! Turns: how often a workload's body runs, and that what it computes is right.

use std::cell::Cell;

use crate::sample::{Batch, Refusal};
use crate::stopwatch::Stopwatch;

/// Who decides how often a workload's body runs: the parent over the wire, a
/// criterion target, or a test.
pub trait Turns {
    /// Runs `body` until there are no more turns.
    ///
    /// `body(rounds)` does `rounds * round_ops` operations and says what they
    /// computed; `expected(rounds)` is what they should have.
    ///
    /// # Errors
    /// What the body refuses, or a wrong answer.
    fn serve(
        &mut self,
        round_ops: u64,
        expected: &dyn Fn(u64) -> u64,
        body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
    ) -> Result<(), Refusal>;

    /// For workloads of which one batch stands for itself: runs `body` once, and
    /// neither warms it nor repeats it. It says how many operations it did;
    /// that is what it should have computed, too.
    ///
    /// # Errors
    /// What the body refuses, or a wrong answer.
    fn once(
        &mut self,
        body: &mut dyn FnMut() -> Result<(u64, Batch), Refusal>,
    ) -> Result<(), Refusal> {
        let ops = Cell::new(0);
        let mut once = |_| {
            let (done, batch) = body()?;
            ops.set(done);
            Ok(batch)
        };
        checked(1, &|_| ops.get(), &mut once).map(drop)
    }

    /// For workloads that make their tasks once and then stand still: everything
    /// but the tasks is there, and its memory can be read. Returns whether the
    /// tasks are wanted.
    ///
    /// # Errors
    /// The parent is gone.
    fn begin(&mut self) -> Result<bool, Refusal> {
        Ok(true)
    }

    /// That many tasks were made within the watch's time and wait; returns when
    /// they may end.
    ///
    /// # Errors
    /// The parent is gone.
    fn stand(&mut self, tasks: u64, watch: Stopwatch) -> Result<(), Refusal> {
        let _ = (tasks, watch);
        Ok(())
    }
}

/// Runs one batch and holds its answer against the right one, off the clock.
///
/// # Errors
/// What the body refuses, or a wrong answer, with both values.
pub fn checked(
    rounds: u64,
    expected: &dyn Fn(u64) -> u64,
    body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
) -> Result<Batch, Refusal> {
    let batch = body(rounds)?;
    let right = expected(rounds);
    if batch.answer == right {
        Ok(batch)
    } else {
        Err(wrong(rounds, batch.answer, right))
    }
}

pub(crate) fn wrong(rounds: u64, answer: u64, right: u64) -> Refusal {
    Refusal::failed(format!(
        "wrong answer after {rounds} rounds: {answer} instead of {right}"
    ))
}

/// A number of batches of a given length, without a parent: for tests and for
/// criterion targets that only need the body.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// Batches to run.
    pub batches: u32,
    /// Rounds of each.
    pub rounds: u64,
}

impl Turns for Alone {
    fn serve(
        &mut self,
        _round_ops: u64,
        expected: &dyn Fn(u64) -> u64,
        body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
    ) -> Result<(), Refusal> {
        for _ in 0..self.batches {
            checked(self.rounds, expected, body)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_batch_that_stands_for_itself_is_run_once_and_checked() {
        let mut alone = Alone {
            batches: 7,
            rounds: 7,
        };
        let mut runs = 0;
        let mut body = || {
            runs += 1;
            Ok((3, Batch::new(Stopwatch::having_run(Duration::ZERO), 3)))
        };
        alone.once(&mut body).unwrap();
        assert_eq!(runs, 1);
        let told = alone.once(&mut || Ok((3, Batch::new(Stopwatch::new(), 2))));
        assert!(told.unwrap_err().reason.contains("2 instead of 3"));
    }

    #[test]
    fn a_wrong_answer_is_told_with_both_values() {
        let mut body = |rounds| Ok(Batch::new(Stopwatch::having_run(Duration::ZERO), rounds));
        let told = Alone {
            batches: 1,
            rounds: 2,
        }
        .serve(1, &|_| 5, &mut body)
        .unwrap_err();
        assert_eq!(
            told.to_string(),
            "failed: wrong answer after 2 rounds: 2 instead of 5"
        );
    }
}
