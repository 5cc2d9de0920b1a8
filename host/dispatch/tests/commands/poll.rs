//! The long poll.

use std::time::Duration;

use futures::future::join_all;
use model::{
    job_state::JobStatus,
    plan::{Plan, Step},
};
use tokio::time::Instant;

use crate::{bench::Bench, world};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_new_job_wakes_one_waiter() {
    let bench = Bench::new(1).await;
    bench.running("n0").await;
    let start = Instant::now();
    let waiters: Vec<_> = (0..3)
        .map(|n| {
            let (dispatch, caller, agent) = (bench.dispatch.clone(), bench.caller.clone(), bench.world.agent.id);
            tokio::spawn(async move {
                let node = format!("n{n}");
                let got = dispatch.next(&caller, agent, &node, 5, Duration::from_secs(2)).await.expect("answers");
                (got, start.elapsed())
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let job = bench.another(|_| {}).await;
    let mut got = Vec::new();
    for (offers, after) in join_all(waiters).await.into_iter().map(|joined| joined.expect("no panic")) {
        if offers.is_empty() {
            assert!(after >= Duration::from_secs(2), "who got nothing waited to the end");
        } else {
            assert!(after < Duration::from_millis(1500), "who got it was woken: {after:?}");
            got.extend(offers);
        }
    }
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].job.job.id, job.id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_poll_holds_no_connection() {
    let bench = Bench::new(1).await;
    bench.running("n0").await;
    // More waiters than the store has connections.
    let waiters: Vec<_> = (0..40)
        .map(|n| {
            let (dispatch, caller, agent) = (bench.dispatch.clone(), bench.caller.clone(), bench.world.agent.id);
            tokio::spawn(async move {
                let node = format!("n{n}");
                dispatch.next(&caller, agent, &node, 1, Duration::from_secs(3)).await.expect("answers")
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let start = Instant::now();
    let mut tx = bench.store.read("test.read").await.expect("a connection is free");
    store::workspace::get(&mut tx, bench.world.workspace).await.expect("reads");
    assert!(start.elapsed() < Duration::from_secs(1));
    drop(tx);
    for waiter in waiters {
        waiter.abort();
    }
}

#[tokio::test]
async fn a_job_is_offered_once_its_time_has_come() {
    let bench = Bench::new(1).await;
    bench.running("n0").await;
    let job = bench.another(|job| job.available_at = job.available_at.plus_seconds(120)).await;
    bench.sweep().await;
    bench.pass(119);
    bench.sweep().await;
    assert!(bench.next("n1", 5).await.is_empty());
    let (dispatch, caller, agent) = (bench.dispatch.clone(), bench.caller.clone(), bench.world.agent.id);
    let waiter = tokio::spawn(async move { dispatch.next(&caller, agent, "n1", 5, Duration::from_secs(4)).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    bench.pass(1);
    let start = Instant::now();
    bench.sweep().await;
    let offers = waiter.await.expect("no panic").expect("answers");
    assert_eq!(offers[0].job.job.id, job.id);
    assert!(start.elapsed() < Duration::from_secs(3), "the sweep woke it");
}

#[tokio::test]
async fn a_withdrawn_job_is_not_offered() {
    let bench = Bench::new(1).await;
    let steps = vec![Step::WithdrawJob(bench.jobs[0].id, "a gate closed".into())];
    world::apply(&bench.store, bench.world.workspace, &Plan { steps, ..Plan::default() }).await;
    assert!(bench.next("n1", 5).await.is_empty());
    assert_eq!(bench.state(&bench.jobs[0]).await.status(), JobStatus::Skipped);
}
