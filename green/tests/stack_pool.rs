//! The stack pool: what it promises of a stack, of its memory and of its end.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

use corolab_green::stack::{Colours, Config, Guard, PooledStack, Release, StackError, StackPool};
use corosensei::stack::{STACK_ALIGNMENT, Stack};
use corosensei::{Coroutine, Yielder};
use proptest::prelude::*;

const KIB: usize = 1 << 10;

/// A pool of one class whose threads keep nothing to themselves.
fn plain(usable: usize) -> Config {
    Config::default().classes([usable]).cached(0)
}

/// The word `below` bytes under a stack's base.
fn word(stack: &PooledStack, below: usize) -> *mut u64 {
    assert!(below >= 8 && below <= stack.usable());
    (stack.base().get() - below) as *mut u64
}

fn write(stack: &PooledStack, below: usize, value: u64) {
    // SAFETY: the word lies within the stack, which this test owns.
    unsafe { word(stack, below).write(value) }
}

fn read(stack: &PooledStack, below: usize) -> u64 {
    // SAFETY: as in `write`; memory of a mapping is never uninitialised.
    unsafe { word(stack, below).read() }
}

#[test]
fn a_stack_is_never_smaller_than_asked_and_no_other_s() {
    let pool = StackPool::new().unwrap();
    let asked = [1, 4_096, 4_097, 10_000, 64 * KIB, 1 << 20];
    let stacks: Vec<_> = (0..300)
        .map(|nth| (asked[nth % asked.len()], nth as u64))
        .map(|(bytes, nth)| (pool.stack(bytes).unwrap(), bytes, nth))
        .collect();
    for (stack, bytes, nth) in &stacks {
        assert!(stack.usable() >= *bytes, "{stack:?} for {bytes} B");
        assert_eq!(stack.base().get() % STACK_ALIGNMENT, 0);
        let whole = stack.base().get() - stack.limit().get();
        assert_eq!(whole - stack.usable(), 4_096, "the guard lies within");
        write(stack, 8, *nth);
        write(stack, stack.usable(), *nth); // its last usable word
    }
    for (stack, _, nth) in &stacks {
        assert_eq!((read(stack, 8), read(stack, stack.usable())), (*nth, *nth));
    }
    assert_eq!(pool.stats().out, 300);
}

#[test]
fn tops_lie_apart_by_lines_and_usable_bytes_are_net_of_it() {
    let pool = StackPool::with(plain(16 * KIB)).unwrap();
    let stacks: Vec<_> = (0..112).map(|_| pool.stack(16 * KIB).unwrap()).collect();
    let places: BTreeSet<_> = stacks.iter().map(|s| s.base().get() % 4_096).collect();
    assert_eq!(places.len(), 56);
    assert!(places.iter().all(|place| place % 64 == 0));
    assert!(stacks.iter().all(|stack| stack.usable() >= 16 * KIB));
    let flat = StackPool::with(plain(16 * KIB).colours(Colours::NONE)).unwrap();
    let stack = flat.stack(1).unwrap();
    assert_eq!(stack.base().get() % 4_096, 0);
    assert!(stack.usable() >= 16 * KIB);
}

/// Unwinding runs on the stack itself and takes more than the smallest class
/// has; every colour has to leave room for it.
#[test]
fn a_suspended_coroutine_on_the_smallest_stack_can_be_dropped() {
    let pool = StackPool::with(plain(4_096)).unwrap();
    let dropped = Rc::new(Cell::new(0));
    let mut suspended = Vec::new();
    for _ in 0..112 {
        let dropped = dropped.clone();
        let body = move |yielder: &Yielder<(), ()>, ()| {
            let _counts = Counts(dropped);
            yielder.suspend(());
        };
        let mut coroutine = Coroutine::with_stack(pool.stack(4_096).unwrap(), body);
        coroutine.resume(());
        suspended.push(coroutine);
    }
    drop(suspended);
    assert_eq!((dropped.get(), pool.stats().out), (112, 0));
}

/// Counts how often it is dropped.
struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_stack_that_came_home_is_the_next_to_go_out() {
    for cached in [0, 8] {
        let pool = StackPool::with(plain(64 * KIB).cached(cached)).unwrap();
        let first = pool.stack(1).unwrap();
        let base = first.base();
        drop(first);
        assert_eq!(pool.stack(1).unwrap().base(), base);
    }
}

