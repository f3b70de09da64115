//! `foreign`: what a call out of a task costs, by callee, route and host.

mod admits;
mod case;

use super::{Layer, Param, STACK_PARAM, Scale, Usual, WORKERS_PARAM, Way, Workload};
use crate::condition::Params;

pub use admits::{Ground, Lack, admits, admits_direct, not_offered, senseless};
pub use case::{Case, direct, through_object, together};

/// The workload's statement.
pub const WORKLOAD: Workload = Workload {
    name: "foreign",
    layer: Layer::Foreign,
    what: "Each of `callers` tasks calls `callee` again and again, by `route`: straight from its own \
           stack or state, or by way of another stack or thread. Every process has a further thread \
           that rests, since the kernel has cheaper ways for processes of one.",
    op: "one call and the way back into the task",
    timed: "within the caller, from its first call until its last one has returned; with several \
            callers, from the first start to the last end",
    untimed: "opening descriptors, spawning the callers, their way to the gates",
    answer: "every call gives the count of calls so far; they add up to the calls made",
    params: &[
        Param::block(
            "callee",
            "what is called: see the price list of doctor",
            Usual::None,
        ),
        Param::way(
            "route",
            "how the call leaves the task: from where it is (direct, or dyn through a trait object), \
             on the stack of whoever resumed it (parent-stack), on a larger stack (big-stack), by \
             whoever resumed it (suspend), after handing the worker's other tasks on \
             (block-in-place), or on another thread (spawn-blocking)",
            DIRECT,
        ),
        Param::block(
            "callers",
            "tasks that call at the same time",
            Usual::Number(1),
        ),
        Param::block(
            "form",
            "calls alone, or one call at a time beside tasks that want to run (beside)",
            Usual::Word(ALONE),
        ),
        Param::block(
            "batch",
            "calls of the one uninterrupted batch; 0 for as many as fill a sample",
            Usual::Number(0),
        ),
        WORKERS_PARAM,
        STACK_PARAM,
    ],
    grid,
    more,
    ways,
    tasks: |params| {
        let beside = if is_beside(params) { BYSTANDERS + 1 } else { 0 };
        params.number("callers").unwrap_or(1) + beside
    },
    state: |_| 256,
    once: |params| match params.number("batch") {
        // The dearest route within a process takes some 20 ns a call.
        Some(calls) if calls > 0 => Some(calls * 10),
        _ => is_beside(params).then_some(WINDOW_NS),
    },
    heap: true,
};

/// The task calls from where it is.
pub const DIRECT: &str = "direct";
/// The same through a trait object.
pub const DYN: &str = "dyn";
/// The call runs on the stack of whoever resumed the task.
pub const PARENT_STACK: &str = "parent-stack";
/// The call runs on a larger stack.
pub const BIG_STACK: &str = "big-stack";
/// The task suspends, and whoever resumed it calls.
pub const SUSPEND: &str = "suspend";
/// The worker hands its other tasks on and calls.
pub const BLOCK_IN_PLACE: &str = "block-in-place";
/// Another thread calls, and the task waits for it.
pub const SPAWN_BLOCKING: &str = "spawn-blocking";

/// What to know of [`BLOCK_IN_PLACE`] where one call follows the other.
pub const HANDED_ON: &str = "once another thread has taken the worker over, the calls that follow \
    in the same run of the task find nothing to hand on; form=beside has a call a run";

/// Nothing but calls.
pub const ALONE: &str = "alone";
/// Beside tasks that want to run.
pub const BESIDE: &str = "beside";

/// Tasks that want to run beside the first caller, a heartbeat not counted.
pub const BYSTANDERS: u64 = 16;
/// For how long calls are made beside others.
pub const WINDOW_NS: u64 = 100_000_000;
/// Bytes of the larger stack.
pub const BIG: usize = 256 << 10;

/// The published batch.
const HUNDRED_MILLION: u64 = 100_000_000;
/// Stacks that `deep` does not fit on.
const SMALL: u64 = 16 << 10;
/// Stacks that it does.
const ROOMY: u64 = 128 << 10;

fn of(callee: &str) -> Params {
    Params::new().with("callee", callee)
}

