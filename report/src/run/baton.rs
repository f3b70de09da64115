//! A launch: the children of a block stand side by side, each blocked on its
//! wire; whoever is given the baton does one turn while nobody else runs.

use std::time::{Duration, Instant};

use corolab_lab::workload::{self, Layer};

use super::interrupt::interrupted;
use super::player::Player;
use super::program::Cast;
use crate::estimate::Estimate;
use crate::record::line::Line;
use crate::record::manifest::{Block, Paired};

/// For how long nobody has the baton, to see who does not rest.
const REST: Duration = Duration::from_millis(25);

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
    /// How much room there is for tasks.
    pub estimate: Estimate<'a>,
    /// Whether its children count what they ask of the heap, instead of the
    /// time.
    pub heap: bool,
    /// Names to write the block's conditions down under, instead of their ids:
    /// the instrument holds itself against itself by one condition twice.
    pub names: Option<&'a [String]>,
}

impl Launch<'_> {
    /// Whether its children make their tasks once, and then stand still.
    pub fn stands_still(&self) -> bool {
        workload::layer_of(&self.block.workload) == Some(Layer::Footprint)
    }

    /// How long the one batch lasts that its children do without warming, if
    /// they do one.
    pub fn once(&self) -> Option<Duration> {
        self.block.once().map(Duration::from_nanos)
    }
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

/// Runs a launch to its end.
pub fn launch(launch: &Launch<'_>, rng: &mut fastrand::Rng, sink: &mut dyn Sink) -> Done {
    let mut order: Vec<usize> = (0..launch.block.conditions.len()).collect();
    rng.shuffle(&mut order);
    match launch.block.paired {
        Paired::Baton => together(launch, &order, launch.until, rng, sink),
        Paired::Alternating => {
            let mut done = Done { turns: u32::MAX };
            for (at, one) in order.iter().enumerate() {
                let until = share(launch.until, order.len() - at);
                let alone = together(launch, &[*one], until, rng, sink);
                done.turns = done.turns.min(alone.turns);
            }
            if order.is_empty() {
                Done::default()
            } else {
                done
            }
        }
    }
}

/// The end of the first of `parts` equal parts of the time that is left.
fn share(until: Option<Instant>, parts: usize) -> Option<Instant> {
    let now = Instant::now();
    let parts = u32::try_from(parts.max(1)).unwrap_or(u32::MAX);
    until.map(|until| now + until.saturating_duration_since(now) / parts)
}

fn together(
    launch: &Launch<'_>,
    order: &[usize],
    until: Option<Instant>,
    rng: &mut fastrand::Rng,
    sink: &mut dyn Sink,
) -> Done {
    let mut players: Vec<Player> = Vec::with_capacity(order.len());
    for at in order {
        if interrupted() {
            break;
        }
        let mut player = Player::new(launch, *at);
        player.attempt(sink, |player| player.enter(launch, rng.usize(0..4_096)));
        players.push(player);
    }
    rest(&mut players);
    let mut done = Done::default();
    let turns = if launch.heap || launch.once().is_some() {
        1
    } else {
        launch.turns
    };
    for turn in 0..turns {
        let late = until.is_some_and(|until| Instant::now() > until);
        if interrupted() || (late && turn >= launch.fewest_turns) {
            break;
        }
        // The order is shuffled anew for each launch and turned by one place
        // each time, so that over a launch everybody has every place.
        let count = players.len().max(1);
        players.rotate_left(1 % count);
        let mut alive = false;
        for (place, player) in players.iter_mut().enumerate() {
            if player.is_alive() && !interrupted() {
                player.attempt(sink, |player| {
                    if launch.heap {
                        player.count(launch)
                    } else {
                        player.turn(launch, turn, place as u32)
                    }
                });
                alive |= player.is_alive();
            }
        }
        if !alive || interrupted() {
            break;
        }
        done.turns = turn + 1;
        for player in &mut players {
            player.write_down(sink);
        }
    }
    for player in players {
        player.exit(launch, sink);
    }
    done
}

/// Nobody has the baton for a while, to see who uses the CPU all the same.
fn rest(players: &mut [Player]) {
    for player in players.iter_mut() {
        player.begin_rest();
    }
    std::thread::sleep(REST);
    for player in players {
        player.end_rest();
        player.still_if_restless();
        player.begin_rest();
    }
}
