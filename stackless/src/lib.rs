//! The stackless side of corolab: tasks that keep a state while they wait.
//!
//! [`stackless`] says what a contender has to offer, [`contender`] holds one
//! file for each, and [`workload`] the twins of `corolab-green`. To bring a
//! contender of your own, read `examples/bring_your_own.rs`.

pub mod beside;
pub mod contender;
pub mod gate;
pub mod lab_scheduler;
pub mod one_slot;
pub mod route;
pub mod stackless;
pub mod workload;

pub use contender::CONTENDERS;
