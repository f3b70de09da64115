//! A launch: the children of a block stand side by side, each blocked on its
//! wire; whoever is given the baton does one turn while nobody else runs.

use std::time::{Duration, Instant};

use corolab_lab::condition::Condition;
use corolab_lab::contender::Assignment;
use corolab_lab::sample::{Refusal, Status};
use corolab_lab::stopwatch::nanos;
use corolab_lab::wire::{FromChild, ToChild};
use corolab_lab::workload;
use corolab_syscalls::limits;
use corolab_syscalls::process::Signal;

use super::child::{Child, out_of_turn};
use super::program::Cast;
use super::session::interrupted;
use crate::record::line::{Line, Taken, Trial};
use crate::record::manifest::{Block, Paired};

/// For how long nobody has the baton, to see who does not rest.
const REST: Duration = Duration::from_millis(25);
/// A child that uses more of a CPU than this while it should rest is stopped
/// outside its turns.
const RESTLESS: f64 = 0.002;

/// What one launch is to do.
pub struct Launch<'a> {
    /// The block.
    pub block: &'a Block,
    /// Its number within the block.
    pub number: u32,
    /// Turns at the most.
    pub turns: u32,
    /// Turns at the least, whatever the time.
    pub fewest_turns: u32,
    /// When to stop early.
    pub until: Option<Instant>,
    /// Length of a sample, ns.
    pub sample_ns: u64,
    /// Silence that a child is allowed.
    pub patience: Duration,
    /// Who runs what.
    pub cast: &'a Cast,
}

/// What a launch gave besides its lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Turns that every living child finished.
    pub turns: u32,
}

/// Where a launch's lines and printed text go.
pub trait Sink {
    /// One line for the record.
    fn line(&mut self, line: Line);
    /// What a child printed.
    fn printed(&mut self, name: &str, text: &[u8]);
}

/// A child on the stage, or what became of it.
struct Player {
    condition: Condition,
    child: Option<Child>,
    trial: Trial,
    /// Samples that wait to be written down until nobody holds the baton.
    taken: Vec<Taken>,
    /// When the child last gave the baton back, and its CPU time then.
    rested: Option<(Instant, Duration)>,
}

/// Runs a launch to its end.
pub fn launch(launch: &Launch<'_>, rng: &mut fastrand::Rng, sink: &mut dyn Sink) -> Done {
    let all = &launch.block.conditions;
    match launch.block.paired {
        Paired::Baton => together(launch, all, rng, sink),
        Paired::Alternating => {
            let mut order: Vec<usize> = (0..all.len()).collect();
            rng.shuffle(&mut order);
            let each = order
                .into_iter()
                .map(|at| together(launch, &all[at..=at], rng, sink));
            each.min_by_key(|done| done.turns).unwrap_or_default()
        }
    }
}

fn together(
    launch: &Launch<'_>,
    conditions: &[Condition],
    rng: &mut fastrand::Rng,
    sink: &mut dyn Sink,
) -> Done {
    let mut order: Vec<usize> = (0..conditions.len()).collect();
    rng.shuffle(&mut order);
    let mut players: Vec<Player> = Vec::with_capacity(order.len());
    for at in order {
        if interrupted() {
            break;
        }
        let mut player = Player::new(launch, &conditions[at]);
        player.attempt(sink, |player| player.enter(launch, rng.usize(0..4_096)));
        players.push(player);
    }
    rest(&mut players);
    let mut done = Done::default();
    for turn in 0..launch.turns {
        let late = launch.until.is_some_and(|until| Instant::now() > until);
        if interrupted() || (late && turn >= launch.fewest_turns) {
            break;
        }
        // The order is shuffled once and turned by one place each time, so
        // that over a launch everybody has every place and neighbour.
        let count = players.len().max(1);
        players.rotate_left(1 % count);
        let mut alive = false;
        for (place, player) in players.iter_mut().enumerate() {
            if player.child.is_some() && !interrupted() {
                player.attempt(sink, |player| player.turn(launch, turn, place as u32));
                alive |= player.child.is_some();
            }
        }
        if let (true, false) = (alive, interrupted()) {
            done.turns = turn + 1;
        } else {
            break;
        }
        for player in &mut players {
            sink_samples(player, sink);
        }
    }
    for player in players {
        player.exit(launch, sink);
    }
    done
}

/// Nobody has the baton for a while; who uses the CPU all the same is stopped
/// outside its turns from now on.
fn rest(players: &mut [Player]) {
    for player in players.iter_mut() {
        player.begin_rest();
    }
    std::thread::sleep(REST);
    for player in players {
        if player.end_rest().is_some_and(|share| share > RESTLESS) {
            player.trial.stilled = true;
            player.signal(Signal::Stop);
        }
        player.begin_rest();
    }
}

/// Writes down what a player has taken.
fn sink_samples(player: &mut Player, sink: &mut dyn Sink) {
    for taken in player.taken.drain(..) {
        sink.line(Line::Sample(taken));
    }
}

