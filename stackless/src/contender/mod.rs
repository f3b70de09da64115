//! The stackless contenders, one file each.

use corolab_lab::contender::Contender;

pub mod hand_polled;
pub mod tokio;
pub mod tokio_by_hand;

/// All contenders of this side, in the order in which reports have them.
pub const CONTENDERS: &[&Contender] = &[
    &hand_polled::CONTENDER,
    &tokio::CURRENT,
    &tokio::MULTI,
    &tokio_by_hand::CONTENDER,
];
