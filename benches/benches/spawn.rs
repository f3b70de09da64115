//! The `spawn` workload under criterion.

use criterion::{Criterion, criterion_group, criterion_main};

fn spawn(criterion: &mut Criterion) {
    corolab_benches::targets(criterion, "spawn");
}

criterion_group!(benches, spawn);
criterion_main!(benches);
