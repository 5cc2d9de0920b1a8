//! Plans: applied whole, once, and in as many statements for many targets as for few.

use std::collections::BTreeSet;

use model::{
    decision::Verdict,
    event::EventKind,
    job::Job,
    job_state::{JobState, JobStatus, Lease, LeaseToken},
    plan::{Plan, Step},
    release::Closed,
};
use store::{Page, decision, job, release, release_target};

use super::events::read_all;
use crate::{
    engines::{Bench, START},
    world::{World, apply, version},
};

pub async fn a_plan_is_applied_and_read_back(bench: Bench) {
    let world = World::write(&bench.store, 3).await;
    let ws = world.workspace;
    let jobs = world.start(&bench.store).await;
    let mut tx = bench.store.read("test.read").await.expect("a transaction begins");
    let snapshot = store::snapshot::load(&mut tx, ws, world.deployment.id).await.expect("reads").expect("is there");
    assert_eq!(*snapshot.deployment, world.deployment);
    assert_eq!(snapshot.job_agent.as_deref(), Some(&world.agent));
    assert_eq!(snapshot.environments.len(), 1);
    assert_eq!(snapshot.resources.iter().map(|it| (**it).clone()).collect::<Vec<_>>(), world.resources);
    assert_eq!(snapshot.policies.iter().map(|it| &**it).collect::<Vec<_>>(), [&world.policy]);
    assert_eq!(snapshot.jobs, jobs);
    assert_eq!(snapshot.decisions.len(), 3);
    let releases: BTreeSet<_> = snapshot.releases.iter().map(|release| release.id).collect();
    assert!(snapshot.targets.iter().all(|it| it.attached && it.desired.is_some_and(|id| releases.contains(&id))));
    assert_eq!((snapshot.targets.len(), releases.len()), (3, 3));

    let targets = release_target::list(&mut tx, ws, release_target::Filter::default(), Page::FIRST);
    let targets = targets.await.expect("reads");
    assert_eq!(targets.total, 3);
    let first = &targets.items[0];
    assert_eq!(first.resource_identifier, "folder-0000");
    assert_eq!((first.current.as_ref(), first.desired.as_ref().map(|it| it.tag.as_str())), (None, Some("v1")));
    let latest = first.latest_job.as_ref().expect("a job was made");
    assert_eq!((latest.id, latest.status, latest.attempt), (jobs[0].id, JobStatus::Queued, 1));
    let of_one = release_target::Filter { resource: Some(world.resources[1].id), ..Default::default() };
    assert_eq!(release_target::list(&mut tx, ws, of_one, Page::FIRST).await.expect("reads").total, 1);

    let filter = job::Filter { target: Some(world.key(2)), status: Some(JobStatus::Queued), ..Default::default() };
    let listed = job::list(&mut tx, ws, filter, Page::FIRST).await.expect("reads");
    assert_eq!((listed.total, &listed.items[0].job), (1, &jobs[2]));
    let named = job::get_named(&mut tx, ws, jobs[0].id).await.expect("reads").expect("is there");
    assert_eq!((named.deployment_name.as_str(), named.version_tag.as_str()), ("site", "v1"));
    let filter = release::Filter { version: Some(world.version.id), ..Default::default() };
    assert_eq!(release::list(&mut tx, ws, filter, Page { limit: 2, offset: 0 }).await.expect("reads").total, 3);
    let filter = decision::Filter { target: Some(world.key(1)), latest_only: true, ..Default::default() };
    assert_eq!(decision::list(&mut tx, ws, filter, Page::FIRST).await.expect("reads").total, 1);
    let events = read_all(&bench.store, ws, 3).await;
    assert!(events.len() == 3 && events.iter().all(|event| event.event.kind == EventKind::JobCreated));
}

pub async fn a_plan_applied_twice_is_harmless(bench: Bench) {
    let world = World::write(&bench.store, 4).await;
    let plan = world.plan();
    let dump = async || {
        let mut tx = bench.store.read("test.dump").await.expect("a transaction begins");
        let loaded = store::snapshot::load(&mut tx, world.workspace, world.deployment.id).await.expect("reads");
        let all = decision::list(&mut tx, world.workspace, decision::Filter::default(), Page::FIRST).await;
        format!("{loaded:?} {:?}", all.expect("reads"))
    };
    apply(&bench.store, world.workspace, &plan).await;
    let once = dump().await;
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(dump().await, once);
    // Nothing happened, so nothing more is told.
    assert_eq!(read_all(&bench.store, world.workspace, 4).await.len(), 4);
}