#[test]
fn ten_thousand_stacks_take_a_handful_of_mappings() {
    let pool = StackPool::with(plain(64 * KIB)).unwrap();
    assert_eq!(
        pool.stats().mappings,
        0,
        "nothing is mapped before it is asked for"
    );
    let stacks: Vec<_> = (0..10_000).map(|_| pool.stack(1).unwrap()).collect();
    let stats = pool.stats();
    assert_eq!((stats.out, stats.made), (10_000, 10_000));
    assert!(stats.mappings <= 12, "{stats:?}");
    drop(stacks);
    assert_eq!((pool.stats().out, pool.stats().made), (0, 10_000));
}

#[test]
fn released_memory_is_gone_below_the_mark_and_stays_above_it() {
    let written = |release| {
        let pool = StackPool::with(plain(64 * KIB).release(release)).unwrap();
        let stack = pool.stack(1).unwrap();
        for below in [64, 8 * KIB, 60 * KIB] {
            write(&stack, below, 7);
        }
        drop(stack);
        let again = pool.stack(1).unwrap();
        [64, 8 * KIB, 60 * KIB].map(|below| read(&again, below))
    };
    assert_eq!(written(Release::Keep), [7, 7, 7]);
    assert_eq!(written(Release::DontNeed { kept: 16 * KIB }), [7, 7, 0]);
    assert_eq!(written(Release::DontNeed { kept: 4 * KIB }), [7, 0, 0]);
    assert_eq!(written(Release::DontNeed { kept: 0 }), [0, 0, 0]);
    // The kernel takes these when it likes; the top stays in any case.
    assert_eq!(written(Release::Free { kept: 16 * KIB })[0], 7);
}

