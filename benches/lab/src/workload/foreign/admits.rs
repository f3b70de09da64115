//! Which pairs of host and route make sense, known before anything runs.

use super::case::entry;
use super::{
    BIG_STACK, BLOCK_IN_PLACE, DIRECT, DYN, PARENT_STACK, SPAWN_BLOCKING, SUSPEND, WORKLOAD,
    is_beside,
};
use crate::condition::Condition;
use crate::sample::Refusal;
use crate::workload::STACK;

/// Bytes that a caller's own frames take, in a debug build too.
const FRAMES: u64 = 8 << 10;

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
        params.number("stack").unwrap_or(STACK),
    );
    if ground == Ground::OwnStack && stays && needs > has {
        return Err(Refusal::not_applicable(format!(
            "a task's stack has {has} B here, and the call needs {needs} B with its caller's frames: \
             it would overflow; parent-stack, big-stack and spawn-blocking have room"
        )));
    }
    Ok(())
}

/// The same for hosts whose calls leave straight from the task and in no other
/// way, for one reason.
///
/// # Errors
/// The refusal that becomes the condition's row.
pub fn admits_direct(
    condition: &Condition,
    ground: Ground,
    others: bool,
    refusal: fn(&'static str) -> Refusal,
    why: &'static str,
) -> Result<(), Refusal> {
    let further = [
        PARENT_STACK,
        BIG_STACK,
        SUSPEND,
        BLOCK_IN_PLACE,
        SPAWN_BLOCKING,
    ];
    let lacks = further.map(|route| (route, refusal, why));
    admits(condition, ground, others, &lacks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Params;

    fn of(callee: &str) -> Params {
        Params::new().with("callee", callee)
    }

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
        let deep = of("deep").with("stack", 16_384);
        let told = refusal(deep.clone(), Ground::OwnStack, true, &[]);
        assert!(
            told.starts_with("not_applicable: a task's stack has 16384 B"),
            "{told}"
        );
        assert_eq!(refusal(deep.clone(), Ground::Thread, true, &[]), "");
        let parent = deep.with("route", PARENT_STACK);
        assert_eq!(refusal(parent, Ground::OwnStack, true, &[]), "");
        let told = refusal(
            of("noop").with("form", "beside"),
            Ground::Thread,
            false,
            &[],
        );
        assert!(told.contains("no scheduler"), "{told}");
        let hops = of("noop")
            .with("route", SPAWN_BLOCKING)
            .with("batch", 100_000_000);
        assert!(refusal(hops, Ground::Thread, true, &[]).starts_with("infeasible: 100000000 hops"));
        let lacks: &[Lack] = &[(DIRECT, not_offered, "no")];
        assert_eq!(
            refusal(of("noop"), Ground::Thread, true, lacks),
            "not_offered: no"
        );
        assert!(refusal(of("bogus"), Ground::Thread, true, &[]).contains("there are noop, adds16"));
    }
}
