//! The `ping_pong` workload under criterion.

use criterion::{Criterion, criterion_group, criterion_main};

fn ping_pong(criterion: &mut Criterion) {
    corolab_benches::targets(criterion, "ping_pong");
}

criterion_group!(benches, ping_pong);
criterion_main!(benches);
