//! What the rows say: of published claims, and in plain words.

pub mod claims;
mod foreign;
pub mod plain;
mod rules;
pub mod words;