impl Player {
    fn new(launch: &Launch<'_>, condition: &Condition) -> Self {
        Player {
            condition: condition.clone(),
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
                threads: None,
                made_ns: None,
                outside_cpu_ns: 0,
                outside_wall_ns: 0,
                stilled: false,
            },
            rested: None,
        }
    }

    /// Does something with the child; what goes wrong costs this player only.
    fn attempt(&mut self, sink: &mut dyn Sink, act: impl FnOnce(&mut Self) -> Result<(), Refusal>) {
        if let Err(refusal) = act(self) {
            self.trial.status = refusal.status;
            self.trial.reason = Some(refusal.reason);
            if let Some(child) = self.child.take() {
                sink.printed(&self.log_name(), &child.leave(Duration::ZERO));
            }
        }
    }

    fn log_name(&self) -> String {
        format!("{}-launch{}", self.condition.id(), self.trial.launch)
    }

    fn child(&mut self) -> Result<&mut Child, Refusal> {
        self.child
            .as_mut()
            .ok_or_else(|| Refusal::failed("it was never started"))
    }

    /// Starts the child, has it make its tasks and find its sample's length.
    fn enter(&mut self, launch: &Launch<'_>, padding: usize) -> Result<(), Refusal> {
        let program = launch.cast.program_of(&self.condition.contender);
        let settings = &launch.block.settings;
        let began = Instant::now();
        let condition = self.condition.clone();
        let child = self
            .child
            .insert(Child::start(program, &settings.cpus, padding)?);
        child.hello(launch.patience)?;
        let assignment = Assignment {
            condition,
            settings: settings.clone(),
        };
        child.say(&ToChild::Begin(assignment))?;
        let tasks = workload::find(&launch.block.workload)
            .map_or(0, |workload| (workload.tasks)(&self.condition.params));
        let making = launch.patience + Duration::from_micros(20 * tasks);
        match child
            .hear(making)
            .map_err(|refusal| self.explained(refusal, tasks))?
        {
            FromChild::Ready { calibration, cpus } => {
                self.trial.calibration = Some(calibration);
                self.trial.cpus = cpus;
            }
            other => return Err(out_of_turn(&other)),
        }
        self.trial.made_ns = Some(nanos(began.elapsed()));
        let child = self.child()?;
        child.say(&ToChild::Warm {
            sample_ns: launch.sample_ns,
        })?;
        match child
            .hear(making)
            .map_err(|refusal| self.explained(refusal, tasks))?
        {
            FromChild::Warmed { .. } => {}
            other => return Err(out_of_turn(&other)),
        }
        self.trial.threads = threads(self.child()?.id());
        Ok(())
    }

    /// A crate that hangs where there is no room for a stack says nothing; the
    /// parent knows the limit and the need.
    fn explained(&self, refusal: Refusal, tasks: u64) -> Refusal {
        let Ok(limit) = limits::max_map_count() else {
            return refusal;
        };
        if refusal.status != Status::TimedOut || tasks.saturating_mul(2) < limit / 10 * 9 {
            return refusal;
        }
        Refusal::new(
            refusal.status,
            format!(
                "{}; vm.max_map_count is {limit}, and {tasks} stacks of two mappings each need \
                 about {}: some crates hang at that limit",
                refusal.reason,
                tasks * 2
            ),
        )
    }

    /// One turn: the prefix, then one sample, while nobody else runs.
    fn turn(&mut self, launch: &Launch<'_>, turn: u32, place: u32) -> Result<(), Refusal> {
        self.end_rest();
        if self.trial.stilled {
            self.signal(Signal::Continue);
        }
        let child = self.child()?;
        child.say(&ToChild::Turn { turn })?;
        let answer = child.hear(launch.patience)?;
        if self.trial.stilled {
            self.signal(Signal::Stop);
        }
        match answer {
            FromChild::Sample(sample) if sample.turn == turn && sample.ops > 0 => {
                self.taken.push(Taken {
                    block: launch.block.id.clone(),
                    launch: launch.number,
                    condition: self.condition.id(),
                    place,
                    sample,
                });
                self.begin_rest();
                Ok(())
            }
            other => Err(out_of_turn(&other)),
        }
    }

    /// From now on the child should use no CPU.
    fn begin_rest(&mut self) {
        self.rested = self
            .child
            .as_ref()
            .map(|child| (Instant::now(), child.cpu_time()));
    }

    /// The rest is over; the share of a CPU that the child used during it.
    fn end_rest(&mut self) -> Option<f64> {
        let (since, before) = self.rested.take()?;
        let used = self.child.as_ref()?.cpu_time().saturating_sub(before);
        let wall = since.elapsed();
        self.trial.outside_cpu_ns += nanos(used);
        self.trial.outside_wall_ns += nanos(wall);
        Some(used.as_secs_f64() / wall.as_secs_f64().max(1e-9))
    }

    fn signal(&self, signal: Signal) {
        if let Some(child) = &self.child {
            child.signal(signal);
        }
    }

    /// Ends the child, well if it can, and writes its trial down.
    fn exit(mut self, launch: &Launch<'_>, sink: &mut dyn Sink) {
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
        sink_samples(&mut self, sink);
        sink.line(Line::Trial(self.trial));
    }
}

/// Threads of a process; `None` where `/proc` does not say.
fn threads(pid: u32) -> Option<u64> {
    let status = procfs::process::Process::new(i32::try_from(pid).ok()?)
        .ok()?
        .status()
        .ok()?;
    Some(status.threads)
}
