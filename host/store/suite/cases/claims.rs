//! Claims, tokens, leases and results.

use std::{collections::BTreeSet, time::Duration};

use model::{
    id::JobId,
    job::Job,
    job_state::{FinalStatus, JobState, JobStatus, Lease, LeaseToken},
};
use store::{Store, claim, job, job_result::JobResult};

use crate::{
    engines::{Bench, START},
    world::World,
};

/// As dispatch does it.
async fn claim(store: &Store, world: &World, max: u32) -> Vec<Job> {
    let mut tx = store.write("test.claim").await.expect("a transaction begins");
    let mut jobs = claim::pick(&mut tx, world.agent.id, max).await.expect("picks");
    let targets: Vec<_> = jobs.iter().map(|job| job.target).collect();
    let tokens = claim::tokens(&mut tx, world.workspace, &targets).await.expect("takes tokens");
    for (job, token) in jobs.iter_mut().zip(tokens) {
        let lease = Lease { token, holder: "n".into(), since: tx.now(), until: tx.now().plus_seconds(30) };
        job.state = job.state.claim(lease).expect("only queued jobs are picked");
    }
    job::save_all(&mut tx, &jobs.iter().collect::<Vec<_>>()).await.expect("saves");
    tx.commit().await.expect("committed");
    jobs
}

pub async fn concurrent_claimers_get_each_job_once(bench: Bench) {
    let world = std::sync::Arc::new(World::write(&bench.store, 150).await);
    let made: BTreeSet<JobId> = world.start(&bench.store).await.iter().map(|job| job.id).collect();
    let claimers: Vec<_> = (0..8)
        .map(|_| {
            let (store, world) = (bench.store.clone(), std::sync::Arc::clone(&world));
            tokio::spawn(async move {
                let mut got = Vec::new();
                loop {
                    let jobs = claim(&store, &world, 7).await;
                    if jobs.is_empty() {
                        return got;
                    }
                    got.extend(jobs.iter().map(|job| job.id));
                }
            })
        })
        .collect();
    let mut got = Vec::new();
    for claimer in claimers {
        got.extend(claimer.await.expect("no claimer fails"));
    }
    assert_eq!(got.len(), made.len(), "none twice");
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), made);
}

pub async fn tokens_rise_per_target(bench: Bench) {
    let world = std::sync::Arc::new(World::write(&bench.store, 3).await);
    world.start(&bench.store).await;
    let takers: Vec<_> = (0..6)
        .map(|n| {
            let (store, world) = (bench.store.clone(), std::sync::Arc::clone(&world));
            tokio::spawn(async move {
                let mut all = Vec::new();
                for round in 0..5 {
                    let mut tx = store.write("test.tokens").await.expect("a transaction begins");
                    let targets = [world.key((n + round) % 3), world.key(0), world.key(0)];
                    let tokens = claim::tokens(&mut tx, world.workspace, &targets).await.expect("takes");
                    assert!(tokens[1] < tokens[2], "in the order of the targets: {tokens:?}");
                    tx.commit().await.expect("committed");
                    all.extend(targets.into_iter().zip(tokens));
                }
                all
            })
        })
        .collect();
    let mut all = Vec::new();
    for taker in takers {
        let mine = taker.await.expect("no taker fails");
        for target in 0..3 {
            let tokens: Vec<_> =
                mine.iter().filter(|(key, _)| *key == world.key(target)).map(|(_, token)| *token).collect();
            assert!(tokens.is_sorted_by(|a, b| a < b), "they rise strictly");
        }
        all.extend(mine);
    }
    let given = all.len();
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), given, "no token twice on a target");
}

pub async fn the_queue_has_an_order(bench: Bench) {
    let world = World::write(&bench.store, 4).await;
    let mut jobs: Vec<Job> = Vec::new();
    let mut plan = world.plan();
    for step in &mut plan.steps {
        if let model::plan::Step::CreateJob(job) = step {
            // In order: second (earlier), third (high), first, fourth is not yet available.
            match jobs.len() {
                1 => job.available_at = START.plus_seconds(-10),
                2 => job.priority = 5,
                3 => job.available_at = START.plus_seconds(10),
                _ => {}
            }
            jobs.push(job.clone());
        }
    }
    crate::world::apply(&bench.store, world.workspace, &plan).await;
    let mut tx = bench.store.read("test.due").await.expect("a transaction begins");
    assert!(claim::is_waiting(&mut tx, world.agent.id).await.expect("reads"));
    assert_eq!(claim::next_due_at(&mut tx, START).await.expect("reads"), Some(START.plus_seconds(10)));
    drop(tx);
    let ids = |jobs: &[Job]| jobs.iter().map(|job| job.id).collect::<Vec<_>>();
    assert_eq!(ids(&claim(&bench.store, &world, 2).await), [jobs[1].id, jobs[2].id]);
    assert_eq!(ids(&claim(&bench.store, &world, 9).await), [jobs[0].id]);
    bench.clock.advance(Duration::from_secs(10));
    let mut tx = bench.store.read("test.available").await.expect("a transaction begins");
    let available = claim::became_available(&mut tx, START).await.expect("reads");
    assert_eq!(available, [(world.agent.id, 1)]);
    drop(tx);
    assert_eq!(ids(&claim(&bench.store, &world, 9).await), [jobs[3].id]);
    assert!(claim(&bench.store, &world, 9).await.is_empty());
}

