//! `foreign`: what a call out of a task costs, by callee, route and host.

use std::hint::black_box;
use std::io;
use std::sync::{Arc, Once};
use std::thread;

use corolab_syscalls::callee::{self, Call, Callee};
use corolab_syscalls::limits;

use super::{Layer, Param, STACK_PARAM, Scale, Usual, WORKERS_PARAM, Way, Workload};
use crate::child::Turns;
use crate::condition::{Condition, Params};
use crate::contender::Assignment;
use crate::notes;
use crate::sample::{Batch, Refusal, Status};

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
/// Bytes that a caller's own frames take, in a debug build too.
const FRAMES: u64 = 8 << 10;

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
        Scale::Smoke => [of("noop"), of("deep").with("stack", SMALL)].into(),
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

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What is called.
    pub callee: &'static callee::Entry,
    /// Tasks that call.
    pub callers: u64,
    /// Whether others want to run.
    pub beside: bool,
    /// Calls of the one batch; 0 for batches of a sample's length.
    pub batch: u64,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Nobody who calls, nothing that is called, or an unknown form.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let params = &assignment.condition.params;
        let callers = params.number("callers").unwrap_or(1);
        if callers == 0 {
            return Err(Refusal::not_applicable(
                "callers is 0: there is nobody to call",
            ));
        }
        if let Some(other) = params
            .word("form")
            .filter(|form| ![ALONE, BESIDE].contains(form))
        {
            return Err(Refusal::not_applicable(format!(
                "form={other}: calls are made {ALONE} or {BESIDE} others"
            )));
        }
        Ok(Case {
            callee: entry(params)?,
            callers,
            beside: is_beside(params),
            batch: params.number("batch").unwrap_or(0),
        })
    }

    /// What each caller calls; every one is tried once.
    ///
    /// # Errors
    /// The kernel refuses the call, or has no descriptors left.
    pub fn equip<K: Callee>(&self) -> Result<Vec<Arc<K>>, Refusal> {
        keep_company();
        let mut callees = Vec::with_capacity(self.callers as usize);
        for made in 0..self.callers {
            let tried = K::new().and_then(|callee| callee.call(0).map(|_| callee));
            let callee = tried.map_err(|why| self.refused(&why, made))?;
            callees.push(Arc::new(callee));
        }
        Ok(callees)
    }

    /// The refusal for a call that fails.
    pub fn refused(&self, why: &io::Error, made: u64) -> Refusal {
        let name = self.callee.name;
        if callee::is_refused(why) {
            return Refusal::new(
                Status::NotSupported,
                format!("this kernel or container refuses {name}: {why}"),
            );
        }
        if callee::descriptors_are_short(why) {
            let limit = limits::open_files().map_or("unknown".to_owned(), |n| n.to_string());
            return Refusal::infeasible(format!(
                "{made} of {} callers have their descriptors for {name}: {why}; the limit is {limit} \
                 (ulimit -n)",
                self.callers
            ));
        }
        Refusal::failed(format!("{name}: {why}"))
    }

    /// Serves turns, or the one batch, by what makes `rounds` calls of each
    /// caller.
    ///
    /// # Errors
    /// What the body refuses, or a wrong answer.
    pub fn serve(
        self,
        turns: &mut dyn Turns,
        body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
    ) -> Result<(), Refusal> {
        match self.batch {
            0 => turns.serve(self.callers, &|rounds| self.callers * rounds, body),
            calls => turns.once(&mut || Ok((self.callers * calls, body(calls)?))),
        }
    }
}

/// Starts a thread that rests for ever, once.
///
/// In a process of one thread a descriptor is reached without counting its users
/// and a futex without a lock of the process's own: 35 of 210 ns of a `read4k`.
/// Threads and workers never are alone, and nobody else in a real program is.
fn keep_company() {
    static COMPANY: Once = Once::new();
    COMPANY.call_once(|| {
        let resting = || loop {
            thread::park();
        };
        // Without it the figures are those of a lone thread, and the calls work.
        let started = thread::Builder::new().name("company".into()).spawn(resting);
        if let Err(why) = started {
            notes::say(format!(
                "alone in its process, which makes calls cheaper: {why}"
            ));
        }
    });
}

/// What all callers did, as one batch.
///
/// # Errors
/// Nobody did anything.
pub fn together(batches: Vec<Batch>) -> Result<Batch, Refusal> {
    let all = batches.into_iter().reduce(Batch::beside);
    all.ok_or_else(|| Refusal::failed("nobody called"))
}

fn entry(params: &Params) -> Result<&'static callee::Entry, Refusal> {
    let name = params.word("callee").unwrap_or("nothing");
    callee::find(name).ok_or_else(|| {
        let all: Vec<_> = callee::ALL.iter().map(|entry| entry.name).collect();
        Refusal::not_applicable(format!("callee={name}: there are {}", all.join(", ")))
    })
}

/// The direct route, for everybody: one loop in one place, so that hosts differ
/// by where they call from and not by how a compiler laid their loops.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn direct<K: Callee>(callee: &K, rounds: u64) -> io::Result<u64> {
    let mut count = 0;
    for _ in 0..rounds {
        count = callee.call(count)?;
    }
    Ok(count)
}

/// The same through a trait object.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn through_object<K: Callee>(callee: &K, rounds: u64) -> io::Result<u64> {
    let mut count = 0;
    let callee: &dyn Call = black_box(callee);
    for _ in 0..rounds {
        count = callee.call(count)?;
    }
    Ok(count)
}

