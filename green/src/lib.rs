//! The stackful side of corolab: tasks that keep a stack while they wait.
//!
//! As a library it has two things for projects of any kind: a pool of stacks for
//! coroutines in [`stack`], and in [`fiber`] a coroutine that is a future, for
//! whatever scheduler runs futures; `examples/pooled_fibers.rs` shows both.
//!
//! [`stackful`] says what a contender has to offer, [`contender`] holds one
//! file for each, and [`workload`] the twins of `corolab-stackless`. To bring
//! a contender of your own, read `examples/bring_your_own.rs`.

pub mod beside;
pub mod ceiling;
pub mod contender;
pub mod fiber;
pub mod gate;
pub mod lab_scheduler;
pub mod one_slot;
pub mod route;
mod seat;
pub mod stack;
pub mod stackful;
pub mod workload;

pub use contender::CONTENDERS;
