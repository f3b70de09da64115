//! What a caller opens it closes, and where descriptors run out is told. In a
//! process of its own, which has one table of descriptors.

use std::fs;

use corolab_benches::{assignment, contenders};
use corolab_lab::child::Alone;
use corolab_lab::condition::Params;
use corolab_lab::contender::{Assignment, Contender};
use corolab_lab::sample::Status;
use corolab_lab::workload;
use corolab_syscalls::limits;

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn callers(contender: &Contender, callee: &str, callers: u64) -> Assignment {
    let foreign = workload::find("foreign").unwrap();
    let block = Params::new()
        .with("callee", callee)
        .with("callers", callers);
    assignment(contender, foreign.name, foreign.complete(&block, &[]))
}

#[test]
fn descriptors_that_run_out_are_named_and_none_is_leaked() {
    let usual = limits::open_files().unwrap();
    let hosts: Vec<_> = contenders()
        .filter(|host| {
            ["tokio-current", "corosensei-on-tokio-current", "os-thread"].contains(&host.name)
        })
        .collect();
    assert_eq!(hosts.len(), 3);
    for host in hosts {
        for callee in ["pipe1", "read4k"] {
            let one_batch = &mut Alone {
                batches: 1,
                rounds: 2,
            };
            let before = open_descriptors();
            let few = callers(host, callee, 4);
            let measure = host.measure_of(&few.condition).unwrap();
            measure(&few, one_batch).unwrap();
            assert_eq!(open_descriptors(), before, "{} {callee}", host.name);

            limits::allow_open_files(before as u64 + 40).unwrap();
            let many = callers(host, callee, 200);
            let refused = measure(&many, one_batch).unwrap_err();
            limits::allow_open_files(usual).unwrap();
            assert_eq!(refused.status, Status::Infeasible, "{refused}");
            assert!(
                refused
                    .reason
                    .contains("of 200 callers have their descriptors"),
                "{refused}"
            );
            assert!(refused.reason.contains("ulimit -n"), "{refused}");
            assert_eq!(open_descriptors(), before, "{} {callee}", host.name);
        }
    }
}