fn beside(callee: &str, callers: u64, workers: u64) -> Params {
    of(callee)
        .with("callers", callers)
        .with("form", BESIDE)
        .with("workers", workers)
}

fn grid(scale: Scale) -> Vec<Params> {
    match scale {
        Scale::Smoke => [
            of("noop"),
            of("deep").with("stack", SMALL),
            beside("sleep1ms", 1, 1),
        ]
        .into(),
        Scale::Quick => [
            of("noop"),
            of("getppid"),
            beside("noop", 16, 1),
            beside("sleep1ms", 16, 1),
        ]
        .into(),
        Scale::Full => {
            let mut all = grid(Scale::Quick);
            all.extend(more());
            all.push(of("noop").with("batch", HUNDRED_MILLION));
            all
        }
    }
}

/// The rest of the leg.
fn more() -> Vec<Params> {
    let callees = [
        "adds16", "adds20", "vdso", "futex", "pipe1", "read4k", "sleep1ms",
    ];
    let mut all: Vec<Params> = callees.map(of).into();
    all.extend([SMALL, ROOMY].map(|stack| of("deep").with("stack", stack)));
    all.extend([2, 4, 16].map(|callers| of("noop").with("callers", callers)));
    all.push(of("noop").with("callers", 16).with("workers", 2));
    all.push(beside("sleep1ms", 1, 1));
    let two_workers = [("noop", 16), ("sleep1ms", 1), ("sleep1ms", 16)];
    all.extend(two_workers.map(|(callee, callers)| beside(callee, callers, 2)));
    all
}

/// Blocks of the whole leg in which one caller alone is priced.
pub fn priced_blocks() -> usize {
    let all = grid(Scale::Quick).into_iter().chain(more());
    let alone = |block: &Params| {
        block
            .iter()
            .all(|(key, _)| ["callee", "stack"].contains(&key))
    };
    all.filter(alone).count()
}

fn ways(block: &Params) -> &'static [Way] {
    const STRAIGHT: Way = &[("route", DIRECT)];
    const OBJECT: Way = &[("route", DYN)];
    const PARENT: Way = &[("route", PARENT_STACK)];
    const LARGE: Way = &[("route", BIG_STACK)];
    const RESUMER: Way = &[("route", SUSPEND)];
    const IN_PLACE: Way = &[("route", BLOCK_IN_PLACE)];
    const HOP: Way = &[("route", SPAWN_BLOCKING)];
    if is_beside(block) || block.number("callers").unwrap_or(1) > 1 {
        return &[STRAIGHT, IN_PLACE, HOP];
    }
    match block.word("callee") {
        Some("adds16" | "adds20") => &[STRAIGHT, PARENT, RESUMER],
        Some("noop" | "getppid") if block.number("batch").is_none() => {
            &[STRAIGHT, OBJECT, PARENT, LARGE, RESUMER, IN_PLACE, HOP]
        }
        _ => &[STRAIGHT, PARENT, LARGE, RESUMER, IN_PLACE, HOP],
    }
}

fn is_beside(params: &Params) -> bool {
    params.word("form") == Some(BESIDE)
}

#[cfg(test)]
mod tests {
    use corolab_syscalls::callee::{self, Callee};

    use super::*;
    use crate::sample::Refusal;
    use crate::with_callee;

    #[test]
    fn every_callee_has_a_block_and_a_type() {
        fn typed<K: Callee>(entry: &callee::Entry) -> Result<(), Refusal> {
            let name = std::any::type_name::<K>().to_lowercase();
            assert!(name.ends_with(entry.name), "{} is {name}", entry.name);
            Ok(())
        }
        let all = grid(Scale::Full);
        for entry in callee::ALL {
            with_callee!(entry, typed(entry)).unwrap();
            assert!(
                all.iter()
                    .any(|block| block.word("callee") == Some(entry.name)),
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn the_leg_is_the_quick_grid_and_the_rest_of_it() {
        let (quick, full) = (grid(Scale::Quick), grid(Scale::Full));
        assert!(
            quick
                .iter()
                .chain(&more())
                .all(|block| full.contains(block))
        );
    }
}
