//! Planning work: claimed once, fenced, never lost.

use std::time::Duration;

use store::{
    Store,
    planning::{self, Claim, Mark},
};

use crate::{
    engines::{Bench, START},
    world::World,
};

async fn claim(store: &Store) -> Vec<Claim> {
    let mut tx = store.write("test.claim").await.expect("a transaction begins");
    let claims = planning::claim_due(&mut tx, 10, 30).await.expect("claims");
    tx.commit().await.expect("committed");
    claims
}

async fn finish(store: &Store, claim: &Claim, next: Option<i64>) -> bool {
    let mut tx = store.write("test.finish").await.expect("a transaction begins");
    let next = next.map(|seconds| START.plus_seconds(seconds));
    let finished = planning::finish(&mut tx, claim, next, false).await.expect("finishes");
    tx.commit().await.expect("committed");
    finished
}

async fn mark(store: &Store, world: &World, mark: Mark) {
    let mut tx = store.write("test.mark").await.expect("a transaction begins");
    planning::mark(&mut tx, world.deployment.id, mark).await.expect("marks");
    tx.commit().await.expect("committed");
}

async fn due(store: &Store) -> Option<i64> {
    let mut tx = store.read("test.due").await.expect("a transaction begins");
    planning::next_due_at(&mut tx).await.expect("reads").map(|at| at.millis_since(START) / 1000)
}

pub async fn work_is_claimed_once_and_fenced(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let claims: Vec<_> = (0..6)
        .map(|_| {
            let store = bench.store.clone();
            tokio::spawn(async move { claim(&store).await })
        })
        .collect();
    let mut got = Vec::new();
    for claimed in claims {
        got.extend(claimed.await.expect("no claimer fails"));
    }
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!(due(&bench.store).await, Some(30), "when the claim ends");
    assert!(finish(&bench.store, &got[0], Some(90)).await);
    assert!(finish(&bench.store, &got[0], Some(90)).await, "the same answer twice does no harm");
    assert_eq!(due(&bench.store).await, Some(90));
    assert!(claim(&bench.store).await.is_empty());
    bench.clock.advance(Duration::from_secs(90));
    let timer = claim(&bench.store).await;
    assert_eq!(timer.len(), 1, "a timer is due at exactly its instant");
    assert!(!finish(&bench.store, &got[0], None).await, "the former claim holds no more");
    // What only progressed is planned again, and the pass under way may finish.
    mark(&bench.store, &world, Mark::Progress).await;
    assert!(finish(&bench.store, &timer[0], None).await);
    assert_eq!(claim(&bench.store).await.len(), 1);
}

pub async fn facts_that_move_void_a_pass(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let first = claim(&bench.store).await.remove(0);
    mark(&bench.store, &world, Mark::Facts).await;
    assert!(!finish(&bench.store, &first, None).await);
    assert!(claim(&bench.store).await.is_empty(), "still claimed");
    let mut tx = bench.store.write("test.abandon").await.expect("a transaction begins");
    planning::abandon(&mut tx, &first).await.expect("abandons");
    planning::mark_workspace(&mut tx, world.workspace, Mark::Facts).await.expect("marks");
    tx.commit().await.expect("committed");
    let second = claim(&bench.store).await.remove(0);
    assert!(second.token > first.token && second.facts == first.facts + 2);
    assert!(finish(&bench.store, &second, None).await);
    assert_eq!(due(&bench.store).await, None);
}

pub async fn claims_run_out_and_take_turns(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let mut tx = bench.store.write("test.second").await.expect("a transaction begins");
    let mut other = world.deployment.clone();
    (other.id, other.name) = (world.id().into(), "api".into());
    store::deployment::insert(&mut tx, &other).await.expect("inserts");
    planning::ensure(&mut tx, world.workspace, other.id).await.expect("ensures");
    planning::ensure(&mut tx, world.workspace, other.id).await.expect("twice is once");
    tx.commit().await.expect("committed");
    let lost = claim(&bench.store).await;
    assert_eq!(lost.len(), 2);
    bench.clock.advance(Duration::from_secs(30));
    let again = claim(&bench.store).await;
    assert_eq!(again.len(), 2, "whoever had them is gone");
    assert!(!finish(&bench.store, &lost[0], None).await);
    for claim in &again {
        assert!(finish(&bench.store, claim, None).await);
        bench.clock.advance(Duration::from_secs(1));
    }
    // Both are marked again; the one that was planned longest ago comes first.
    let mut tx = bench.store.write("test.turns").await.expect("a transaction begins");
    planning::mark_workspace(&mut tx, world.workspace, Mark::Progress).await.expect("marks");
    let one = planning::claim_due(&mut tx, 1, 30).await.expect("claims");
    assert_eq!(one[0].deployment, again[0].deployment);
}
