//! What can only be seen in a process of its own: a stack that overflows, a
//! limit that is met, a fork. The ignored tests are the children's parts; the
//! others start them.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use corolab_green::fiber::Fiber;
use corolab_green::stack::{Config, StackError, StackPool, Stats, name_overflows};
use corolab_syscalls::process::{in_fork, signal_name};
use corosensei::Coroutine;

/// Runs an ignored test of this file alone, under a limit that the shell sets.
fn child(test: &str, limit: &str) -> Output {
    let own = std::env::current_exe().unwrap();
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{limit} exec \"$0\" --ignored --exact {test} --nocapture"
        ))
        .arg(own)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

fn ends_well(test: &str, limit: &str) {
    let output = child(test, limit);
    assert!(output.status.success(), "{}", said(&output));
}

/// Uses about 1 KiB of stack a level, and more levels than any stack has.
#[inline(never)]
fn endless(level: u64) -> u64 {
    let frame = std::hint::black_box([level; 128]);
    if level == u64::MAX {
        return 0;
    }
    endless(level + 1) + frame[(level % 128) as usize]
}

#[test]
#[ignore = "the child of an_overflow_is_named_and_kills_by_its_signal"]
fn overflows() {
    name_overflows().unwrap();
    let pool = StackPool::with(Config::default().classes([16 << 10])).unwrap();
    let _neighbour = pool.stack(1).unwrap();
    let stack = pool.stack(16 << 10).unwrap();
    Coroutine::with_stack(stack, |_: &corosensei::Yielder<(), ()>, ()| endless(0)).resume(());
}

#[test]
#[ignore = "the child of an_overflow_of_a_protected_stack_is_named_too"]
fn overflows_protected() {
    name_overflows().unwrap();
    let config = Config::default().classes([1 << 20]).protected_pages();
    let pool = StackPool::with(config).unwrap();
    let fiber = Fiber::new(pool.stack(1).unwrap(), |_| endless(0));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(fiber);
}

#[test]
#[ignore = "the child of another_fault_is_not_called_an_overflow"]
fn faults_elsewhere() {
    name_overflows().unwrap();
    let pool = StackPool::new().unwrap();
    let _stack = pool.stack(1).unwrap();
    let nowhere = std::hint::black_box(8_usize) as *const u64;
    // SAFETY: none; this child is here to fault.
    std::hint::black_box(unsafe { nowhere.read_volatile() });
}

fn dies(test: &str) -> String {
    let output = child(test, "");
    let signal = output.status.signal().map(signal_name);
    assert_eq!(signal, Some("SIGSEGV"), "{}", said(&output));
    said(&output)
}

#[test]
fn an_overflow_is_named_and_kills_by_its_signal() {
    let told = dies("overflows");
    assert!(told.contains("stack overflow in a 16 KiB stack"), "{told}");
}

#[test]
fn an_overflow_of_a_protected_stack_is_named_too() {
    let told = dies("overflows_protected");
    assert!(told.contains("stack overflow in a 1 MiB stack"), "{told}");
}

#[test]
fn another_fault_is_not_called_an_overflow() {
    let told = dies("faults_elsewhere");
    assert!(!told.contains("stack overflow"), "{told}");
}

#[test]
#[ignore = "the child of where_address_space_ends_there_is_an_error"]
fn meets_the_end_of_address_space() {
    let pool = StackPool::with(Config::default().classes([1 << 20])).unwrap();
    let mut stacks = Vec::new();
    let told = loop {
        match pool.stack(1) {
            Ok(stack) => stacks.push(stack),
            Err(why) => break why,
        }
    };
    assert!(
        matches!(told, StackError::Map { made, .. } if made >= stacks.len() && made > 100),
        "{told} after {}",
        stacks.len()
    );
    let kind = std::io::Error::from(told).kind();
    assert_eq!(kind, std::io::ErrorKind::OutOfMemory);
    drop(stacks.pop());
    assert!(pool.stack(1).is_ok(), "what came home goes out again");
}

#[test]
fn where_address_space_ends_there_is_an_error() {
    ends_well("meets_the_end_of_address_space", "ulimit -v 1000000;");
}

#[test]
#[ignore = "the child of where_mappings_end_protected_stacks_end_with_an_error"]
fn meets_the_limit_on_mappings() {
    let limit = corolab_syscalls::limits::max_map_count().unwrap();
    if limit > 200_000 {
        return; // more stacks than a test should make
    }
    let pool = StackPool::with(Config::default().protected_pages().classes([4_096])).unwrap();
    let mut stacks = Vec::new();
    let told = loop {
        match pool.stack(1) {
            Ok(stack) => stacks.push(stack),
            Err(why) => break why.to_string(),
        }
    };
    assert!(stacks.len() as u64 <= limit / 2 + 1 && stacks.len() as u64 > limit / 3);
    drop(stacks.split_off(stacks.len() / 2)); // room to say so
    assert!(
        told.contains(&format!("vm.max_map_count is {limit}")),
        "{told}"
    );
}

#[test]
fn where_mappings_end_protected_stacks_end_with_an_error() {
    ends_well("meets_the_limit_on_mappings", "");
}

#[test]
#[ignore = "the child of a_fork_gets_no_stack_but_an_error_and_can_make_its_own_pool"]
fn forks() {
    let pool = StackPool::new().unwrap();
    let out = pool.stack(1).unwrap();
    // Of a class that this thread has no cache of.
    let theirs = pool.clone();
    let others = std::thread::spawn(move || theirs.stack(1 << 20).unwrap());
    let others = others.join().unwrap();
    drop(pool.stack(1).unwrap()); // one lies idle in this thread's cache
    // SAFETY: the test's other thread waits for this one and holds no lock.
    let ended = unsafe {
        in_fork(|| {
            let refused = matches!(pool.stack(1), Err(StackError::Forked { .. }));
            let own = StackPool::new().and_then(|own| own.stack(1)).is_ok();
            let still = matches!(pool.stack(1), Err(StackError::Forked { .. }));
            drop((out, others)); // brought back to nobody
            let unknown = pool.stats() == Stats::default();
            let closed = matches!(pool.clone().close(), Err(StackError::Forked { .. }));
            u8::from(!(refused && own && still && unknown && closed))
        })
    };
    assert_eq!(ended.unwrap().code(), Some(0));
    assert!(pool.stack(1).is_ok(), "nothing has changed for the maker");
}

#[test]
fn a_fork_gets_no_stack_but_an_error_and_can_make_its_own_pool() {
    ends_well("forks", "");
}
