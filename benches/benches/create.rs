//! The `create` workload under criterion.

use criterion::{Criterion, criterion_group, criterion_main};

fn create(criterion: &mut Criterion) {
    corolab_benches::targets(criterion, "create");
}

criterion_group!(benches, create);
criterion_main!(benches);
