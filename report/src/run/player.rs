//! A player: one child of a launch, or what became of it.

use std::time::{Duration, Instant};

use corolab_lab::condition::Condition;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Refusal, Sample, Status};
use corolab_lab::stopwatch::nanos;
use corolab_lab::wire::{FromChild, ToChild};
use corolab_syscalls::process::Signal;

use super::baton::{Launch, Sink};
use super::child::{Child, out_of_turn};
use super::interrupt::interrupted;
use super::memory;
use crate::estimate::tasks;
use crate::record::line::{Line, Memory, Taken, Trial};

/// A child that uses more of a CPU than this while it should rest is stopped
/// outside its turns.
const RESTLESS: f64 = 0.002;
/// Observed for less than this, nobody is called restless.
const OBSERVED_NS: u64 = 20_000_000;
/// CPU time that a child needs after each answer until it blocks on its wire.
const LEAVE_NS: u64 = 20_000;

/// A child on the stage, or what became of it.
pub struct Player {
    condition: Condition,
    /// Under which its samples are written down.
    name: String,
    child: Option<Child>,
    trial: Trial,
    /// Samples that wait to be written down until nobody holds the baton.
    taken: Vec<Taken>,
    /// When the child last gave the baton back, and its CPU time then.
    rested: Option<(Instant, Duration)>,
    /// How often it did.
    rests: u64,
}

impl Player {
    /// Condition number `at` of the launch's block, with no child yet.
    pub fn new(launch: &Launch<'_>, at: usize) -> Self {
        let condition = launch.block.conditions[at].clone();
        let name = launch
            .names
            .map_or_else(|| condition.id(), |names| names[at].clone());
        Player {
            name,
            child: None,
            taken: Vec::new(),
            trial: Trial {
                block: launch.block.id.clone(),
                launch: launch.number,
                condition: condition.clone(),
                status: Status::Ok,
                reason: None,
                calibration: None,
                cpus: Vec::new(),
                notes: Vec::new(),
                memory: None,
                counted: None,
                threads: None,
                made_ns: None,
                outside_cpu_ns: 0,
                outside_wall_ns: 0,
                stilled: false,
            },
            condition,
            rested: None,
            rests: 0,
        }
    }

    /// Whether its child can be given the baton.
    pub fn is_alive(&self) -> bool {
        self.child.is_some()
    }

    /// Does something with the child; what goes wrong costs this player only.
    pub fn attempt(
        &mut self,
        sink: &mut dyn Sink,
        act: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) {
        let Err(refusal) = act(self) else { return };
        // A child that we leave behind because the run ends has not failed.
        if !interrupted() {
            self.trial.status = refusal.status;
            self.trial.reason = Some(refusal.reason);
        }
        if let Some(child) = self.child.take() {
            sink.printed(&self.log_name(), &child.leave(Duration::ZERO));
        }
    }

    /// Starts the child, has it make its tasks and find its sample's length.
    ///
    /// # Errors
    /// Why there is nothing to measure.
    pub fn enter(&mut self, launch: &Launch<'_>, padding: usize) -> Result<(), Refusal> {
        let program = launch.cast.program_of(&self.condition.contender);
        let settings = &launch.block.settings;
        let making = self.making(launch);
        let began = Instant::now();
        let condition = self.condition.clone();
        let child = self
            .child
            .insert(Child::start(program, &settings.cpus, padding)?);
        child.hello(launch.patience)?;
        child.say(&ToChild::Begin(Assignment {
            condition,
            settings: settings.clone(),
        }))?;
        match child
            .hear(making)
            .map_err(|refusal| self.explained(launch, refusal))?
        {
            FromChild::Ready {
                calibration,
                cpus,
                notes,
            } => {
                self.trial.calibration = Some(calibration);
                self.trial.cpus = cpus;
                self.trial.notes = notes;
            }
            other => return Err(out_of_turn(&other)),
        }
        self.trial.made_ns = Some(nanos(began.elapsed()));
        if !settings.cpus.is_empty() && self.trial.cpus != settings.cpus {
            return Err(Refusal::failed(format!(
                "it was confined to the CPUs {:?} and reads back {:?}: it would not be compared \
                 under equal conditions",
                settings.cpus, self.trial.cpus
            )));
        }
        if launch.stands_still() {
            let (before, reason) = split(memory::read(self.child()?.id()));
            self.trial.memory = Some(Memory {
                before,
                standing: None,
                reason,
                took_ns: 0,
            });
        }
        if launch.once().is_some() {
            return Ok(());
        }
        let child = self.child()?;
        child.say(&ToChild::Warm {
            sample_ns: launch.sample_ns,
        })?;
        match child
            .hear(making)
            .map_err(|refusal| self.explained(launch, refusal))?
        {
            FromChild::Warmed { .. } => {}
            other => return Err(out_of_turn(&other)),
        }
        self.trial.threads = threads(self.child()?.id());
        Ok(())
    }

