//! The example does what it says.

#[path = "../examples/pooled_fibers.rs"]
mod pooled_fibers;

#[test]
fn it_runs_to_its_end() {
    pooled_fibers::main().unwrap();
}
