//! The stopwatch that workloads start and stop, and what it costs to read.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::heap::{self, Asked};

/// Time from `start` to `stop`, read from the monotonic clock.
///
/// A workload's text has exactly one `watch.start()` and one `watch.stop()`,
/// at the same line of both twins. Where the heap is counted, what was asked of
/// it in the same window is known too.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
    stopped: Instant,
    asked: Option<Asked>,
    asked_then: Option<Asked>,
}

impl Stopwatch {
    /// A stopwatch that has not run.
    #[allow(
        clippy::new_without_default,
        reason = "a default clock would hide a reading of it"
    )]
    pub fn new() -> Self {
        let now = Instant::now();
        Stopwatch {
            started: now,
            stopped: now,
            asked: None,
            asked_then: None,
        }
    }

    /// One that has run for that long.
    #[cfg(test)]
    pub fn having_run(elapsed: Duration) -> Self {
        let mut watch = Self::new();
        watch.stopped = watch.started + elapsed;
        watch
    }

    /// Opens the timed window.
    #[inline(always)]
    pub fn start(&mut self) {
        self.asked = heap::asked();
        self.started = Instant::now();
    }

    /// Closes the timed window.
    #[inline(always)]
    pub fn stop(&mut self) {
        self.stopped = Instant::now();
        self.asked_then = heap::asked();
    }

    /// Length of the window.
    pub fn elapsed(&self) -> Duration {
        self.stopped.saturating_duration_since(self.started)
    }

    /// What the process asked of the heap within the window; `None` where that
    /// is not counted.
    pub fn asked(&self) -> Option<Asked> {
        Some(self.asked_then?.since(self.asked?))
    }

    /// One window around both: from the first start to the last stop.
    #[must_use]
    pub fn around(self, other: Stopwatch) -> Stopwatch {
        let (first, last) = (
            if self.started <= other.started {
                self
            } else {
                other
            },
            if self.stopped >= other.stopped {
                self
            } else {
                other
            },
        );
        Stopwatch {
            started: first.started,
            stopped: last.stopped,
            asked: first.asked,
            asked_then: last.asked_then,
        }
    }
}

/// What the instrument itself reads on this machine, in this process.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Calibration {
    /// Median reading of an empty batch (start, then stop), ns.
    pub empty_ns: f64,
    /// Smallest step above zero between two readings of the clock, ns.
    pub tick_ns: f64,
    /// Length of one CPU cycle, from a chain of dependent additions, ns;
    /// `None` on an architecture for which the chain is not written.
    pub cycle_ns: Option<f64>,
}

impl Calibration {
    /// Measures the instrument; takes about a millisecond.
    pub fn measure() -> Self {
        let mut empty: Vec<u64> = (0..501)
            .map(|_| {
                let mut watch = Stopwatch::new();
                watch.start();
                watch.stop();
                nanos(watch.elapsed())
            })
            .collect();
        empty.sort_unstable();
        Calibration {
            empty_ns: empty[empty.len() / 2] as f64,
            tick_ns: tick().as_nanos() as f64,
            cycle_ns: cycle(),
        }
    }
}

/// Whole nanoseconds of a duration; durations of a lab fit into 64 bits.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The smallest step above zero that the clock was seen to make.
fn tick() -> Duration {
    let mut smallest = Duration::MAX;
    for _ in 0..200 {
        let before = Instant::now();
        let step = loop {
            let step = before.elapsed();
            if !step.is_zero() {
                break step;
            }
        };
        smallest = smallest.min(step);
    }
    // Two readings cannot be closer than the clock's own declared step.
    smallest.min(
        corolab_syscalls::clock::resolution()
            .unwrap_or(smallest)
            .max(Duration::from_nanos(1)),
    )
}

/// One cycle: each addition of the chain needs the result of the one before.
fn cycle() -> Option<f64> {
    const ADDITIONS: u32 = 16 * 4_096;
    let mut best = f64::MAX;
    for _ in 0..9 {
        let mut x = black_box(1_u64);
        let mut watch = Stopwatch::new();
        watch.start();
        for _ in 0..ADDITIONS / 16 {
            x = sixteen_dependent_additions(x)?;
        }
        watch.stop();
        black_box(x);
        best = best.min(watch.elapsed().as_nanos() as f64 / f64::from(ADDITIONS));
    }
    Some(best)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn sixteen_dependent_additions(mut x: u64) -> Option<u64> {
    // SAFETY: adds to one register, which is the declared operand; touches
    // neither memory nor stack.
    unsafe {
        std::arch::asm!(
            "add {x}, {x}", "add {x}, {x}", "add {x}, {x}", "add {x}, {x}",
            "add {x}, {x}", "add {x}, {x}", "add {x}, {x}", "add {x}, {x}",
            "add {x}, {x}", "add {x}, {x}", "add {x}, {x}", "add {x}, {x}",
            "add {x}, {x}", "add {x}, {x}", "add {x}, {x}", "add {x}, {x}",
            x = inout(reg) x,
            options(nomem, nostack, pure)
        );
    }
    Some(x)
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn sixteen_dependent_additions(mut x: u64) -> Option<u64> {
    // SAFETY: adds to one register, which is the declared operand; touches
    // neither memory nor stack.
    unsafe {
        std::arch::asm!(
            "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}",
            "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}",
            "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}",
            "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}", "add {x}, {x}, {x}",
            x = inout(reg) x,
            options(nomem, nostack, pure)
        );
    }
    Some(x)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn sixteen_dependent_additions(_: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopwatch_reads_what_passed_between_start_and_stop() {
        let mut watch = Stopwatch::new();
        assert_eq!(watch.elapsed(), Duration::ZERO);
        watch.start();
        std::thread::sleep(Duration::from_millis(2));
        watch.stop();
        let read = watch.elapsed();
        std::thread::sleep(Duration::from_millis(1));
        assert!(read >= Duration::from_millis(2));
        assert_eq!(watch.elapsed(), read, "a stopped watch stands still");
    }

    #[test]
    fn around_two_windows_is_from_the_first_start_to_the_last_stop() {
        let (mut early, mut late) = (Stopwatch::new(), Stopwatch::new());
        late.started = early.started + Duration::from_millis(2);
        early.stopped = early.started + Duration::from_millis(3);
        late.stopped = early.started + Duration::from_millis(7);
        assert_eq!(early.around(late).elapsed(), Duration::from_millis(7));
        assert_eq!(late.around(early).elapsed(), Duration::from_millis(7));
    }

    #[test]
    fn the_instrument_reads_itself() {
        let it = Calibration::measure();
        assert!(it.tick_ns >= 1.0);
        assert!(it.cycle_ns.is_none_or(|cycle| cycle > 0.0));
    }
}
