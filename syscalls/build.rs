//! Compiles the foreign code: calls into it are what a workload prices.

fn main() {
    println!("cargo:rerun-if-changed=src/callee/foreign.c");
    // Optimised in every profile: the callee's price is not the question.
    cc::Build::new()
        .file("src/callee/foreign.c")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .compile("corolab_foreign");
}