pub async fn a_release_has_one_unfinished_job(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let first = world.start(&bench.store).await.remove(0);
    let second = Job { id: world.id().into(), attempt: 2, ..first.clone() };
    let plan = Plan { steps: vec![Step::CreateJob(second.clone())], ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(state(&bench, &second).await, None, "the first is not done");
    let withdrawn = Step::WithdrawJob(first.id, "the window closed".into());
    let plan = Plan { steps: vec![withdrawn, Step::CreateJob(second.clone())], ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(state(&bench, &first).await.map(|state| state.status()), Some(JobStatus::Skipped));
    assert_eq!(state(&bench, &second).await, Some(JobState::Queued { offers: 0 }));
}

pub async fn jobs_are_called_off_as_they_stand(bench: Bench) {
    let world = World::write(&bench.store, 4).await;
    let mut jobs = world.start(&bench.store).await;
    let lease =
        |token| Lease { token: LeaseToken(token), holder: "n1".into(), since: START, until: START.plus_seconds(60) };
    let mut tx = bench.store.write("test.hold").await.expect("a transaction begins");
    jobs[1].state = jobs[1].state.claim(lease(1)).expect("queued");
    jobs[2].state = jobs[2].state.claim(lease(1)).expect("queued");
    jobs[2].state = jobs[2].state.acknowledge(START, START.plus_seconds(60)).expect("offered");
    job::save_all(&mut tx, &jobs.iter().collect::<Vec<_>>()).await.expect("saves");
    tx.commit().await.expect("committed");

    let steps = vec![
        Step::WithdrawJob(jobs[0].id, "a gate closed".into()),
        Step::WithdrawJob(jobs[1].id, "a gate closed".into()),
        Step::CancelJob(jobs[2].id, "superseded".into()),
        Step::CancelJob(jobs[3].id, "superseded".into()),
    ];
    let plan = Plan { steps, ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    let mut statuses = Vec::new();
    for job in &jobs {
        statuses.push(state(&bench, job).await.expect("is there"));
    }
    assert_eq!(statuses[0].status(), JobStatus::Skipped);
    assert_eq!(statuses[1], jobs[1].state, "an agent was handed it: it stays");
    let JobState::Running { cancel_requested_at: Some(START), .. } = statuses[2] else { panic!("{:?}", statuses[2]) };
    assert_eq!(statuses[3].status(), JobStatus::Cancelled);
    let kinds: Vec<EventKind> =
        read_all(&bench.store, world.workspace, 7).await[4..].iter().map(|event| event.event.kind).collect();
    assert_eq!(kinds, [EventKind::JobEnded, EventKind::JobCancelRequested, EventKind::JobEnded]);
    // Asked again, everything is as it was.
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(read_all(&bench.store, world.workspace, 7).await.len(), 7);
}

pub async fn a_later_decision_stands(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    world.start(&bench.store).await;
    let wider = {
        let mut decision = world.decision(0, Verdict::Wait(Some(START.plus_seconds(60))));
        (decision.scope.environment, decision.scope.resource) = (None, None);
        decision
    };
    let denied = world.decision(0, Verdict::Deny);
    let steps = vec![Step::RecordDecision(wider.clone()), Step::RecordDecision(denied.clone())];
    apply(&bench.store, world.workspace, &Plan { steps, ..Plan::default() }).await;
    let second = version(world.id().into(), &world.deployment, "v2", START.plus_seconds(1));
    let mut tx = bench.store.write("test.v2").await.expect("a transaction begins");
    store::version::insert(&mut tx, &second).await.expect("inserts");
    tx.commit().await.expect("committed");
    let release = world.release(0, second.id);
    let old = {
        let mut tx = bench.store.read("test.old").await.expect("a transaction begins");
        let filter = release::Filter { target: Some(world.key(0)), ..Default::default() };
        release::list(&mut tx, world.workspace, filter, Page::FIRST).await.expect("reads").items.remove(0).release
    };
    let steps = vec![
        Step::CreateRelease(release.clone()),
        Step::SetDesired(world.key(0), Some(release.id)),
        Step::SetCurrent(world.key(0), old.id),
        Step::SetDesired(world.key(1), None),
        Step::CloseRelease(old.id, Closed::Superseded),
    ];
    apply(&bench.store, world.workspace, &Plan { steps, ..Plan::default() }).await;

    let mut tx = bench.store.read("test.read").await.expect("a transaction begins");
    let filter = decision::Filter { target: Some(world.key(0)), latest_only: true, ..Default::default() };
    let latest = decision::list(&mut tx, world.workspace, filter, Page::FIRST).await.expect("reads").items;
    assert!(latest.len() == 2 && latest.contains(&wider) && latest.contains(&denied), "{latest:?}");
    let filter = decision::Filter { latest_only: false, ..filter };
    assert_eq!(decision::list(&mut tx, world.workspace, filter, Page::FIRST).await.expect("reads").total, 3);
    let snapshot = store::snapshot::load(&mut tx, world.workspace, world.deployment.id).await.expect("reads");
    let snapshot = snapshot.expect("is there");
    assert_eq!(snapshot.releases.len(), 3, "a closed one that is current is still looked at");
    let closed = snapshot.releases.iter().find(|release| release.id == old.id).expect("is there").closed;
    assert_eq!(closed, Some((Closed::Superseded, START)));
    let state = |n: usize| *snapshot.targets.iter().find(|state| state.key == world.key(n)).expect("is there");
    assert_eq!((state(0).desired, state(0).current), (Some(release.id), Some(old.id)));
    assert_eq!((state(1).desired, state(1).current), (None, None));
}

pub async fn statements_do_not_grow_with_targets(bench: Bench) {
    let few = count(&bench, 10).await;
    let many = count(&bench, 1000).await;
    assert_eq!(few, many);
    assert!(few.0 < 30 && few.1 < 20, "{few:?}");
}

/// Statements of reading a snapshot and of applying a plan over so many targets, in a tenant of their own.
async fn count(bench: &Bench, targets: usize) -> (u32, u32) {
    let world = World::write(&bench.store, targets).await;
    bench.raw.run("UPDATE workspaces SET slug = CAST(created_at AS TEXT)").await.expect("room for the next");
    let jobs = world.start(&bench.store).await;
    let mut tx = bench.store.write("test.v2").await.expect("a transaction begins");
    let second = version(world.id().into(), &world.deployment, "v2", START);
    store::version::insert(&mut tx, &second).await.expect("inserts");
    tx.commit().await.expect("committed");
    // Another tenant's ids differ: they follow the clock.
    bench.clock.advance(std::time::Duration::from_secs(1));

    let mut tx = bench.store.read("test.load").await.expect("a transaction begins");
    let snapshot = store::snapshot::load(&mut tx, world.workspace, world.deployment.id).await.expect("reads");
    let snapshot = snapshot.expect("is there");
    assert_eq!(snapshot.jobs.len(), targets);
    let read = tx.statements();
    drop(tx);
    let mut plan = world.plan_of(second.id);
    plan.steps.extend(jobs.iter().map(|job| Step::CancelJob(job.id, "superseded".into())));
    plan.steps.extend(snapshot.releases.iter().map(|release| Step::CloseRelease(release.id, Closed::Superseded)));
    let mut tx = bench.store.write("test.apply").await.expect("a transaction begins");
    store::plan::apply(&mut tx, world.workspace, &plan).await.expect("applies");
    let written = tx.statements();
    tx.commit().await.expect("committed");
    // Each target got a job called off and one made, and an event for either: the trail alone is in two pieces.
    let chunks = u32::try_from((2 * targets).div_ceil(1000) - 1).expect("small") * 2;
    (read, written - chunks)
}

async fn state(bench: &Bench, job: &Job) -> Option<JobState> {
    let mut tx = bench.store.read("test.state").await.expect("a transaction begins");
    job::get(&mut tx, job.workspace, job.id).await.expect("reads").map(|job| job.state)
}
