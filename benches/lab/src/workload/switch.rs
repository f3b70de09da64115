//! `switch`: what one suspension and resumption costs, with no scheduler.

use std::cell::Cell;
use std::fmt::Debug;
use std::hint::black_box;

use super::{Layer, Param, STACK_PARAM, Scale, Usual, Way, Workload};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::sample::Refusal;

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "switch",
    layer: Layer::Switch,
    what: "Resumes `live` suspended tasks round robin; each adds one to a count of its own, \
           touches `touch` bytes of its own state, and suspends again.",
    op: "one resume and the suspension that ends it",
    timed: "the resumes of one batch, which goes on where the last one ended",
    untimed: "making the tasks, their first resume, the roll call after a batch, dropping them",
    answer: "at roll call the tasks of the batch add up their counts since the last one: \
             exactly the resumes of the batch",
    params: &[
        Param::block("live", "suspended tasks", Usual::None),
        Param::block(
            "touch",
            "bytes of its own state that a task reads and writes a turn",
            Usual::Number(0),
        ),
        Param::way(
            "form",
            "how the stacks of a pool lie: tops apart by cache lines (coloured), all at one place of \
             their pages (uncoloured), or coloured in huge pages and without guards (huge-pages)",
            COLOURED,
        ),
        STACK_PARAM,
    ],
    grid,
    more: super::no_more,
    ways,
    tasks: |params| params.number("live").unwrap_or(0),
    state: |params| params.number("touch").unwrap_or(0),
    once: super::by_turns,
    heap: false,
};

/// Stack tops lie apart by cache lines.
pub const COLOURED: &str = "coloured";
/// Stack tops lie at the same place of their pages.
pub const UNCOLOURED: &str = "uncoloured";
/// Stacks lie in huge pages, coloured, with nothing between them.
pub const HUGE_PAGES: &str = "huge-pages";

/// Layouts are told apart in the blocks where caches and page tables decide.
fn ways(block: &Params) -> &'static [Way] {
    const USUAL: Way = &[("form", COLOURED)];
    const APART: &[Way] = &[USUAL, &[("form", UNCOLOURED)]];
    const ALL: &[Way] = &[USUAL, &[("form", UNCOLOURED)], &[("form", HUGE_PAGES)]];
    let plain = block.number("touch").is_none() && block.number("stack").is_none();
    match block.number("live") {
        Some(100 | 1_000 | 10_000 | 100_000) if plain => APART,
        // Small stacks, so that whole huge pages of them fit into memory.
        Some(10_000) if block.number("stack") == Some(12_288) => ALL,
        _ => &[USUAL],
    }
}

/// Refuses all layouts but the usual for contenders without a pool.
///
/// # Errors
/// "not offered" for those.
pub fn one_layout(params: &Params) -> Result<(), Refusal> {
    match params.word("form") {
        Some(UNCOLOURED | HUGE_PAGES) => Err(Refusal::not_offered(
            "it has no stacks of a pool that could lie in another way",
        )),
        _ => Ok(()),
    }
}

fn grid(scale: Scale) -> Vec<Params> {
    type Pairs = &'static [(u64, u64)];
    const CURVE: &[u64] = &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

    let (lives, touched, stacks): (&[u64], Pairs, Pairs) = match scale {
        Scale::Smoke => (&[1, 10], &[(10, 64)], &[]),
        // Stacks of 12 KiB with their guard lie 16 KiB apart instead of 68 KiB:
        // whether the distance between stacks matters.
        Scale::Quick => (CURVE, &[(1_000, 64), (1_000, 4_096)], &[(10_000, 12_288)]),
        Scale::Full => (
            CURVE,
            &[
                (1, 64),
                (1, 512),
                (1, 4_096),
                (1_000, 64),
                (1_000, 512),
                (1_000, 4_096),
                (10_000, 64),
                (10_000, 512),
                (10_000, 4_096),
            ],
            &[(1_000, 12_288), (10_000, 12_288), (10_000, 262_144)],
        ),
    };
    let live = |live: u64| Params::new().with("live", live);
    let bare = lives.iter().map(|n| live(*n));
    let touching = touched
        .iter()
        .map(|(n, touch)| live(*n).with("touch", *touch));
    let sized = stacks
        .iter()
        .map(|(n, stack)| live(*n).with("stack", *stack));
    bare.chain(touching).chain(sized).collect()
}

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Suspended tasks.
    pub live: usize,
    /// Bytes of its own state that a task reads and writes a turn.
    pub touch: u64,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// No task at all.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let params = &assignment.condition.params;
        let live = params.number("live").unwrap_or(0);
        if live == 0 {
            return Err(Refusal::not_applicable(
                "live is 0: there is no task to resume",
            ));
        }
        Ok(Case {
            live: usize::try_from(live).map_err(|e| Refusal::infeasible(e.to_string()))?,
            touch: params.number("touch").unwrap_or(0),
        })
    }

    /// The right answer after a batch of that many resumes.
    pub fn answer(resumes: u64) -> u64 {
        resumes
    }
}

/// Calls `$run::<$contender, T>(…)` with the type of a task's own state, since
/// that state is a local variable.
#[macro_export]
macro_rules! with_touched_words {
    ($touch:expr, $run:ident $(::<$contender:ty>)? ($($argument:expr),* $(,)?)) => {
        match $touch {
            0 => $run::<$($contender,)? ()>($($argument),*),
            64 => $run::<$($contender,)? $crate::workload::switch::Words<8>>($($argument),*),
            512 => $run::<$($contender,)? $crate::workload::switch::Words<64>>($($argument),*),
            4_096 => $run::<$($contender,)? $crate::workload::switch::Words<512>>($($argument),*),
            other => Err($crate::sample::Refusal::not_applicable(format!(
                "touch={other}: a task's own state is built for 0, 64, 512 or 4096 bytes"
            ))),
        }
    };
}

