//! The stackful contenders and the kernel thread, one file each.

use corolab_lab::contender::Contender;

pub mod corosensei;
pub mod corosensei_by_hand;
pub mod corosensei_on_tokio;
pub mod corosensei_pooled;
pub mod generator;
pub mod may;
pub mod os_thread;

/// All contenders of this side, in the order in which reports have them.
pub const CONTENDERS: &[&Contender] = &[
    &corosensei::CONTENDER,
    &corosensei_pooled::CONTENDER,
    &corosensei_on_tokio::CURRENT,
    &corosensei_on_tokio::MULTI,
    &corosensei_by_hand::CONTENDER,
    &generator::CONTENDER,
    &may::CONTENDER,
    &os_thread::CONTENDER,
];