/// Calls `$run::<$of…, K>(…)` with the type of the callee.
#[macro_export]
macro_rules! with_callee {
    ($entry:expr, $run:ident $(::<$($of:ty),+>)? ($($argument:expr),* $(,)?)) => {{
        use corolab_syscalls::callee;
        match $entry.name {
            "noop" => $run::<$($($of,)+)? callee::Noop>($($argument),*),
            "adds16" => $run::<$($($of,)+)? callee::Adds16>($($argument),*),
            "adds20" => $run::<$($($of,)+)? callee::Adds20>($($argument),*),
            "vdso" => $run::<$($($of,)+)? callee::Vdso>($($argument),*),
            "getppid" => $run::<$($($of,)+)? callee::Getppid>($($argument),*),
            "futex" => $run::<$($($of,)+)? callee::Futex>($($argument),*),
            "pipe1" => $run::<$($($of,)+)? callee::Pipe1>($($argument),*),
            "read4k" => $run::<$($($of,)+)? callee::Read4k>($($argument),*),
            "sleep1ms" => $run::<$($($of,)+)? callee::Sleep1ms>($($argument),*),
            "deep" => $run::<$($($of,)+)? callee::Deep>($($argument),*),
            other => Err($crate::sample::Refusal::failed(format!(
                "the callee {other} has a price and no type"
            ))),
        }
    }};
}

/// Where a host's tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// On a stack of their own, of the settings' size.
    OwnStack,
    /// On the stack of the thread that polls, or calls, them.
    Thread,
}

/// A route that a host does not have, and why.
pub type Lack = (&'static str, fn(&'static str) -> Refusal, &'static str);

/// The sentence for a crate that does not offer a route.
pub fn not_offered(why: &'static str) -> Refusal {
    Refusal::not_offered(why)
}

/// The sentence for a route that makes no sense.
pub fn senseless(why: &'static str) -> Refusal {
    Refusal::not_applicable(why)
}

/// Refuses, before anything runs, the routes that a host lacks and the pairs
/// that make no sense; `others` says whether anybody could run beside a caller.
///
/// # Errors
/// The refusal that becomes the condition's row.
pub fn admits(
    condition: &Condition,
    ground: Ground,
    others: bool,
    lacks: &[Lack],
) -> Result<(), Refusal> {
    if condition.workload != WORKLOAD.name {
        return Ok(());
    }
    let params = &condition.params;
    let route = params.word("route").unwrap_or(DIRECT);
    if let Some((_, refusal, why)) = lacks.iter().find(|(lacked, ..)| *lacked == route) {
        return Err(refusal(why));
    }
    if !others && (is_beside(params) || params.number("callers").unwrap_or(1) > 1) {
        return Err(senseless(
            "it has no scheduler that would run anybody else beside one caller",
        ));
    }
    let calls = params.number("batch").unwrap_or(0);
    if route == SPAWN_BLOCKING && calls > 0 {
        return Err(Refusal::infeasible(format!(
            "{calls} hops of some 10 µs take a quarter of an hour a launch; callee=noop measures one"
        )));
    }
    let stays = [DIRECT, DYN, BLOCK_IN_PLACE].contains(&route);
    let (needs, has) = (
        entry(params)?.stack + FRAMES,
        params.number("stack").unwrap_or(super::STACK),
    );
    if ground == Ground::OwnStack && stays && needs > has {
        return Err(Refusal::not_applicable(format!(
            "a task's stack has {has} B here, and the call needs {needs} B with its caller's frames: \
             it would overflow; parent-stack, big-stack and spawn-blocking have room"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(params: Params, ground: Ground, others: bool, lacks: &[Lack]) -> String {
        let condition = Condition {
            workload: "foreign".into(),
            contender: "tested".into(),
            params: WORKLOAD.complete(&params, &[]),
        };
        admits(&condition, ground, others, lacks)
            .map_or_else(|why| why.to_string(), |()| String::new())
    }

    #[test]
    fn senseless_pairs_are_refused_with_their_reason() {
        let deep = of("deep").with("stack", SMALL);
        let told = refusal(deep.clone(), Ground::OwnStack, true, &[]);
        assert!(
            told.starts_with("not_applicable: a task's stack has 16384 B"),
            "{told}"
        );
        assert_eq!(refusal(deep.clone(), Ground::Thread, true, &[]), "");
        let parent = deep.with("route", PARENT_STACK);
        assert_eq!(refusal(parent, Ground::OwnStack, true, &[]), "");
        let told = refusal(beside("noop", 1, 1), Ground::Thread, false, &[]);
        assert!(told.contains("no scheduler"), "{told}");
        let hops = of("noop")
            .with("route", SPAWN_BLOCKING)
            .with("batch", HUNDRED_MILLION);
        assert!(refusal(hops, Ground::Thread, true, &[]).starts_with("infeasible: 100000000 hops"));
        let lacks: &[Lack] = &[(DIRECT, not_offered, "no")];
        assert_eq!(
            refusal(of("noop"), Ground::Thread, true, lacks),
            "not_offered: no"
        );
        assert!(refusal(of("bogus"), Ground::Thread, true, &[]).contains("there are noop, adds16"));
    }

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

    #[test]
    fn a_call_that_fails_is_named() {
        let case = Case {
            callee: callee::find("getppid").unwrap(),
            callers: 4,
            beside: false,
            batch: 0,
        };
        let of = |kind: io::ErrorKind| case.refused(&io::Error::from(kind), 3);
        assert_eq!(of(io::ErrorKind::Other).status, Status::Failed);
        let refused = case.refused(&io::Error::from_raw_os_error(1), 3);
        assert_eq!(refused.status, Status::NotSupported);
        assert!(refused.reason.contains("refuses getppid"), "{refused}");
        let short = case.refused(&io::Error::from_raw_os_error(24), 3);
        assert_eq!(short.status, Status::Infeasible);
        assert!(short.reason.starts_with("3 of 4 callers"), "{short}");
    }
}
