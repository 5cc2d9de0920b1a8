//! Wake-ups, and answers that are kept.

use std::time::Duration;

use futures::FutureExt;
use store::idempotency::{self, Answered};

use crate::{
    engines::Bench,
    world::{World, apply, event, nobody},
};

pub async fn commits_wake_and_rollbacks_do_not(bench: Bench) {
    let world = World::write(&bench.store, 3).await;
    let signals = bench.store.signals();
    let (mut planning, mut events) = (signals.planning(), signals.events());
    let jobs = signals.jobs(world.agent.id);
    let mut waiters: Vec<_> = (0..5).map(|_| Box::pin(jobs.notified())).collect();
    for waiter in &mut waiters {
        waiter.as_mut().enable();
    }
    let mut tx = bench.store.write("test.dropped").await.expect("a transaction begins");
    store::plan::apply(&mut tx, world.workspace, &world.plan()).await.expect("applies");
    store::planning::mark(&mut tx, world.deployment.id, store::planning::Mark::Facts).await.expect("marks");
    drop(tx);
    assert!(!planning.has_changed().expect("open") && !events.has_changed().expect("open"));
    assert_eq!(waiters.iter_mut().filter_map(|it| it.as_mut().now_or_never()).count(), 0);

    apply(&bench.store, world.workspace, &world.plan()).await;
    let woken = waiters.iter_mut().filter_map(|it| it.as_mut().now_or_never()).count();
    assert_eq!(woken, 3, "three jobs wake three of five");
    tokio::time::timeout(Duration::from_secs(5), events.changed()).await.expect("in time").expect("open");
    let mut tx = bench.store.write("test.mark").await.expect("a transaction begins");
    store::planning::mark(&mut tx, world.deployment.id, store::planning::Mark::Facts).await.expect("marks");
    store::event::append(&mut tx, world.workspace, event("x")).await.expect("appends");
    tx.commit().await.expect("committed");
    assert!(planning.has_changed().expect("open"));
    planning.mark_unchanged();
    let mut tx = bench.store.read("test.nobody").await.expect("a transaction begins");
    assert!(store::release::get(&mut tx, world.workspace, nobody()).await.expect("reads").is_none());
}

pub async fn answers_are_kept_for_a_day(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let answer = Answered { request_hash: [4; 32], status: 201, body: "{\"id\":1}".into() };
    let mut tx = bench.store.write("test.put").await.expect("a transaction begins");
    assert!(idempotency::put(&mut tx, world.workspace, "k", &answer).await.expect("puts"));
    let other = Answered { status: 200, ..answer.clone() };
    assert!(!idempotency::put(&mut tx, world.workspace, "k", &other).await.expect("puts"));
    assert_eq!(idempotency::get(&mut tx, world.workspace, "k").await.expect("reads"), Some(answer));
    tx.commit().await.expect("committed");
    bench.clock.advance(Duration::from_secs(24 * 3600));
    let mut tx = bench.store.write("test.later").await.expect("a transaction begins");
    assert_eq!(idempotency::get(&mut tx, world.workspace, "k").await.expect("reads"), None);
    assert!(idempotency::put(&mut tx, world.workspace, "k", &other).await.expect("puts"));
}
