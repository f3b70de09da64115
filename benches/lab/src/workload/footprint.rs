//! `footprint`: what one waiting task occupies.

use super::{Layer, Param, STACK_PARAM, Scale, Usual, Workload};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::sample::Refusal;

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "footprint",
    layer: Layer::Footprint,
    what: "Makes `n` tasks, each of which runs until it waits, and stands still while the parent \
           reads its memory from outside; then it lets every task end.",
    op: "one task: make, first resume, until it waits",
    timed: "from the first task made until the last one waits",
    untimed: "starting the scheduler, the reading of memory, ending the tasks",
    answer: "each task gives its number when it ends; they add up to the closed form",
    params: &[
        Param::block("n", "tasks that wait", Usual::None),
        Param::way(
            "form",
            "what waits: tasks on the contender's scheduler (task), or coroutines and boxed futures \
             that are resumed by hand (bare)",
            TASK,
        ),
        STACK_PARAM,
    ],
    grid,
    more: super::no_more,
    ways: |_| &[&[("form", TASK)], &[("form", BARE)]],
    tasks: |params| params.number("n").unwrap_or(0),
    state: |_| 64,
    once: |_| Some(0),
    heap: false,
};

/// Tasks on a scheduler.
pub const TASK: &str = "task";
/// No scheduler.
pub const BARE: &str = "bare";

/// The least that a stack can be and still have a guard.
const SMALLEST: u64 = 4_096;

fn grid(scale: Scale) -> Vec<Params> {
    let counts: &[u64] = match scale {
        Scale::Smoke => &[100],
        Scale::Quick => &[10_000],
        Scale::Full => &[10_000, 100_000, 1_000_000],
    };
    let block = |n: &u64| Params::new().with("n", *n).with("stack", SMALLEST);
    counts.iter().map(block).collect()
}

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Tasks that wait.
    pub n: u64,
    /// Whether nothing but the tasks is there.
    pub bare: bool,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// No task at all, or an unknown form.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let params = &assignment.condition.params;
        let n = params.number("n").unwrap_or(0);
        if n == 0 {
            return Err(Refusal::not_applicable("n is 0: there is nobody to wait"));
        }
        let bare = match params.word("form") {
            None | Some(TASK) => false,
            Some(BARE) => true,
            Some(other) => {
                return Err(Refusal::not_applicable(format!(
                    "form={other}: what waits is a {TASK} or {BARE}"
                )));
            }
        };
        Ok(Case { n, bare })
    }

    /// Holds the sum of all numbers against the right one: tasks give
    /// 1, 2, …, n.
    ///
    /// # Errors
    /// Another sum, with both values.
    pub fn check(self, answer: u64) -> Result<(), Refusal> {
        let right = self.n * (self.n + 1) / 2;
        if answer == right {
            Ok(())
        } else {
            Err(Refusal::failed(format!(
                "wrong answer of {} tasks: {answer} instead of {right}",
                self.n
            )))
        }
    }
}

/// Refuses one form for contenders that have only the other.
///
/// # Errors
/// "not offered" with the reason.
pub fn only(form: &str, params: &Params, reason: &str) -> Result<(), Refusal> {
    match params.word("form") {
        Some(asked @ (TASK | BARE)) if asked != form => Err(Refusal::not_offered(reason)),
        _ => Ok(()),
    }
}
