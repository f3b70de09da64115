//! What the rows say: of published claims, and in plain words.

pub mod claims;
pub mod plain;
mod rules;
