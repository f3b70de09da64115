//! `create`: what making a task and ending it costs, with no scheduler.

use std::fmt::Debug;
use std::hint::black_box;
use std::mem::MaybeUninit;

use super::{Layer, Param, STACK, STACK_PARAM, Scale, Usual, Workload};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::sample::Refusal;

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "create",
    layer: Layer::Switch,
    what: "Each of `threads` threads makes a task, resumes it to its end and drops it, again and \
           again; the task writes to every cache line of `touch` bytes of its own.",
    op: "one task: make, resume, end, drop",
    timed: "all tasks of a sample, on all threads",
    untimed: "starting the threads; mapping what is reused",
    answer: "tasks give their numbers, read back from what they wrote; they add up to the closed form",
    params: &[
        Param::block(
            "touch",
            "bytes of its own that a task writes to",
            Usual::None,
        ),
        Param::way(
            "form",
            "where the task's memory comes from: the one before it had it (reused), or the kernel or allocator gives it (fresh)",
            REUSED,
        ),
        Param::block("threads", "threads that make tasks", Usual::Number(1)),
        STACK_PARAM,
    ],
    grid,
    more: super::no_more,
    ways: |_| &[&[("form", REUSED)], &[("form", FRESH)]],
    tasks: |params| params.number("threads").unwrap_or(1),
    state: |params| params.number("touch").unwrap_or(0),
    once: super::by_turns,
    heap: false,
};

/// The task has the memory of the one before it.
pub const REUSED: &str = "reused";
/// The task's memory is its own and goes with it.
pub const FRESH: &str = "fresh";

fn grid(scale: Scale) -> Vec<Params> {
    // A task that writes to 64 KiB needs a larger stack than usual.
    let block = |touch: u64, threads: u64| {
        let block = Params::new().with("touch", touch).with("threads", threads);
        if touch >= STACK {
            block.with("stack", 2 * STACK)
        } else {
            block
        }
    };
    let pairs: &[(u64, u64)] = match scale {
        Scale::Smoke => &[(0, 1), (4_096, 2)],
        Scale::Quick => &[(0, 1), (4_096, 1), (65_536, 1), (0, 2), (0, 16)],
        Scale::Full => &[
            (0, 1),
            (4_096, 1),
            (16_384, 1),
            (65_536, 1),
            (0, 2),
            (0, 4),
            (0, 16),
            (16_384, 2),
            (16_384, 4),
            (16_384, 16),
        ],
    };
    pairs
        .iter()
        .map(|(touch, threads)| block(*touch, *threads))
        .collect()
}

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Bytes of its own that a task writes to.
    pub touch: u64,
    /// Whether a task has the memory of the one before it.
    pub reused: bool,
    /// Threads that make tasks.
    pub threads: u64,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// No thread, or an unknown form.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let params = &assignment.condition.params;
        let threads = params.number("threads").unwrap_or(1);
        if threads == 0 {
            return Err(Refusal::not_applicable(
                "threads is 0: there is nobody to make a task",
            ));
        }
        if let Some(other) = params
            .word("form")
            .filter(|word| ![REUSED, FRESH].contains(word))
        {
            return Err(Refusal::not_applicable(format!(
                "form={other}: memory is {REUSED} or {FRESH}"
            )));
        }
        Ok(Case {
            touch: params.number("touch").unwrap_or(0),
            reused: is_reused(params),
            threads,
        })
    }

    /// The right answer when each thread has made `rounds` tasks, which give
    /// 1, 2, …, rounds.
    pub fn answer(self, rounds: u64) -> u64 {
        self.threads * (rounds * (rounds + 1) / 2)
    }
}

/// Whether a condition asks for memory that is used again.
pub fn is_reused(params: &Params) -> bool {
    params.word("form") != Some(FRESH)
}

/// Refuses `form=fresh` for whoever has no memory that could be fresh.
///
/// # Errors
/// "not applicable" for that form.
pub fn no_memory_of_its_own(params: &Params) -> Result<(), Refusal> {
    match params.word("form") {
        Some(FRESH) => Err(Refusal::not_applicable(
            "a call has its caller's stack; form=reused is measured",
        )),
        _ => Ok(()),
    }
}

/// Calls `$run::<$contender, B>(…)` with the type of the bytes that a task
/// writes to, since they are a local variable.
#[macro_export]
macro_rules! with_written_bytes {
    ($touch:expr, $run:ident $(::<$contender:ty>)? ($($argument:expr),* $(,)?)) => {
        match $touch {
            0 => $run::<$($contender,)? ()>($($argument),*),
            4_096 => $run::<$($contender,)? $crate::workload::create::Bytes<64>>($($argument),*),
            16_384 => $run::<$($contender,)? $crate::workload::create::Bytes<256>>($($argument),*),
            65_536 => $run::<$($contender,)? $crate::workload::create::Bytes<1_024>>($($argument),*),
            other => Err($crate::sample::Refusal::not_applicable(format!(
                "touch={other}: a task is built to write to 0, 4096, 16384 or 65536 bytes"
            ))),
        }
    };
}

/// What a task has of its own.
pub trait Written: Debug + 'static {
    /// Not written to yet.
    fn new() -> Self;

    /// Writes the number to every cache line.
    fn write(&mut self, number: u64);

    /// The number, from the line that was written last.
    fn read(&self, number: u64) -> u64;
}

/// Nothing to write to.
impl Written for () {
    fn new() {}

    #[inline(always)]
    fn write(&mut self, _: u64) {}

    #[inline(always)]
    fn read(&self, number: u64) -> u64 {
        black_box(number)
    }
}

/// `LINES` cache lines of 64 bytes that nobody clears first.
#[derive(Debug)]
pub struct Bytes<const LINES: usize>([[MaybeUninit<u64>; 8]; LINES]);

impl<const LINES: usize> Written for Bytes<LINES> {
    #[inline(always)]
    fn new() -> Self {
        let mut bytes = Bytes([[MaybeUninit::uninit(); 8]; LINES]);
        bytes.0[LINES - 1][0].write(0); // what is read is never uninitialised
        bytes
    }

    #[inline(always)]
    fn write(&mut self, number: u64) {
        for line in &mut self.0 {
            line[0].write(number);
        }
        black_box(&mut self.0);
    }

    #[inline(always)]
    fn read(&self, _: u64) -> u64 {
        // SAFETY: `new` has written this word, and whoever wrote it since has
        // written a number.
        unsafe { self.0[LINES - 1][0].assume_init() }
    }
}
