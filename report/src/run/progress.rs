//! Progress, drawn by the parent between launches and never inside a sample.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loudness {
    /// Nothing.
    Quiet,
    /// A bar on a terminal, a line every few seconds elsewhere.
    Usual,
    /// A line for every launch.
    Verbose,
}

/// Tells how far a run is.
pub struct Progress {
    loudness: Loudness,
    bar: Option<ProgressBar>,
    told: Option<Instant>,
    done: usize,
    of: usize,
}

/// Between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

impl Progress {
    /// Nothing is done of `of` launches.
    pub fn new(loudness: Loudness, of: usize) -> Self {
        let bar = (loudness == Loudness::Usual && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Progress {
            loudness,
            bar,
            told: None,
            done: 0,
            of,
        }
    }

    /// One more launch is done; `left` is the time that the rest will take.
    pub fn step(&mut self, what: &str, left: Duration) {
        self.done += 1;
        let eta = format!("{what}, {} s left", left.as_secs_f64().ceil());
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(eta);
            return;
        }
        let pause_is_over = self.told.is_none_or(|told| told.elapsed() >= PAUSE);
        let tells = match self.loudness {
            Loudness::Quiet => false,
            Loudness::Usual => pause_is_over,
            Loudness::Verbose => true,
        };
        if tells {
            crate::tell!("{}/{} {eta}", self.done, self.of);
            self.told = Some(Instant::now());
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