    /// Silence that the child is allowed while it makes its tasks. One that
    /// will meet the limit on mappings should say so soon.
    fn making(&self, launch: &Launch<'_>) -> Duration {
        let made = tasks(&self.condition).min(launch.estimate.room(&self.condition));
        let made = Duration::from_micros(20) * u32::try_from(made).unwrap_or(u32::MAX);
        if launch.estimate.is_beyond(&self.condition) {
            launch.patience / 4 + made
        } else {
            launch.patience + made
        }
    }

    /// What a crate does at the limit on mappings, if it does not refuse: it
    /// panics, aborts or hangs. The parent knows the limit and the need.
    fn explained(&self, launch: &Launch<'_>, refusal: Refusal) -> Refusal {
        let (condition, estimate) = (&self.condition, &launch.estimate);
        let Some(limit) = estimate
            .max_map_count
            .filter(|_| estimate.is_beyond(condition))
        else {
            return refusal;
        };
        let status = match refusal.status {
            Status::Failed => Status::Infeasible,
            Status::TimedOut => Status::TimedOut,
            _ => return refusal,
        };
        let needs = tasks(condition) * estimate.maps_per_task(condition);
        Refusal::new(
            status,
            format!(
                "vm.max_map_count is {limit}: {} tasks need about {needs} maps, and there the \
                 crate gives in ({}); sysctl vm.max_map_count={} would make room",
                tasks(condition),
                refusal.reason,
                needs + 10_000
            ),
        )
    }

    /// One turn: the prefix, then one sample, while nobody else runs.
    ///
    /// # Errors
    /// Why there is no sample.
    pub fn turn(&mut self, launch: &Launch<'_>, turn: u32, place: u32) -> Result<(), Refusal> {
        self.end_rest();
        if self.trial.stilled {
            self.signal(Signal::Continue);
        }
        // Who does one batch only makes its tasks now.
        let patience = match launch.once() {
            Some(lasts) => self.making(launch) + 10 * lasts,
            None => launch.patience,
        };
        let child = self.child()?;
        child.say(&ToChild::Turn { turn })?;
        let heard = child.hear(patience);
        let answer = heard.map_err(|refusal| self.explained(launch, refusal))?;
        self.read_memory()?;
        if self.trial.stilled {
            self.signal(Signal::Stop);
        } else {
            self.still_if_restless();
        }
        match answer {
            FromChild::Sample(sample) => self.take(launch, turn, place, sample)?,
            other => return Err(out_of_turn(&other)),
        }
        self.begin_rest();
        Ok(())
    }

    /// One batch of which not the time is measured, but what it asks of the
    /// heap.
    ///
    /// # Errors
    /// Why there is no count.
    pub fn count(&mut self, launch: &Launch<'_>) -> Result<(), Refusal> {
        if self.trial.stilled {
            self.signal(Signal::Continue);
        }
        let child = self.child()?;
        child.say(&ToChild::Count)?;
        match child.hear(launch.patience)? {
            FromChild::Counted(counted) if counted.ops > 0 => self.trial.counted = Some(counted),
            other => return Err(out_of_turn(&other)),
        }
        Ok(())
    }

    fn take(
        &mut self,
        launch: &Launch<'_>,
        turn: u32,
        place: u32,
        sample: Sample,
    ) -> Result<(), Refusal> {
        if sample.turn != turn || sample.ops == 0 {
            return Err(out_of_turn(&FromChild::Sample(sample)));
        }
        self.taken.push(Taken {
            block: launch.block.id.clone(),
            launch: launch.number,
            condition: self.name.clone(),
            place,
            sample,
        });
        Ok(())
    }