#[test]
fn what_cannot_be_had_is_an_error_with_numbers() {
    let pool = StackPool::new().unwrap();
    let told = |asked| pool.stack(asked).unwrap_err().to_string();
    assert!(told(0).contains("smallest class of this pool has 4096 B"));
    for absurd in [(8 << 20) + 1, usize::MAX / 2, usize::MAX] {
        assert!(told(absurd).contains("8388608"), "{}", told(absurd));
    }
    let made = |classes: &[usize]| StackPool::with(Config::default().classes(classes)).map(drop);
    for wrong in [&[][..], &[0], &[4_096, usize::MAX], &[isize::MAX as usize]] {
        assert!(
            matches!(made(wrong), Err(StackError::Classes { .. })),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_class_beyond_the_address_space_is_an_error_and_leaves_the_others() {
    let config = Config::default().classes([16 * KIB, 1 << 60]);
    let pool = StackPool::with(config).unwrap();
    let told = pool.stack(1 << 59).unwrap_err();
    assert!(matches!(told, StackError::Map { made: 0, .. }), "{told}");
    assert!(told.to_string().contains("ulimit -v"), "{told}");
    assert!(pool.stack(16 * KIB).is_ok());
}

#[test]
fn both_guards_can_be_asked_for_and_are_told() {
    let guard = |config| StackPool::with(config).map(|pool| pool.guard());
    let protected = guard(plain(4_096).protected_pages());
    assert_eq!(protected.unwrap(), Guard::Protected);
    let regions = guard(plain(4_096).guard_regions());
    assert!(matches!(
        regions,
        Ok(Guard::Region) | Err(StackError::NoGuardRegions { .. })
    ));
    let best = StackPool::new().unwrap().guard();
    assert_eq!(best == Guard::Region, regions.is_ok());
}

#[test]
fn closing_says_what_is_out_and_what_is_out_stays_usable() {
    let pool = StackPool::with(plain(16 * KIB).cached(4)).unwrap();
    let (one, two) = (pool.stack(1).unwrap(), pool.stack(1).unwrap());
    let other = pool.clone();
    let told = pool.close().unwrap_err();
    assert!(
        matches!(told, StackError::StillOut { out: 2, idle: 0 }),
        "{told}"
    );
    assert!(matches!(other.stack(1), Err(StackError::Closed)));
    write(&one, 64, 7);
    assert_eq!(read(&one, 64), 7);
    drop((one, two));
    assert_eq!(other.stats().mappings, 0, "all memory is gone");
    assert!(other.close().is_ok());
}

#[test]
fn a_pool_may_go_before_its_stacks() {
    let stack = StackPool::new().unwrap().stack(1).unwrap();
    write(&stack, 64, 7);
    assert_eq!(read(&stack, 64), 7);
    thread::spawn(move || drop(stack)).join().unwrap();
}

#[test]
fn idle_stacks_of_a_thread_come_home_when_it_ends() {
    let pool = StackPool::with(Config::default().classes([4_096])).unwrap();
    let theirs = pool.clone();
    let cached = thread::spawn(move || {
        drop((theirs.stack(1).unwrap(), theirs.stack(1).unwrap()));
        theirs.stats().cached
    });
    assert!(cached.join().unwrap() >= 2);
    let stats = pool.stats();
    assert_eq!((stats.out, stats.cached), (0, 0));
}

#[test]
fn a_thread_that_ends_last_holds_up_nobody() {
    let pool = StackPool::with(Config::default().classes([4_096])).unwrap();
    let (theirs, watched) = (pool.clone(), pool.clone());
    let (hold, held) = mpsc::channel::<()>();
    let (ready, is_ready) = mpsc::channel();
    let thread = thread::spawn(move || {
        drop(theirs.stack(1).unwrap());
        drop(theirs);
        ready.send(()).unwrap();
        held.recv().unwrap_err(); // until the test lets go
    });
    is_ready.recv().unwrap();
    let told = pool.close().unwrap_err();
    assert!(
        matches!(told, StackError::StillOut { out: 0, idle: 16 }),
        "{told}"
    );
    drop(hold);
    thread.join().unwrap();
    assert_eq!(watched.stats().mappings, 0);
}

/// Stacks go from thread to thread while all of them take and return: nobody
/// ever has another's, and none is lost.
#[test]
fn sixteen_threads_pass_stacks_around_and_none_is_lost_or_shared() {
    for (cached, release) in [
        (0, Release::Keep),
        (1, Release::DontNeed { kept: 0 }),
        (8, Release::DontNeed { kept: 512 }),
        (32, Release::Keep),
    ] {
        let config = Config::default()
            .classes([4_096, 8_192])
            .cached(cached)
            .release(release);
        let pool = StackPool::with(config).unwrap();
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..16)
            .map(|_| mpsc::channel::<(PooledStack, u64)>())
            .unzip();
        let threads: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(own, receiver)| {
                let (pool, next) = (pool.clone(), senders[(own + 1) % 16].clone());
                thread::spawn(move || {
                    let mut rng = fastrand::Rng::with_seed(own as u64);
                    let mut held: Vec<(PooledStack, u64)> = Vec::new();
                    for step in 0..3_000_u64 {
                        let mark = (own as u64) << 32 | step;
                        let stack = pool.stack(1 + rng.usize(..8_192)).unwrap();
                        write(&stack, 64, mark);
                        write(&stack, stack.usable(), mark);
                        held.push((stack, mark));
                        held.extend(receiver.try_iter());
                        while held.len() > 40 || (rng.bool() && !held.is_empty()) {
                            let (stack, mark) = held.swap_remove(rng.usize(..held.len()));
                            assert_eq!(read(&stack, 64), mark);
                            assert_eq!(read(&stack, stack.usable()), mark);
                            if rng.bool() {
                                let _ = next.send((stack, mark)); // or home, if it has ended
                            }
                        }
                    }
                })
            })
            .collect();
        drop(senders);
        for thread in threads {
            thread.join().unwrap();
        }
        let stats = pool.stats();
        assert_eq!((stats.out, stats.cached), (0, 0), "cached={cached}");
        pool.close().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any classes, colours and caches: what is asked for is had, nothing
    /// overlaps, and everything comes home.
    #[test]
    fn any_make_of_pool_keeps_its_promises(
        classes in prop::collection::vec(1_usize..200_000, 1..4),
        colours in 1_usize..=64,
        cached in 0_usize..5,
        asked in prop::collection::vec(1_usize..200_000, 1..40),
    ) {
        let config = Config::default()
            .classes(classes.clone())
            .colours(Colours::new(64, colours).unwrap())
            .cached(cached);
        let pool = StackPool::with(config).unwrap();
        let largest = classes.iter().max().unwrap().next_multiple_of(4_096);
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut stacks = Vec::new();
        for bytes in asked {
            match pool.stack(bytes) {
                Ok(stack) => {
                    prop_assert!(stack.usable() >= bytes);
                    let range = (stack.limit().get(), stack.base().get());
                    prop_assert!(taken.iter().all(|(low, high)| range.1 <= *low || range.0 >= *high));
                    taken.push(range);
                    stacks.push(stack);
                }
                Err(StackError::TooLarge { .. }) => prop_assert!(bytes > largest),
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            }
        }
        prop_assert_eq!(pool.stats().out, stacks.len());
        drop(stacks);
        prop_assert_eq!(pool.stats().out, 0);
        prop_assert!(pool.close().is_ok());
    }
}
