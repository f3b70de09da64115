//! `corolab`: stackful green threads or stackless futures? Measured.
//!
//! Data flows one way: plan -> run -> record -> stats -> verdict -> render.

mod record;
mod summary;

fn main() {}
