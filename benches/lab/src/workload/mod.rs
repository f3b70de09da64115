//! The workloads: what is done, stated once for both families.
//!
//! Each file says in one sentence each what is done, what is timed and what is
//! not, and what the right answer is; the twins of the same name in
//! `green/src/workload` and `stackless/src/workload` do it.

pub mod create;
pub mod footprint;
pub mod foreign;
pub mod ping_pong;
pub mod spawn;
pub mod switch;
pub mod yield_now;

mod gate;

pub use gate::{Gate, Gates};

use crate::condition::{Params, Value};
use crate::contender::Family;

/// Results are compared within a layer only.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Bare resume against bare poll, no scheduler.
    Switch,
    /// Tasks on a scheduler.
    Scheduled,
    /// Tasks that wait, and the memory they occupy.
    Footprint,
    /// Calls out of a task.
    Foreign,
}

impl Layer {
    /// The name that the record and the views use.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::Switch => "switch",
            Layer::Scheduled => "scheduled",
            Layer::Footprint => "footprint",
            Layer::Foreign => "foreign",
        }
    }
}

/// How much of the grid is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Everything once, smallest sizes: what continuous integration runs.
    Smoke,
    /// What `corolab` alone runs.
    Quick,
    /// Everything.
    Full,
}

/// A value that a parameter usually has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// There is none: the parameter always shows.
    None,
    /// A number.
    Number(u64),
    /// A word.
    Word(&'static str),
}

/// What a parameter sets apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Blocks: contenders are compared at one value of it.
    Blocks,
    /// Rows of one block: ways of doing the same thing, compared directly.
    Rows,
}

/// A parameter that a workload declares.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// As in the design's list of keys.
    pub key: &'static str,
    /// What it means, with its unit.
    pub about: &'static str,
    /// The value that ids leave out.
    pub usual: Usual,
    /// Whether it sets blocks or rows apart.
    pub parts: Parts,
}

impl Param {
    const fn block(key: &'static str, about: &'static str, usual: Usual) -> Self {
        Param {
            key,
            about,
            usual,
            parts: Parts::Blocks,
        }
    }

    const fn way(key: &'static str, about: &'static str, usual: &'static str) -> Self {
        Param {
            key,
            about,
            usual: Usual::Word(usual),
            parts: Parts::Rows,
        }
    }

    /// The value that ids leave out.
    pub fn usual(&self) -> Option<Value> {
        match self.usual {
            Usual::None => None,
            Usual::Number(n) => Some(n.into()),
            Usual::Word(w) => Some(w.into()),
        }
    }
}

/// Values of the row parameters: one way of doing the same thing.
pub type Way = &'static [(&'static str, &'static str)];

/// Everything that the lab says about a workload.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// As in the design's list of names.
    pub name: &'static str,
    /// The layer within which it is compared.
    pub layer: Layer,
    /// What is done, in a sentence.
    pub what: &'static str,
    /// One operation.
    pub op: &'static str,
    /// What is timed, in a sentence.
    pub timed: &'static str,
    /// What is not, in a sentence.
    pub untimed: &'static str,
    /// What the right answer is, in a sentence.
    pub answer: &'static str,
    /// Parameters in the order in which ids show them.
    pub params: &'static [Param],
    /// Values of the block parameters, one entry for each block.
    pub grid: fn(Scale) -> Vec<Params>,
    /// Further blocks, which the quick plan has where a filter asks for them: it
    /// has no time for everything that belongs to every question.
    pub more: fn() -> Vec<Params>,
    /// Values of the row parameters in a block, one entry for each way.
    pub ways: fn(&Params) -> &'static [Way],
    /// Tasks that are alive at once.
    pub tasks: fn(&Params) -> u64,
    /// Bytes of its own state that each of them holds.
    pub state: fn(&Params) -> u64,
    /// Nanoseconds that the one batch of a block lasts which is neither warmed
    /// nor repeated within a launch; `None` where samples are taken by turns.
    pub once: fn(&Params) -> Option<u64>,
    /// Whether what a batch asks of the heap is counted, in trials of its own.
    pub heap: bool,
}

/// No further blocks.
fn no_more() -> Vec<Params> {
    Vec::new()
}

/// Samples are taken by turns.
fn by_turns(_: &Params) -> Option<u64> {
    None
}

impl Workload {
    /// All declared parameters in order: those of `block`, then of `way`, then
    /// the usual values.
    pub fn complete(&self, block: &Params, way: &[(&str, &str)]) -> Params {
        self.params.iter().fold(Params::new(), |params, declared| {
            let from_way = way.iter().find(|(key, _)| *key == declared.key);
            let value = block
                .get(declared.key)
                .cloned()
                .or_else(|| from_way.map(|(_, word)| Value::from(*word)))
                .or_else(|| declared.usual());
            match value {
                Some(value) => params.with(declared.key, value),
                None => params,
            }
        })
    }

    /// Bytes that a child is expected to need at its peak, to plan with: rough
    /// figures for a waiting task of each family, times the tasks that the
    /// limit on mappings leaves room for.
    pub fn memory(&self, params: &Params, family: Family, room: u64) -> u64 {
        const PROCESS: u64 = 8 << 20;
        let task = match family {
            Family::Stackful => 8 * 1024,
            Family::Kernel => 24 * 1024,
            Family::Control if self.layer == Layer::Footprint => 4 * 1024,
            Family::Stackless | Family::Control => 256,
        };
        PROCESS + (self.tasks)(params).min(room) * (task + (self.state)(params))
    }
}

/// All workloads, in the order in which plans and reports have them.
pub const ALL: &[&Workload] = &[
    &switch::WORKLOAD,
    &create::WORKLOAD,
    &yield_now::WORKLOAD,
    &ping_pong::WORKLOAD,
    &spawn::WORKLOAD,
    &footprint::WORKLOAD,
    &foreign::WORKLOAD,
];

/// The workload of that name.
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().find(|workload| workload.name == name).copied()
}

/// The layer of the workload of that name.
pub fn layer_of(name: &str) -> Option<Layer> {
    find(name).map(|workload| workload.layer)
}

/// Usable bytes of a stack unless a condition says otherwise: enough for a
/// debug build that formats text.
pub const STACK: u64 = 64 * 1024;

const STACK_PARAM: Param =
    Param::block("stack", "usable bytes of each stack", Usual::Number(STACK));

const WORKERS_PARAM: Param = Param::block(
    "workers",
    "worker threads of the scheduler",
    Usual::Number(1),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_every_grid_gives_every_declared_parameter() {
        for workload in ALL {
            let grids = [Scale::Smoke, Scale::Quick, Scale::Full].map(workload.grid);
            for grid in grids {
                assert!(!grid.is_empty(), "{}", workload.name);
                for block in grid.into_iter().chain((workload.more)()) {
                    for way in (workload.ways)(&block) {
                        let params = workload.complete(&block, way);
                        let keys: Vec<_> = params.iter().map(|(key, _)| key).collect();
                        let declared: Vec<_> = workload.params.iter().map(|p| p.key).collect();
                        assert_eq!(keys, declared, "{}", workload.name);
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for workload in ALL {
            assert_eq!(find(workload.name).unwrap().name, workload.name);
        }
        assert!(find("no-such-workload").is_none());
    }
}
