//! What corolab compares, and the rules of the comparison.
//!
//! A [`workload`] says what is done and what the right answer is. A
//! [`contender`] does it. A [`condition`] is one workload with one contender,
//! its parameters and settings; it runs in a process of its own, the
//! [`child`], which speaks with the parent over the [`wire`]. The child times
//! batches with a [`stopwatch`] and answers with [`sample`]s.
//!
//! Nothing here knows a coroutine crate or a runtime: the two families live in
//! `corolab-green` and `corolab-stackless`. The control, a plain call, belongs
//! to neither and lives here, in [`control`].

pub mod child;
pub mod condition;
pub mod contender;
pub mod control;
pub mod crew;
pub mod crowd;
pub mod heap;
pub mod notes;
pub mod sample;
pub mod stopwatch;
pub mod tails;
pub mod thread_bound;
pub mod turns;
pub mod versions;
pub mod wire;
pub mod workload;
