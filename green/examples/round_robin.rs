//! The switch curve for a profiler: resumes coroutines round robin, with stacks
//! of their own, of a pool, or of a pool without colours.
//!
//! ```text
//! cargo build --release -p corolab-green --example round_robin
//! valgrind --tool=cachegrind --cache-sim=yes --D1=49152,12,64 --LL=1048576,16,64 \
//!     target/release/examples/round_robin coloured 1000 200
//! ```
//!
//! The difference between two counts of rounds, divided by the resumes between
//! them, is what one resume misses. With the caches of a Zen 5 as above (LL
//! stands for the second level):
//!
//! | live | own or uncoloured: L1, L2 misses | coloured: L1, L2 misses |
//! |---|---|---|
//! | 100 | 3.0, 0.0 | 0.0, 0.0 |
//! | 1,000 | 3.1, 3.0 | 3.6, 0.0 |
//! | 10,000 | 3.7, 3.0 | 3.6, 3.2 |
//! | 100,000 | 3.6, 3.6 | 3.6, 3.6 |
//!
//! Colours are worth what they are worth between a dozen tasks and the size of
//! the second level: a resume needs three lines of the stack and most of one of
//! the coroutine, so that 10,000 of them need 2.3 MB.

use std::hint::black_box;
use std::process::ExitCode;

use corolab_green::stack::{Colours, Config, StackPool};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, Yielder};

const BYTES: usize = 64 * 1024;

fn resume_all<S: Stack + 'static>(live: usize, rounds: usize, mut stack: impl FnMut() -> S) {
    let mut tasks: Vec<_> = (0..live)
        .map(|_| {
            Coroutine::with_stack(stack(), |yielder: &Yielder<(), ()>, ()| {
                let mut turns = 0_u64;
                loop {
                    yielder.suspend(());
                    turns += 1;
                    black_box(&mut turns);
                }
            })
        })
        .collect();
    for _ in 0..=rounds {
        for task in &mut tasks {
            let _: corosensei::CoroutineResult<(), ()> = task.resume(());
        }
    }
    std::mem::forget(tasks); // unwinding them is no part of the profile
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
    let (Some(kind), Some(live), Some(rounds)) = (words.first(), number(1), number(2)) else {
        eprintln!("give a kind of stack (own, coloured, uncoloured), live tasks, and rounds");
        return ExitCode::from(2);
    };
    let colours = match kind.as_str() {
        "own" => {
            resume_all(live, rounds, || {
                DefaultStack::new(BYTES).expect("a stack of its own")
            });
            return ExitCode::SUCCESS;
        }
        "uncoloured" => Colours::NONE,
        _ => Colours::LINES,
    };
    let config = Config::default().classes([BYTES]).colours(colours);
    let pool = StackPool::with(config).expect("a pool");
    resume_all(live, rounds, || {
        pool.stack(BYTES).expect("a stack of the pool")
    });
    ExitCode::SUCCESS
}
