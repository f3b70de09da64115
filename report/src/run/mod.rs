//! Running a plan: launches outermost, blocks inside, so that drift falls on
//! everyone; within a block the baton.

pub mod baton;
pub mod child;
pub mod ending;
pub mod interrupt;
mod memory;
pub mod player;
pub mod program;
pub mod progress;
pub mod resume;
pub mod session;
