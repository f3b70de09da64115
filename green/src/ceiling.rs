//! The sentence for a machine that has no room for one more stack.

use std::io;

use corolab_lab::sample::Refusal;
use corolab_syscalls::limits;

use crate::stack::StackError;

/// Mappings that a stack with its own `mmap` and a protected guard page takes.
const MAPS_PER_STACK: u64 = 2;

/// "Infeasible", with the limit, the need, and how many tasks were made.
///
/// A pool's error has limit and way out in itself.
pub fn ceiling(why: &io::Error, made: u64, wanted: u64) -> Refusal {
    if why.get_ref().is_some_and(|why| why.is::<StackError>()) {
        return Refusal::infeasible(format!("{made} of {wanted} tasks made: {why}"));
    }
    let maps = match limits::max_map_count() {
        Ok(limit) => format!("vm.max_map_count is {limit}"),
        Err(_) => "vm.max_map_count is unknown".to_owned(),
    };
    let needs = wanted.saturating_mul(MAPS_PER_STACK);
    Refusal::infeasible(format!(
        "{maps}: needs about {needs} maps; {made} of {wanted} tasks made ({why}); \
         sysctl vm.max_map_count={} would make room",
        needs.saturating_add(10_000)
    ))
}