pub async fn a_job_that_ended_stays(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let mut job = world.start(&bench.store).await.remove(0);
    let mut tx = bench.store.write("test.end").await.expect("a transaction begins");
    let queued = job.clone();
    job.state = job.state.end(FinalStatus::Failed, START).expect("queued");
    job.message = "gone".into();
    job::save(&mut tx, &job).await.expect("saves");
    job::save(&mut tx, &queued).await.expect("changes nothing");
    let read = claim::lock(&mut tx, world.workspace, job.id).await.expect("reads");
    assert_eq!(read, Some(job));
}

pub async fn leases_end_after_grace(bench: Bench) {
    let world = World::write(&bench.store, 3).await;
    world.start(&bench.store).await;
    let mut jobs = claim(&bench.store, &world, 3).await;
    let mut tx = bench.store.write("test.run").await.expect("a transaction begins");
    // One offered (ends at 30), one running until 60, one running until 90.
    for (job, until) in jobs[1..].iter_mut().zip([60, 90]) {
        job.state = job.state.acknowledge(START, START.plus_seconds(until)).expect("offered");
    }
    job::save_all(&mut tx, &jobs.iter().collect::<Vec<_>>()).await.expect("saves");
    tx.commit().await.expect("committed");
    let lapsed = async |grace: i64| {
        let mut tx = bench.store.write("test.lapsed").await.expect("a transaction begins");
        let since = START.plus_seconds(grace);
        let ids: Vec<JobId> = claim::lapsed(&mut tx, since, 10).await.expect("reads").iter().map(|it| it.id).collect();
        let due = claim::next_due_at(&mut tx, since).await.expect("reads");
        // Not dropped: a rollback may still hold its locks when the next one looks.
        tx.commit().await.expect("committed");
        (ids, due)
    };
    bench.clock.advance(Duration::from_millis(29_999));
    assert_eq!(lapsed(0).await, (vec![], Some(START.plus_seconds(30))));
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(lapsed(0).await.0, [jobs[0].id], "at exactly its end it is over");
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(lapsed(0).await.0.len(), 3);
    assert_eq!(lapsed(31).await.0, [jobs[0].id], "grace: nobody's work ends before 31 + 60");
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(lapsed(31).await.0.len(), 3);
    let mut tx = bench.store.read("test.holder").await.expect("a transaction begins");
    let held = job::leased_on_target(&mut tx, jobs[1].target).await.expect("reads");
    assert_eq!(held.map(|job| job.id), Some(jobs[1].id));
}

pub async fn results_are_kept_once(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let job = world.start(&bench.store).await.remove(0);
    assert_eq!(job.state, JobState::Queued { offers: 0 });
    let mut tx = bench.store.write("test.results").await.expect("a transaction begins");
    assert!(store::job_result::insert(&mut tx, job.id, &result(1, true)).await.expect("inserts"));
    assert!(!store::job_result::insert(&mut tx, job.id, &result(1, true)).await.expect("inserts"), "the same again");
    assert!(store::job_result::insert(&mut tx, job.id, &result(2, false)).await.expect("inserts"));
    let kept = store::job_result::of_job(&mut tx, job.id).await.expect("reads");
    assert_eq!(kept, [result(1, true), result(2, false)]);
    let error = store::job_result::insert(&mut tx, job.id, &result(3, true)).await.expect_err("only one counts");
    assert!(error.is_duplicate(), "{error:?}");
}

pub fn result(n: u8, accepted: bool) -> JobResult {
    JobResult {
        token: LeaseToken(i64::from(n)),
        at: START,
        accepted,
        status: JobStatus::Completed,
        body_hash: [n; 32],
        body: "{}".into(),
    }
}
