//! A record: one folder of results, from which every view is computed.

pub mod line;
pub mod manifest;
