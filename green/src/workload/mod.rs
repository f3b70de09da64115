//! The stackful twins of the workloads: each file mirrors the one of the same
//! name in `stackless/src/workload`.

pub mod create;
pub mod footprint;
pub mod foreign;
pub mod ping_pong;
pub mod spawn;
pub mod switch;
pub mod yield_now;