    /// What the child occupies while its tasks wait.
    fn read_memory(&mut self) -> Result<(), Refusal> {
        let id = self.child()?.id();
        if let Some(read) = &mut self.trial.memory {
            let began = Instant::now();
            let (standing, reason) = split(memory::read(id));
            read.standing = standing;
            read.reason = read.reason.take().or(reason);
            read.took_ns = nanos(began.elapsed());
            self.trial.threads = threads(id);
        }
        Ok(())
    }

    /// From now on the child should use no CPU.
    pub fn begin_rest(&mut self) {
        self.rested = self
            .child
            .as_ref()
            .map(|child| (Instant::now(), child.cpu_time()));
    }

    /// The rest is over: adds up the CPU time that the child used during it.
    pub fn end_rest(&mut self) {
        let (Some((since, before)), Some(child)) = (self.rested.take(), &self.child) else {
            return;
        };
        self.trial.outside_cpu_ns += nanos(child.cpu_time().saturating_sub(before));
        self.trial.outside_wall_ns += nanos(since.elapsed());
        self.rests += 1;
    }

    /// Stops the child outside its turns from now on, if it has used the CPU
    /// when it should not.
    pub fn still_if_restless(&mut self) {
        let trial = &self.trial;
        let restless = is_restless(trial.outside_cpu_ns, trial.outside_wall_ns, self.rests);
        if restless && !trial.stilled && self.child.is_some() {
            self.trial.stilled = true;
            self.signal(Signal::Stop);
        }
    }

    /// Writes down what was taken.
    pub fn write_down(&mut self, sink: &mut dyn Sink) {
        for taken in self.taken.drain(..) {
            sink.line(Line::Sample(taken));
        }
    }

    /// Ends the child, well if it can, and writes its trial down.
    pub fn exit(mut self, launch: &Launch<'_>, sink: &mut dyn Sink) {
        self.end_rest();
        if self.trial.stilled {
            self.signal(Signal::Continue);
        }
        if self.child.is_some() && !interrupted() {
            self.attempt(sink, |player| {
                let child = player.child()?;
                child.say(&ToChild::End)?;
                match child.hear(launch.patience)? {
                    FromChild::Done => Ok(()),
                    other => Err(out_of_turn(&other)),
                }
            });
        }
        if let Some(child) = self.child.take() {
            let patience = if interrupted() {
                Duration::ZERO
            } else {
                Duration::from_secs(2)
            };
            sink.printed(&self.log_name(), &child.leave(patience));
        }
        self.write_down(sink);
        sink.line(Line::Trial(Box::new(self.trial)));
    }

    fn child(&mut self) -> Result<&mut Child, Refusal> {
        self.child
            .as_mut()
            .ok_or_else(|| Refusal::failed("it was never started"))
    }

    fn signal(&self, signal: Signal) {
        if let Some(child) = &self.child {
            child.signal(signal);
        }
    }

    fn log_name(&self) -> String {
        format!("{}-launch{}", self.name, self.trial.launch)
    }
}

fn split<T>(result: Result<T, String>) -> (Option<T>, Option<String>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(why) => (None, Some(why)),
    }
}

/// Whether so much CPU time outside its turns is more than a child needs to
/// give the baton back and to block.
fn is_restless(cpu_ns: u64, wall_ns: u64, rests: u64) -> bool {
    let beyond = cpu_ns.saturating_sub(rests * LEAVE_NS);
    wall_ns >= OBSERVED_NS && beyond as f64 > wall_ns as f64 * RESTLESS
}

/// Threads of a process; `None` where `/proc` does not say.
fn threads(pid: u32) -> Option<u64> {
    let process = procfs::process::Process::new(i32::try_from(pid).ok()?).ok()?;
    Some(process.status().ok()?.threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_the_baton_back_is_no_restlessness() {
        assert!(!is_restless(30_000, 25_000_000, 2));
        assert!(is_restless(115_000, 25_000_000, 1), "an idle may process");
        assert!(!is_restless(9_000_000, 10_000_000, 1), "too short to tell");
    }
}
