//! Green threads in a project of yours: a pool of stacks, and fibers on tokio.
//!
//! ```text
//! cargo run --release -p corolab-green --example pooled_fibers
//! ```
//!
//! Ten thousand fibers each wait for a timer in the middle of a plain loop of a
//! plain function, and hand their sums to a collector over tokio's channel.

use std::error::Error;
use std::time::Duration;

use corolab_green::fiber::{Cx, Fiber, SendFiber};
use corolab_green::stack::{Config, Release, StackPool, name_overflows};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::sleep;

const FIBERS: u64 = 10_000;

/// Waits in the middle of a loop; no function here is async.
fn work(cx: &Cx, number: u64) -> u64 {
    let mut sum = 0;
    for step in 0..3 {
        cx.wait(sleep(Duration::from_millis(step)));
        sum += number * step;
    }
    sum
}

/// A fiber that any worker may run.
fn spawnable<T, F>(pool: &StackPool, body: F) -> Result<SendFiber<T>, Box<dyn Error>>
where
    T: Send + 'static,
    F: FnOnce(&Cx) -> T + Send + 'static,
{
    let fiber = Fiber::new(pool.stack(16 * 1024)?, body);
    // SAFETY: what the bodies in this file hold while they wait (numbers,
    // channels, a `&Cx`) is bound to no thread, and none keeps the address of a
    // thread-local.
    Ok(unsafe { fiber.into_send() })
}

/// Runs the whole of it.
///
/// # Errors
/// No runtime, no stack, or stacks that are still out at the end.
pub fn main() -> Result<(), Box<dyn Error>> {
    // The program's choice: a stack that overflows says so before it kills.
    name_overflows()?;
    // Idle stacks give back all but their first page.
    let keep_one_page = Release::DontNeed { kept: 4_096 };
    let pool = StackPool::with(Config::default().release(keep_one_page))?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()?;

    let (sender, mut receiver) = mpsc::channel(64);
    let collector = runtime.spawn(spawnable(&pool, move |cx| {
        let mut total = 0;
        while let Some(sum) = cx.wait(receiver.recv()) {
            total += sum;
        }
        total
    })?);
    for number in 1..=FIBERS {
        let sender = sender.clone();
        drop(runtime.spawn(spawnable(&pool, move |cx| {
            let sum = work(cx, number);
            cx.wait(sender.send(sum))
                .expect("the collector waits for everybody");
        })?));
    }
    drop(sender);
    let total = runtime.block_on(collector)?;
    assert_eq!(total, 3 * FIBERS * (FIBERS + 1) / 2);

    let stats = pool.stats();
    println!(
        "{FIBERS} fibers came to {total}; {} stacks were made, in {} mappings, with {}",
        stats.made,
        stats.mappings,
        pool.guard().name()
    );
    drop(runtime); // its threads end, and bring their idle stacks home
    Ok(pool.close()?)
}
