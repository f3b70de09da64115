//! The `yield` workload under criterion.

use criterion::{Criterion, criterion_group, criterion_main};

fn yield_now(criterion: &mut Criterion) {
    corolab_benches::targets(criterion, "yield");
}

criterion_group!(benches, yield_now);
criterion_main!(benches);
