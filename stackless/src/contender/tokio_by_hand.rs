//! The scheduled workloads written by hand on tokio, with none of our traits:
//! what the rows of `tokio-current` cost more than these is the cost of our
//! abstraction.

use std::sync::Arc;

use corolab_lab::child::Turns;
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Assignment, Contender, Family, Offer, admits_one_worker};
use corolab_lab::sample::{Batch, Refusal, Status};
use corolab_lab::stopwatch::Stopwatch;
use corolab_lab::versions;
use corolab_lab::workload::{Gates, ping_pong, spawn, yield_now};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task;

use crate::gate;
use crate::stackless::self_wake;

fn runtime() -> Result<Runtime, Refusal> {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|why| Refusal::new(Status::NotSupported, format!("no tokio runtime: {why}")))
}

fn yield_now(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = yield_now::Case::of(assignment)?;
    let runtime = runtime()?;
    turns.serve(case.tasks, &|rounds| case.answer(rounds), &mut |rounds| {
        let root = runtime.spawn(async move {
            let gates = Arc::new(Gates::new(case.tasks, case.tasks));
            let mut tasks = Vec::new();
            for number in 1..=case.tasks {
                let gates = gates.clone();
                tasks.push(task::spawn(async move {
                    gate::enter(&gates.start).await;
                    let mut yields = 0;
                    if case.self_wake {
                        for _ in 0..rounds {
                            self_wake().await;
                            yields += 1;
                        }
                    } else {
                        for _ in 0..rounds {
                            task::yield_now().await;
                            yields += 1;
                        }
                    }
                    gate::enter(&gates.finish).await;
                    number * yields
                }));
            }
            gate::gather(&gates.start).await;
            let mut watch = Stopwatch::new();
            let mut answer = 0;
            watch.start();
            gate::open(&gates.start);
            gate::gather(&gates.finish).await;
            watch.stop();
            gate::open(&gates.finish);
            for task in tasks {
                answer += task.await.unwrap();
            }
            Batch::new(watch, answer)
        });
        runtime
            .block_on(root)
            .map_err(|why| Refusal::failed(why.to_string()))
    })
}

fn ping_pong(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = ping_pong::Case::of(assignment)?;
    let runtime = runtime()?;
    turns.serve(case.pairs, &|rounds| case.answer(rounds), &mut |rounds| {
        let root = runtime.spawn(async move {
            let gates = Arc::new(Gates::new(case.pairs, 2 * case.pairs));
            let mut tasks = Vec::new();
            for _ in 0..case.pairs {
                let (to_far, mut from_near) = mpsc::channel(1);
                let (to_near, mut from_far) = mpsc::channel(1);
                let at_far = gates.clone();
                let gates = gates.clone();
                tasks.push(task::spawn(async move {
                    gate::enter(&gates.start).await;
                    let mut sum = 0;
                    for ball in 0..rounds {
                        to_far.send(ball).await.unwrap();
                        sum += from_far.recv().await.unwrap();
                    }
                    gate::enter(&gates.finish).await;
                    sum
                }));
                tasks.push(task::spawn(async move {
                    for _ in 0..rounds {
                        let ball: u64 = from_near.recv().await.unwrap();
                        to_near.send(ball + 1).await.unwrap();
                    }
                    gate::enter(&at_far.finish).await;
                    0
                }));
            }
            gate::gather(&gates.start).await;
            let mut watch = Stopwatch::new();
            let mut answer = 0;
            watch.start();
            gate::open(&gates.start);
            gate::gather(&gates.finish).await;
            watch.stop();
            gate::open(&gates.finish);
            for task in tasks {
                answer += task.await.unwrap();
            }
            Batch::new(watch, answer)
        });
        runtime
            .block_on(root)
            .map_err(|why| Refusal::failed(why.to_string()))
    })
}

fn spawn(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    let case = spawn::Case::of(assignment)?;
    let runtime = runtime()?;
    turns.serve(case.batch, &|rounds| case.answer(rounds), &mut |rounds| {
        let root = runtime.spawn(async move {
            let mut tasks = Vec::new();
            let mut watch = Stopwatch::new();
            let mut answer = 0;
            watch.start();
            for _ in 0..rounds {
                for number in 1..=case.batch {
                    tasks.push(task::spawn(async move { number }));
                }
                for task in tasks.drain(..) {
                    answer += task.await.unwrap();
                }
            }
            watch.stop();
            Batch::new(watch, answer)
        });
        runtime
            .block_on(root)
            .map_err(|why| Refusal::failed(why.to_string()))
    })
}

fn admits(condition: &Condition) -> Result<(), Refusal> {
    admits_one_worker(condition)?;
    ping_pong::one_kind_of_channel(&condition.params)
}

/// tokio without our traits.
pub const CONTENDER: Contender = Contender {
    name: "tokio-by-hand",
    family: Family::Stackless,
    package: "tokio",
    version: versions::of("tokio"),
    about: "The scheduled workloads written by hand on tokio's current-thread scheduler, to price \
            our own traits.",
    prices: Some("tokio-current"),
    maps_per_task: 0,
    offers: &[
        Offer::not_applicable("switch", "tokio polls futures only as tasks"),
        Offer::not_applicable("create", "tokio polls futures only as tasks"),
        Offer::measured("yield", yield_now),
        Offer::measured("ping_pong", ping_pong),
        Offer::measured("spawn", spawn),
        Offer::not_applicable("footprint", "it prices time; tokio-current has this row"),
        Offer::not_applicable(
            "foreign",
            "the direct loop is one for everybody; tokio-current has it",
        ),
    ],
    admits,
};
