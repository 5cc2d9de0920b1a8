//! Verification: what is wanted, taken and settled; places in rollouts; what other deployments run.

use std::{collections::BTreeSet, time::Duration};

use model::{
    event::{Actor, EventKind, NewEvent},
    id::JobId,
    job::Job,
    job_state::{FinalStatus, JobState},
    plan::{Plan, Step},
    plugin::{Digest, FactKinds, Hooks, Manifest, Plugin, Scope},
    release::RolloutPlace,
    verification::{Measurement, Verified},
};
use serde_json::json;
use store::{
    job, measurement,
    planning::{self, Mark},
};

use super::{events::read_all, people::snapshot};
use crate::{
    engines::{Bench, START},
    world::{World, apply},
};

fn wanted(world: &World, job: JobId, metric: &str, due_in: i64) -> Measurement {
    Measurement {
        id: world.id().into(),
        workspace: world.workspace,
        job,
        rule: world.policy.rules[0].id,
        metric: metric.into(),
        due_at: START.plus_seconds(due_in),
        taken: None,
    }
}

async fn end(bench: &Bench, job: &mut Job, status: FinalStatus) {
    job.state = JobState::Ended { status, started_at: Some(START), ended_at: START, token: None };
    let mut tx = bench.store.write("test.end").await.expect("a transaction begins");
    job::save(&mut tx, job).await.expect("saves");
    tx.commit().await.expect("committed");
}

pub async fn measurements_are_wanted_claimed_and_taken_once(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let job = world.start(&bench.store).await.remove(0);
    let measuring = bench.store.signals().measuring();
    let (now, later) = (wanted(&world, job.id, "errors", 0), wanted(&world, job.id, "latency", 30));
    let again = wanted(&world, job.id, "errors", 5);
    let steps = vec![Step::Measure(later.clone()), Step::Measure(now.clone()), Step::Measure(again.clone())];
    apply(&bench.store, world.workspace, &Plan { steps, ..Plan::default() }).await;
    assert!(measuring.has_changed().expect("open"), "whoever measures is woken");
    assert_eq!(snapshot(&bench, &world).await.measurements, [now.clone(), later.clone()], "one of each metric");

    let mut tx = bench.store.write("test.claim").await.expect("a transaction begins");
    let claimed = measurement::claim_due(&mut tx, START.plus_seconds(10), 5).await.expect("claims");
    assert_eq!(claimed, std::slice::from_ref(&now));
    assert!(measurement::claim_due(&mut tx, START.plus_seconds(10), 5).await.expect("claims").is_empty());
    assert_eq!(measurement::next_due_at(&mut tx).await.expect("reads"), Some(START.plus_seconds(10)));
    tx.commit().await.expect("committed");
    bench.clock.advance(Duration::from_secs(10));
    let mut tx = bench.store.write("test.take").await.expect("a transaction begins");
    let claimed = measurement::claim_due(&mut tx, START.plus_seconds(20), 5).await.expect("claims");
    assert_eq!(claimed.len(), 1, "whoever had it is gone");
    assert_eq!(measurement::wanted(&mut tx, job.id, "errors").await.expect("reads"), claimed);
    assert!(measurement::take(&mut tx, now.id, &Ok(json!({"rate": 0.5}))).await.expect("takes"));
    assert!(!measurement::take(&mut tx, now.id, &Err("late".into())).await.expect("takes"), "taken once");
    measurement::postpone(&mut tx, now.id, START).await.expect("postpones");
    measurement::postpone(&mut tx, later.id, START.plus_seconds(90)).await.expect("postpones");
    assert_eq!(measurement::next_due_at(&mut tx).await.expect("reads"), Some(START.plus_seconds(90)));
    assert!(measurement::insert(&mut tx, &again).await.expect("inserts"), "the next look at it may be wanted now");
    let of_job = measurement::of_job(&mut tx, world.workspace, job.id).await.expect("reads");
    let taken = Measurement { taken: Some((START.plus_seconds(10), Ok(json!({"rate": 0.5})))), ..now };
    assert_eq!(of_job, [taken, again, later]);
    let unseen = Measurement {
        id: world.id().into(),
        taken: Some((START.plus_seconds(9), Err("no answer".into()))),
        ..of_job[1].clone()
    };
    assert!(measurement::insert(&mut tx, &unseen).await.expect("inserts"), "what is taken is beside what is wanted");
    let of_job = measurement::of_job(&mut tx, world.workspace, job.id).await.expect("reads");
    assert!(of_job.contains(&unseen), "{of_job:?}");
}

