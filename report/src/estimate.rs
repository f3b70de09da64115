//! How long a plan will take, before anything has run. Pure.

use corolab_lab::condition::Condition;
use corolab_lab::contender::{Family, Profile};
use corolab_lab::workload::{self, Layer};

use crate::record::manifest::{Block, Plan};

/// Starting a child, and its end.
const START_NS: u64 = 5_000_000;
/// Making and dropping a task that has a mapped stack or a thread of its own.
const STACK_NS: u64 = 15_000;
/// The same for a stack that is cut from a larger mapping, when new.
const CUT_NS: u64 = 2_500;
/// The same when it is used again.
const AGAIN_NS: u64 = 400;
/// Making and dropping any other task.
const STATE_NS: u64 = 400;
/// Passing the baton, beside the prefix and the sample.
const BATON_NS: u64 = 50_000;

/// What estimates are made from, beside the plan.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    /// Everybody who could be measured.
    pub profiles: &'a [Profile],
    /// The limit on mappings; `None` where unknown.
    pub max_map_count: Option<u64>,
}

impl Estimate<'_> {
    /// Nanoseconds that one launch of a block is expected to take, with that
    /// many turns.
    pub fn launch_ns(&self, block: &Block, plan: &Plan, turns: u32) -> u64 {
        let each = |condition| self.child_ns(condition, plan, turns);
        block.conditions.iter().map(each).sum()
    }

    /// Nanoseconds that the whole plan is expected to take, with that many
    /// turns a launch. What meets the limit on mappings fails once, and is not
    /// launched again.
    pub fn total_ns(&self, plan: &Plan, turns: u32) -> u64 {
        let conditions = plan.blocks.iter().flat_map(|block| &block.conditions);
        let each = |condition| {
            let launches = if self.is_beyond(condition) {
                1
            } else {
                plan.launches
            };
            u64::from(launches) * self.child_ns(condition, plan, turns)
        };
        let blocks = plan.blocks.iter().filter(|block| block.counts_heap());
        let counting = blocks.map(|block| self.launch_ns(block, plan, 1));
        conditions.map(each).sum::<u64>() + counting.sum::<u64>()
    }

    /// Whether a condition has more tasks than the limit on mappings leaves
    /// room for.
    pub fn is_beyond(&self, condition: &Condition) -> bool {
        tasks(condition) > self.room(condition)
    }

    /// How many tasks the limit on mappings leaves room for.
    pub fn room(&self, condition: &Condition) -> u64 {
        match (self.maps_per_task(condition), self.max_map_count) {
            (0, _) | (_, None) => u64::MAX,
            (maps, Some(limit)) => limit / maps,
        }
    }

    /// Mappings that each task of a condition takes.
    pub fn maps_per_task(&self, condition: &Condition) -> u64 {
        self.profile(condition)
            .map_or(0, |profile| profile.maps_per_task)
    }

    /// Nanoseconds that making a condition's tasks for the first time takes.
    pub fn making_ns(&self, condition: &Condition) -> u64 {
        self.many(condition) * self.task_ns(condition).0
    }

    /// Tasks that a condition makes before it meets a limit.
    fn many(&self, condition: &Condition) -> u64 {
        tasks(condition).min(self.room(condition))
    }

    /// Nanoseconds of making a task for the first time, and again.
    fn task_ns(&self, condition: &Condition) -> (u64, u64) {
        let mapped = self.maps_per_task(condition) > 0;
        match self.profile(condition).map(|profile| profile.family) {
            Some(Family::Stackful) if !mapped => (CUT_NS, AGAIN_NS),
            Some(Family::Stackful | Family::Kernel) => (STACK_NS, STACK_NS),
            Some(Family::Stackless) => (STATE_NS, STATE_NS),
            Some(Family::Control) | None => (0, 0),
        }
    }

    fn child_ns(&self, condition: &Condition, plan: &Plan, turns: u32) -> u64 {
        let made = self.making_ns(condition);
        let remade = self.many(condition) * self.task_ns(condition).1;
        if self.is_beyond(condition) {
            return START_NS + made;
        }
        // On a scheduler each batch makes its tasks anew: three batches find
        // the sample's length, and a turn has a prefix and a sample.
        let anew = match workload::layer_of(&condition.workload) {
            Some(Layer::Switch) => 0,
            _ => remade,
        };
        let once = workload::find(&condition.workload)
            .and_then(|workload| (workload.once)(&condition.params));
        if let Some(lasts) = once {
            return START_NS + made + lasts;
        }
        let warm = plan.sample_ns * 2 + 3 * anew;
        let turn = plan.sample_ns * 9 / 8 + BATON_NS + 2 * anew;
        START_NS + made + warm + turn * u64::from(turns)
    }

    fn profile(&self, condition: &Condition) -> Option<&Profile> {
        self.profiles
            .iter()
            .find(|profile| profile.name == condition.contender)
    }
}

/// Tasks that a condition has alive at once.
pub fn tasks(condition: &Condition) -> u64 {
    workload::find(&condition.workload).map_or(0, |workload| (workload.tasks)(&condition.params))
}
