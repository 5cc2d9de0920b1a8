//! The audit trail.

use std::time::Duration;

use model::{event::Event, id::WorkspaceId};
use store::Store;

use crate::{
    engines::Bench,
    world::{World, event},
};

const WRITERS: usize = 8;
const EACH: usize = 12;

pub async fn positions_rise_without_gaps(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let ws = world.workspace;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = bench.store.clone();
            tokio::spawn(async move {
                for n in 0..EACH {
                    let mut tx = store.write("test.event").await.expect("a transaction begins");
                    for part in ["a", "b"] {
                        let text = format!("{writer}-{n:02}{part}");
                        store::event::append(&mut tx, ws, event(&text)).await.expect("appends");
                    }
                    // Some are dropped: they leave no gap.
                    if n % 4 != 3 {
                        tx.commit().await.expect("committed");
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("no writer fails");
    }
    let expected = WRITERS * EACH / 4 * 3 * 2;
    let events = read_all(&bench.store, ws, expected).await;
    let positions: Vec<i64> = events.iter().map(|event| event.position).collect();
    assert_eq!(positions, (1..=i64::try_from(expected).expect("small")).collect::<Vec<_>>());
    for writer in 0..WRITERS {
        let texts: Vec<&str> = events
            .iter()
            .filter_map(|event| event.event.data["text"].as_str())
            .filter(|text| text.starts_with(&format!("{writer}-")))
            .collect();
        assert!(texts.is_sorted() && texts.len() == EACH / 4 * 3 * 2, "what one wrote stays in order: {texts:?}");
    }
    let mut tx = bench.store.read("test.after").await.expect("a transaction begins");
    let some = store::event::after(&mut tx, ws, 10, 3).await.expect("reads");
    assert_eq!(some, events[10..13]);
}

pub async fn nothing_is_told_of_a_transaction_that_is_dropped(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let mut tx = bench.store.write("test.dropped").await.expect("a transaction begins");
    store::event::append(&mut tx, world.workspace, event("gone")).await.expect("appends");
    drop(tx);
    let mut tx = bench.store.write("test.kept").await.expect("a transaction begins");
    store::event::append(&mut tx, world.workspace, event("kept")).await.expect("appends");
    tx.commit().await.expect("committed");
    let events = read_all(&bench.store, world.workspace, 1).await;
    assert_eq!((events.len(), &events[0].event), (1, &event("kept")));
}

pub async fn the_trail_is_append_only(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let jobs = world.start(&bench.store).await;
    let mut tx = bench.store.write("test.result").await.expect("a transaction begins");
    let result = super::claims::result(1, true);
    store::job_result::insert(&mut tx, jobs[0].id, &result).await.expect("inserts");
    tx.commit().await.expect("committed");
    for (sql, what) in [
        ("UPDATE events SET actor = 'system'", "events are append-only"),
        ("DELETE FROM events", "events are append-only"),
        ("UPDATE job_results SET accepted = FALSE", "job results are append-only"),
        ("DELETE FROM job_results", "job results are append-only"),
    ] {
        let error = bench.raw.run(sql).await.expect_err(sql);
        assert!(error.to_string().contains(what), "{sql}: {error}");
    }
}

/// All events, once as many as expected have their position: on PostgreSQL the sequencer gives it after the commit.
pub async fn read_all(store: &Store, workspace: WorkspaceId, expected: usize) -> Vec<Event> {
    for _ in 0..100 {
        let mut tx = store.read("test.events").await.expect("a transaction begins");
        let events = store::event::after(&mut tx, workspace, 0, 1000).await.expect("reads");
        if events.len() >= expected {
            return events;
        }
        drop(tx);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("fewer than {expected} events got a position");
}