pub async fn verification_is_settled_once(bench: Bench) {
    let world = World::write(&bench.store, 3).await;
    let mut jobs = world.start(&bench.store).await;
    let (mut well, mut failed, running) = (jobs.remove(0), jobs.remove(0), jobs.remove(0));
    well.message = "deployed".into();
    end(&bench, &mut well, FinalStatus::Completed).await;
    failed.message = "exit code 1".into();
    end(&bench, &mut failed, FinalStatus::Failed).await;
    let told = |job: &Job, kind| NewEvent { kind, actor: Actor::System, subject: job.subject(), data: json!({}) };
    let settle = |verified| Plan {
        steps: vec![
            Step::Measure(wanted(&world, well.id, "errors", 0)),
            Step::SettleVerification(well.id, verified, "3 of 3 looks are well".into()),
            Step::SettleVerification(failed.id, Verified::NotAsked, String::new()),
            Step::SettleVerification(running.id, Verified::Passed, "too early".into()),
        ],
        events: vec![
            told(&well, EventKind::VerificationPassed),
            told(&running, EventKind::VerificationPassed),
            told(&well, EventKind::VerificationFailed),
        ],
        ..Plan::default()
    };
    let first = wanted(&world, well.id, "errors", 0);
    let plan = Plan { steps: vec![Step::Measure(first)], ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(snapshot(&bench, &world).await.measurements.len(), 1);
    apply(&bench.store, world.workspace, &settle(Verified::Passed)).await;
    apply(&bench.store, world.workspace, &settle(Verified::Failed)).await;
    let read = snapshot(&bench, &world).await;
    let now = |job: &Job| {
        let found = read.jobs.iter().find(|found| found.id == job.id).expect("is there");
        (found.verified, found.message.as_str())
    };
    assert_eq!(now(&well), (Some(Verified::Passed), "3 of 3 looks are well"));
    assert_eq!(now(&failed), (Some(Verified::NotAsked), "exit code 1"));
    assert_eq!(now(&running), (None, ""), "it has not ended");
    assert!(read.measurements.is_empty(), "what is settled is looked at no more");
    let kinds: BTreeSet<EventKind> =
        read_all(&bench.store, world.workspace, 5).await[3..].iter().map(|event| event.event.kind).collect();
    assert_eq!(kinds, BTreeSet::from([EventKind::VerificationPassed, EventKind::VerificationFailed]));
    let mut tx = bench.store.read("test.good").await.expect("a transaction begins");
    let good = job::good_versions(&mut tx, well.target).await.expect("reads");
    assert_eq!(good, [world.version.id]);
    assert!(job::good_versions(&mut tx, failed.target).await.expect("reads").is_empty());
    let begun = job::last_begun(&mut tx, failed.target).await.expect("reads").expect("it began");
    assert_eq!((begun.id, begun.verified), (failed.id, Some(Verified::NotAsked)));
    assert_eq!(job::last_begun(&mut tx, running.target).await.expect("reads"), None, "nobody has it");
    assert_eq!(job::unfinished(&mut tx, running.release).await.expect("reads"), [running.id]);
    assert!(job::unfinished(&mut tx, well.release).await.expect("reads").is_empty());
}

pub async fn a_place_in_a_rollout_never_moves(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    let mut plan = world.plan();
    let release = |n: usize| {
        let steps = plan.steps.iter();
        let mut releases = steps.filter_map(|step| match step {
            Step::CreateRelease(release) => Some(release.id),
            _ => None,
        });
        releases.nth(n).expect("is there")
    };
    let (first, second) = (release(0), release(1));
    let place = |index, total, started_at| RolloutPlace { index, total, started_at };
    plan.steps.push(Step::PlaceInRollout(first, place(0, 2, Some(START))));
    plan.steps.push(Step::PlaceInRollout(second, place(1, 2, None)));
    apply(&bench.store, world.workspace, &plan).await;
    let steps = vec![
        Step::PlaceInRollout(first, place(5, 6, Some(START.plus_seconds(9)))),
        Step::PlaceInRollout(second, place(7, 8, Some(START.plus_seconds(9)))),
    ];
    apply(&bench.store, world.workspace, &Plan { steps, ..Plan::default() }).await;
    let read = snapshot(&bench, &world).await;
    let of = |id| read.releases.iter().find(|release| release.id == id).expect("is there").rollout;
    assert_eq!(of(first), Some(place(0, 2, Some(START))));
    assert_eq!(of(second), Some(place(1, 2, Some(START.plus_seconds(9)))), "a start is set later");
}

pub async fn what_others_run_is_read_and_makes_due(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    world.start(&bench.store).await;
    let mut other = world.deployment.clone();
    (other.id, other.name) = (world.id().into(), "api".into());
    let mut tx = bench.store.write("test.second").await.expect("a transaction begins");
    store::deployment::insert(&mut tx, &other).await.expect("inserts");
    planning::ensure(&mut tx, world.workspace, other.id).await.expect("ensures");
    tx.commit().await.expect("committed");
    let of_other = async || {
        let mut tx = bench.store.read("test.load").await.expect("a transaction begins");
        let read = store::snapshot::load(&mut tx, world.workspace, other.id).await.expect("reads");
        read.expect("is there").dependencies
    };
    assert!(of_other().await.is_empty(), "no rule asks for it");
    let mut tx = bench.store.write("test.plugin").await.expect("a transaction begins");
    store::plugin::insert(&mut tx, &looks_at_dependencies(&world), b"\0asm").await.expect("inserts");
    tx.commit().await.expect("committed");
    let current = snapshot(&bench, &world).await.releases.remove(0);
    let seen = of_other().await;
    let resources: Vec<_> = seen.iter().map(|(resource, _)| *resource).collect();
    assert_eq!(resources, [world.resources[0].id, world.resources[1].id], "by deployment, environment, resource");
    assert!(seen.iter().all(|(_, it)| *it.deployment == world.deployment && it.current.is_none()));
    assert!(snapshot(&bench, &world).await.dependencies.is_empty(), "its own are none");

    // Whoever begins to look is due once more, and then whenever others change.
    let claim = async || {
        let mut tx = bench.store.write("test.claim").await.expect("a transaction begins");
        let claims = planning::claim_due(&mut tx, 10, 30).await.expect("claims");
        tx.commit().await.expect("committed");
        claims
    };
    let finish = async |claims: Vec<planning::Claim>| {
        for claim in claims {
            let mut tx = bench.store.write("test.finish").await.expect("a transaction begins");
            let looks = claim.deployment == other.id;
            assert!(planning::finish(&mut tx, &claim, None, looks).await.expect("finishes"));
            tx.commit().await.expect("committed");
        }
    };
    let due = async || claim().await.into_iter().map(|claim| claim.deployment).collect::<Vec<_>>();
    finish(claim().await).await;
    let again = claim().await;
    assert_eq!(again.iter().map(|claim| claim.deployment).collect::<Vec<_>>(), [other.id]);
    finish(again).await;
    assert!(due().await.is_empty());
    let plan = Plan { steps: vec![Step::SetCurrent(current.target, current.id)], ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    let woken = claim().await;
    assert_eq!(woken.iter().map(|claim| claim.deployment).collect::<Vec<_>>(), [other.id]);
    let seen = of_other().await;
    let runs: Vec<_> = seen.iter().filter_map(|(_, it)| it.current.as_deref()).collect();
    assert_eq!(runs, [&world.version]);
    finish(woken).await;
    apply(&bench.store, world.workspace, &plan).await;
    assert!(due().await.is_empty(), "nothing changed");
    let mut tx = bench.store.write("test.mark").await.expect("a transaction begins");
    planning::mark(&mut tx, world.deployment.id, Mark::Progress).await.expect("marks");
    tx.commit().await.expect("committed");
    assert_eq!(due().await, [world.deployment.id]);
}

/// The plugin that the world's rule names.
fn looks_at_dependencies(world: &World) -> Plugin {
    Plugin {
        id: world.id().into(),
        workspace: world.workspace,
        name: world.policy.rules[0].plugin.name.clone(),
        version: "1.0.0".parse().expect("a version"),
        digest: Digest([5; 32]),
        manifest: Manifest {
            name: "approval".into(),
            summary: "looks at others".into(),
            hooks: Hooks { gate: true, ..Hooks::default() },
            scope: Scope::Target,
            facts: FactKinds { dependencies: true, ..FactKinds::default() },
            config_schema: json!({}),
        },
        created_at: START,
    }
}
