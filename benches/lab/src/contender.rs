//! A contender: who does a workload, and what it does not offer.

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Settings};
use crate::sample::Refusal;
use crate::turns::Turns;

/// How a contender keeps a task that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A stack for each task, switched in user space.
    Stackful,
    /// A state machine for each task, polled.
    Stackless,
    /// A kernel thread for each task.
    Kernel,
    /// No task at all: a plain call.
    Control,
}

impl Family {
    /// The name that the record and the views use.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Stackful => "stackful",
            Family::Stackless => "stackless",
            Family::Kernel => "kernel",
            Family::Control => "control",
        }
    }
}

/// What a child is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The one condition that the child measures.
    pub condition: Condition,
    /// What is equal for all contenders of the block.
    pub settings: Settings,
}

/// Makes a workload's tasks, then serves turns until the parent ends them.
///
/// This pointer is where the contender's type is erased: everything behind it
/// is monomorphised, and it is called once for each child, outside the clock.
pub type Measure = fn(&Assignment, &mut dyn Turns) -> Result<(), Refusal>;

/// Whether a contender can do a workload.
#[derive(Clone, Copy, Debug)]
pub enum Support {
    /// It can, by this function.
    Measured(Measure),
    /// The crate does not offer what the workload needs; the reason.
    NotOffered(&'static str),
    /// The pair makes no sense; the reason.
    NotApplicable(&'static str),
}

/// One workload in a contender's list.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Name of the workload.
    pub workload: &'static str,
    /// Whether and how.
    pub support: Support,
}

impl Offer {
    /// The contender does `workload` by `measure`.
    pub const fn measured(workload: &'static str, measure: Measure) -> Self {
        Offer {
            workload,
            support: Support::Measured(measure),
        }
    }

    /// The crate does not offer what `workload` needs.
    pub const fn not_offered(workload: &'static str, reason: &'static str) -> Self {
        Offer {
            workload,
            support: Support::NotOffered(reason),
        }
    }

    /// `workload` makes no sense for this contender.
    pub const fn not_applicable(workload: &'static str, reason: &'static str) -> Self {
        Offer {
            workload,
            support: Support::NotApplicable(reason),
        }
    }
}

/// Everything that the lab knows of a contender. The last item of its file.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// As in the design's list of names.
    pub name: &'static str,
    /// How it keeps a task that waits.
    pub family: Family,
    /// Package that does the work, as named in the lock file; `std` for the
    /// standard library.
    pub package: &'static str,
    /// Version of that package, from the lock file.
    pub version: &'static str,
    /// What it is and with which settings it is shown, in a sentence.
    pub about: &'static str,
    /// The contender whose cost through our traits this one prices, being the
    /// same code written by hand on the bare crate.
    pub prices: Option<&'static str>,
    /// Mappings that each task takes; 0 where tasks share them. They bound how
    /// many tasks the kernel's limit leaves room for.
    pub maps_per_task: u64,
    /// One entry for each workload of the lab.
    pub offers: &'static [Offer],
    /// Refuses parameters that the contender cannot have, before anything runs.
    pub admits: fn(&Condition) -> Result<(), Refusal>,
}

impl Contender {
    /// The function that measures `condition`, or why there is none.
    ///
    /// # Errors
    /// The refusal that becomes the condition's row.
    pub fn measure_of(&self, condition: &Condition) -> Result<Measure, Refusal> {
        let offer = self
            .offers
            .iter()
            .find(|offer| offer.workload == condition.workload);
        let measure = match offer.map(|offer| offer.support) {
            Some(Support::Measured(measure)) => measure,
            Some(Support::NotOffered(reason)) => return Err(Refusal::not_offered(reason)),
            Some(Support::NotApplicable(reason)) => return Err(Refusal::not_applicable(reason)),
            None => {
                return Err(Refusal::not_offered(format!(
                    "{} says nothing about the workload {}",
                    self.name, condition.workload
                )));
            }
        };
        (self.admits)(condition)?;
        Ok(measure)
    }

    /// The same as plain data, as it goes over the wire and into the record.
    pub fn profile(&self) -> Profile {
        Profile {
            name: self.name.to_owned(),
            family: self.family,
            package: self.package.to_owned(),
            version: self.version.to_owned(),
            about: self.about.to_owned(),
            prices: self.prices.map(str::to_owned),
            maps_per_task: self.maps_per_task,
            workloads: self
                .offers
                .iter()
                .filter(|offer| matches!(offer.support, Support::Measured(_)))
                .map(|offer| offer.workload.to_owned())
                .collect(),
        }
    }
}

/// Admits every condition.
pub fn admits_all(_: &Condition) -> Result<(), Refusal> {
    Ok(())
}

/// Admits one worker only: for contenders whose scheduler is one thread.
pub fn admits_one_worker(condition: &Condition) -> Result<(), Refusal> {
    match condition.params.number("workers") {
        None | Some(1) => Ok(()),
        Some(workers) => Err(Refusal::not_applicable(format!(
            "its scheduler is a single thread; {workers} workers were asked for"
        ))),
    }
}

/// A contender as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Its name, unique within a run.
    pub name: String,
    /// How it keeps a task that waits.
    pub family: Family,
    /// Package that does the work.
    pub package: String,
    /// Version of that package.
    pub version: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The contender that it prices, if it is written by hand for that.
    pub prices: Option<String>,
    /// Mappings that each task takes.
    #[serde(default)]
    pub maps_per_task: u64,
    /// Workloads that it can do.
    pub workloads: Vec<String>,
}
