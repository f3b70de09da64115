//! The `foreign` workload under criterion: the routes that stay in the process.

use criterion::{Criterion, criterion_group, criterion_main};

fn foreign(criterion: &mut Criterion) {
    corolab_benches::targets(criterion, "foreign");
}

criterion_group!(benches, foreign);
criterion_main!(benches);
