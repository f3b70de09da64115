//! The `switch` workload under criterion.

use criterion::{Criterion, criterion_group, criterion_main};

fn switch(criterion: &mut Criterion) {
    corolab_benches::targets(criterion, "switch");
}

criterion_group!(benches, switch);
criterion_main!(benches);