/// The part of a task's own state that it touches every turn.
pub trait Touched: Debug + 'static {
    /// Untouched.
    fn new() -> Self;

    /// Reads and writes all of it.
    fn touch(&mut self);
}

/// Nothing to touch.
impl Touched for () {
    fn new() {}

    #[inline(always)]
    fn touch(&mut self) {}
}

/// Words to touch, aligned alike wherever they lie, in a frame, in a state or
/// in a closure: vector loads that are 8 bytes off cross a cache line every
/// fourth time, and had made the control's row a fifth dearer than the future's.
#[derive(Debug)]
#[repr(align(16))]
pub struct Words<const N: usize>([u64; N]);

impl<const N: usize> Touched for Words<N> {
    fn new() -> Self {
        Words([0; N])
    }

    #[inline(always)]
    fn touch(&mut self) {
        for word in &mut self.0 {
            *word = word.wrapping_add(1);
        }
        black_box(&mut self.0);
    }
}

/// What a task owns across its suspensions.
#[derive(Debug)]
pub struct Own<T> {
    turns: u64,
    touched: T,
}

impl<T: Touched> Own<T> {
    /// A state that has had no turn.
    #[allow(clippy::new_without_default, reason = "made in one place of each twin")]
    #[inline(always)]
    pub fn new() -> Self {
        Own {
            turns: 0,
            touched: T::new(),
        }
    }

    /// One turn: counts itself, reads and writes every word.
    #[inline(always)]
    pub fn turn(&mut self) {
        self.turns += 1;
        self.touched.touch();
    }
}

/// The roll call by which the tasks of a batch tell their counts.
#[derive(Debug, Default)]
pub struct Roll {
    calling: Cell<bool>,
    over: Cell<bool>,
    tally: Cell<u64>,
}

impl Roll {
    /// Nobody is called.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a resume is a roll call instead of a turn.
    #[inline(always)]
    pub fn is_calling(&self) -> bool {
        self.calling.get()
    }

    /// A task tells how many turns it had since the last roll call; it may go
    /// when nothing follows.
    #[inline(never)]
    #[must_use = "says whether the task may go"]
    pub fn tell<T: Touched>(&self, own: &mut Own<T>) -> bool {
        self.tally
            .set(self.tally.get() + std::mem::take(&mut own.turns));
        self.over.get()
    }

    /// Calls the roll: `resume_each` resumes each task of the batch once.
    pub fn call(&self, resume_each: impl FnOnce()) -> u64 {
        self.calling.set(true);
        self.tally.set(0);
        resume_each();
        self.calling.set(false);
        self.tally.get()
    }

    /// Calls the roll for the last time: `resume_each` resumes every task once,
    /// and each ends. Unwinding a million suspended tasks takes far longer.
    pub fn end(&self, resume_each: impl FnOnce()) {
        self.over.set(true);
        self.call(resume_each);
    }
}

/// Whose turn it is among the live tasks; a batch goes on where the last one
/// ended.
#[derive(Clone, Copy, Debug)]
pub struct Robin {
    live: usize,
    next: usize,
}

impl Robin {
    /// Starts with task 0 of `live`.
    pub fn new(live: usize) -> Self {
        Robin { live, next: 0 }
    }

    /// The task whose turn it is; the next one's turn comes after it.
    #[inline(always)]
    pub fn step(&mut self) -> usize {
        let at = self.next;
        self.next = if at + 1 == self.live { 0 } else { at + 1 };
        at
    }

    /// Each task of the last batch of `resumes` once, in order.
    pub fn visited(&self, resumes: u64) -> impl Iterator<Item = usize> + use<> {
        let live = self.live as u64;
        let tasks = resumes.min(live);
        let first = (self.next as u64 + live - tasks) % live;
        (first..first + tasks).map(move |at| (at % live) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_batch_goes_on_where_the_last_one_ended() {
        let mut robin = Robin::new(3);
        let mut batch = |resumes: u64| {
            let turns: Vec<_> = (0..resumes).map(|_| robin.step()).collect();
            (turns, robin.visited(resumes).collect::<Vec<_>>())
        };
        assert_eq!(batch(4), (vec![0, 1, 2, 0], vec![1, 2, 0]));
        assert_eq!(batch(1), (vec![1], vec![1]));
        assert_eq!(batch(2), (vec![2, 0], vec![2, 0]));
    }

    proptest! {
        #[test]
        fn every_resume_is_counted_by_the_roll_call(
            live in 1_usize..50,
            batches in prop::collection::vec(0_u64..200, 1..20),
        ) {
            let roll = Roll::new();
            let mut tasks: Vec<Own<()>> = (0..live).map(|_| Own::new()).collect();
            let mut robin = Robin::new(live);
            for resumes in batches {
                for _ in 0..resumes {
                    tasks[robin.step()].turn();
                }
                let told = roll.call(|| {
                    robin.visited(resumes).for_each(|at| assert!(!roll.tell(&mut tasks[at])));
                });
                prop_assert_eq!(told, Case::answer(resumes));
            }
        }
    }
}
