//! What people bypass, freeze, send back and start again.

use model::{
    approval::{Approval, ApprovalDecision},
    decision::DecisionScope,
    event::{Actor, EventKind, NewEvent, Subject},
    freeze::Freeze,
    hold::{HeldBy, Hold},
    plan::{Plan, Step},
    redeploy::Redeploy,
    release::Closed,
    skip::{Skip, Skipped},
    snapshot::Snapshot,
    version::VersionStatus,
};
use serde_json::json;
use store::{Page, StoreError, approval, freeze, hold, policy, redeploy, release, skip};

use super::events::read_all;
use crate::{
    engines::{Bench, START},
    world::{World, apply, version},
};

pub async fn snapshot(bench: &Bench, world: &World) -> Snapshot {
    let mut tx = bench.store.read("test.load").await.expect("a transaction begins");
    let snapshot = store::snapshot::load(&mut tx, world.workspace, world.deployment.id).await;
    snapshot.expect("reads").expect("is there")
}

fn frozen(world: &World, name: &str, ends_in: Option<i64>) -> Freeze {
    Freeze {
        id: world.id().into(),
        workspace: world.workspace,
        name: name.into(),
        selector: "environment.name == \"prod\"".into(),
        starts_at: START.plus_seconds(-5),
        ends_at: ends_in.map(|seconds| START.plus_seconds(seconds)),
        reason: "fair".into(),
        created_by: "ann".into(),
        created_at: START,
    }
}

fn held(world: &World, resource: usize, by: HeldBy, on: &model::release::Release) -> Hold {
    Hold {
        workspace: world.workspace,
        target: world.key(resource),
        release: on.id,
        version: on.version,
        by,
        steps_back: 1,
        reason: "it failed".into(),
        since: START,
        failed_at: None,
    }
}

fn told(world: &World, kind: EventKind, resource: usize) -> NewEvent {
    NewEvent { kind, actor: Actor::System, subject: Subject::target(world.key(resource)), data: json!({}) }
}

pub async fn skips_and_freezes_are_read(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let of_rule = Skip {
        id: world.id().into(),
        workspace: world.workspace,
        skipped: Skipped::Rule(world.policy.id, world.policy.rules[0].id),
        version: world.version.id,
        scope: DecisionScope {
            deployment: world.deployment.id,
            environment: Some(world.environment.id),
            resource: Some(world.resources[0].id),
        },
        user: "ann".into(),
        reason: "urgent".into(),
        created_at: START,
        expires_at: Some(START.plus_seconds(60)),
    };
    let (over, open, later) = (frozen(&world, "a", Some(0)), frozen(&world, "c", None), frozen(&world, "b", Some(9)));
    let of_freeze = Skip {
        id: world.id().into(),
        skipped: Skipped::Freeze(open.id),
        scope: DecisionScope { deployment: world.deployment.id, environment: None, resource: None },
        expires_at: None,
        ..of_rule.clone()
    };
    let mut tx = bench.store.write("test.put").await.expect("a transaction begins");
    for freeze in [&over, &open, &later] {
        freeze::insert(&mut tx, freeze).await.expect("inserts");
    }
    for skip in [&of_rule, &of_freeze] {
        skip::insert(&mut tx, skip).await.expect("inserts");
    }
    tx.commit().await.expect("committed");

    let snapshot = snapshot(&bench, &world).await;
    assert_eq!(snapshot.skips, [of_rule.clone(), of_freeze.clone()], "oldest first");
    assert_eq!(snapshot.freezes, [later.clone(), open.clone()], "by name, without what is over");
    let mut tx = bench.store.write("test.change").await.expect("a transaction begins");
    let ws = world.workspace;
    assert_eq!(freeze::list(&mut tx, ws, Page::FIRST).await.expect("reads").total, 3);
    let filter = skip::Filter { version: Some(world.version.id), ..Default::default() };
    assert_eq!(skip::list(&mut tx, ws, filter, Page::FIRST).await.expect("reads").items.len(), 2);
    let longer = Freeze { ends_at: None, reason: "a longer fair".into(), ..later };
    freeze::update(&mut tx, &longer).await.expect("updates");
    assert_eq!(freeze::by_name(&mut tx, ws, "b").await.expect("reads"), Some(longer));
    skip::delete_of_freeze(&mut tx, ws, open.id).await.expect("deletes");
    freeze::delete(&mut tx, open.id).await.expect("deletes");
    assert_eq!(freeze::get(&mut tx, ws, open.id).await.expect("reads"), None);
    assert_eq!(skip::get(&mut tx, ws, of_freeze.id).await.expect("reads"), None);
    let twice = freeze::insert(&mut tx, &frozen(&world, "b", None)).await;
    assert!(twice.is_err(), "the name is taken");
    drop(tx);

    let mut tx = bench.store.write("test.policy").await.expect("a transaction begins");
    skip::delete(&mut tx, of_freeze.id).await.expect("deletes");
    let gone = skip::delete(&mut tx, of_freeze.id).await.expect_err("it is gone");
    assert!(matches!(gone, StoreError::Missing { table: "skips", .. }), "{gone:?}");
    skip::delete_of_policy(&mut tx, ws, world.policy.id).await.expect("deletes");
    policy::delete(&mut tx, world.policy.id).await.expect("deletes");
    assert_eq!(policy::get(&mut tx, ws, world.policy.id).await.expect("reads"), None);
    assert_eq!(skip::list(&mut tx, ws, skip::Filter::default(), Page::FIRST).await.expect("reads").total, 0);
}

pub async fn holds_come_and_go_with_plans(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    world.start(&bench.store).await;
    let old = snapshot(&bench, &world).await.releases;
    let on = |n: usize| old.iter().find(|release| release.target == world.key(n)).expect("is there");
    let by_rule = held(&world, 0, HeldBy::Rule { failed: world.version.id }, on(0));
    let by_person = held(&world, 1, HeldBy::Person { user: "ann".into() }, on(1));
    let plan = Plan {
        steps: vec![
            Step::CloseRelease(on(0).id, Closed::RolledBack),
            Step::CloseRelease(on(1).id, Closed::Superseded),
            Step::Hold(by_rule.clone()),
            Step::Hold(by_person.clone()),
        ],
        events: vec![told(&world, EventKind::TargetHeld, 0), told(&world, EventKind::TargetHeld, 1)],
        ..Plan::default()
    };
    let before = read_all(&bench.store, world.workspace, 2).await.len();
    apply(&bench.store, world.workspace, &plan).await;
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(read_all(&bench.store, world.workspace, 4).await.len(), before + 2, "told once");
    let read = snapshot(&bench, &world).await;
    let mut holds = read.holds.clone();
    holds.sort_by_key(|hold| hold.target);
    let mut expected = vec![by_rule.clone(), by_person.clone()];
    expected.sort_by_key(|hold| hold.target);
    assert_eq!(holds, expected);
    assert_eq!(read.releases.len(), 2, "closed ones that something is held on are looked at");

    // It failed as well; and of two words about one target the later stands.
    let failed = Hold { failed_at: Some(START.plus_seconds(3)), ..by_rule.clone() };
    let steps = vec![Step::EndHold(world.key(0)), Step::Hold(failed.clone()), Step::EndHold(world.key(1))];
    let events = vec![
        told(&world, EventKind::TargetResumed, 0),
        told(&world, EventKind::RollbackFailed, 0),
        told(&world, EventKind::TargetResumed, 1),
    ];
    let plan = Plan { steps, events, ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    apply(&bench.store, world.workspace, &plan).await;
    let kinds: Vec<EventKind> =
        read_all(&bench.store, world.workspace, 6).await[4..].iter().map(|event| event.event.kind).collect();
    assert_eq!(kinds, [EventKind::RollbackFailed, EventKind::TargetResumed]);
    let mut tx = bench.store.write("test.end").await.expect("a transaction begins");
    assert_eq!(hold::all(&mut tx, world.workspace).await.expect("reads"), std::slice::from_ref(&failed));
    assert_eq!(hold::get(&mut tx, world.key(0)).await.expect("reads"), Some(failed));
    assert!(hold::end(&mut tx, world.key(0)).await.expect("ends"));
    assert!(!hold::end(&mut tx, world.key(0)).await.expect("ends"), "it has ended");
    hold::put(&mut tx, &by_person).await.expect("puts");
    assert_eq!(hold::get(&mut tx, world.key(1)).await.expect("reads"), Some(by_person));
}

pub async fn redeploys_wait_and_releases_open_again(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    world.start(&bench.store).await;
    let release = snapshot(&bench, &world).await.releases.remove(0);
    let target = release.target;
    let redeploy = |user: &str| Redeploy {
        workspace: world.workspace,
        target,
        release: release.id,
        version: release.version,
        user: user.into(),
        reason: "again".into(),
        requested_at: START,
    };
    let close = Plan { steps: vec![Step::CloseRelease(release.id, Closed::Superseded)], ..Plan::default() };
    apply(&bench.store, world.workspace, &close).await;
    let mut tx = bench.store.write("test.put").await.expect("a transaction begins");
    redeploy::put(&mut tx, &redeploy("ann")).await.expect("puts");
    redeploy::put(&mut tx, &redeploy("bob")).await.expect("puts");
    assert_eq!(redeploy::get(&mut tx, target).await.expect("reads"), Some(redeploy("bob")), "the later one stands");
    release::reopen(&mut tx, release.id).await.expect("opens");
    assert!(!release::insert(&mut tx, &release).await.expect("inserts"), "the version has one here");
    tx.commit().await.expect("committed");

    let read = snapshot(&bench, &world).await;
    assert_eq!(read.redeploys, [redeploy("bob")]);
    assert!(read.releases.iter().all(|release| release.closed.is_none()));
    let mut overtaken = told(&world, EventKind::RedeployOvertaken, 0);
    overtaken.subject = Subject::target(target);
    let plan = Plan { steps: vec![Step::FinishRedeploy(target)], events: vec![overtaken], ..Plan::default() };
    apply(&bench.store, world.workspace, &plan).await;
    apply(&bench.store, world.workspace, &plan).await;
    assert_eq!(read_all(&bench.store, world.workspace, 3).await.len(), 3, "told once");
    let mut tx = bench.store.write("test.drop").await.expect("a transaction begins");
    redeploy::put(&mut tx, &redeploy("ann")).await.expect("puts");
    assert!(!redeploy::drop_of_release(&mut tx, target, crate::world::nobody()).await.expect("drops"));
    assert!(redeploy::drop_of_release(&mut tx, target, release.id).await.expect("drops"));
    assert!(release::close(&mut tx, release.id, Closed::Cancelled).await.expect("closes"));
    assert!(!release::close(&mut tx, release.id, Closed::Superseded).await.expect("closes"), "closed once");
}

pub async fn a_version_is_looked_at_everywhere_while_it_is_open_anywhere(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    world.start(&bench.store).await;
    let releases = snapshot(&bench, &world).await.releases;
    let of = |n: usize| releases.iter().find(|release| release.target == world.key(n)).expect("is there").id;
    let second = version(world.id().into(), &world.deployment, "v2", START.plus_seconds(1));
    let mut tx = bench.store.write("test.v2").await.expect("a transaction begins");
    store::version::insert(&mut tx, &second).await.expect("inserts");
    tx.commit().await.expect("committed");
    // On the first target v1 is over for v2; on the second it is still open.
    let newer = world.release(0, second.id);
    let jobs = snapshot(&bench, &world).await.jobs;
    let job = jobs.iter().find(|job| job.target == world.key(0)).expect("is there");
    let steps = vec![
        Step::CancelJob(job.id, "superseded".into()),
        Step::CreateRelease(newer.clone()),
        Step::SetDesired(world.key(0), Some(newer.id)),
        Step::SetCurrent(world.key(0), newer.id),
        Step::CloseRelease(of(0), Closed::Replaced),
    ];
    apply(&bench.store, world.workspace, &Plan { steps, ..Plan::default() }).await;
    assert_eq!(snapshot(&bench, &world).await.releases.len(), 3);
    let job = jobs.iter().find(|job| job.target == world.key(1)).expect("is there");
    let steps = vec![
        Step::CancelJob(job.id, "superseded".into()),
        Step::SetDesired(world.key(1), None),
        Step::CloseRelease(of(1), Closed::Cancelled),
    ];
    apply(&bench.store, world.workspace, &Plan { steps, ..Plan::default() }).await;
    let left: Vec<_> = snapshot(&bench, &world).await.releases.into_iter().map(|release| release.id).collect();
    assert_eq!(left, [of(1), newer.id], "what nothing is open of is over, but for what is newer than what runs");
}

pub async fn a_word_is_taken_back_and_readiness_is_kept(bench: Bench) {
    let world = World::write(&bench.store, 0).await;
    let ws = world.workspace;
    let word = Approval {
        id: world.id().into(),
        workspace: ws,
        version: world.version.id,
        environment: world.environment.id,
        user: "ann".into(),
        roles_then: Vec::new(),
        roles_now: Vec::new(),
        decision: ApprovalDecision::Rejected,
        at: START,
        reason: String::new(),
    };
    let mut building = version(world.id().into(), &world.deployment, "v2", START);
    (building.status, building.ready_at) = (VersionStatus::Building, None);
    let mut tx = bench.store.write("test.put").await.expect("a transaction begins");
    approval::put(&mut tx, &word).await.expect("puts");
    let remove = async |tx: &mut store::Tx, user: &str| {
        approval::remove(tx, word.version, word.environment, user).await.expect("removes")
    };
    assert!(!remove(&mut tx, "bob").await);
    assert!(remove(&mut tx, "ann").await && !remove(&mut tx, "ann").await);
    assert!(approval::list_for_version(&mut tx, ws, word.version).await.expect("reads").is_empty());
    store::version::insert(&mut tx, &building).await.expect("inserts");
    tx.commit().await.expect("committed");
    for (status, at, ready_at) in [
        (VersionStatus::Ready, 1, Some(START.plus_seconds(1))),
        (VersionStatus::Paused, 2, Some(START.plus_seconds(1))),
        (VersionStatus::Ready, 3, Some(START.plus_seconds(1))),
    ] {
        bench.clock.set(START.plus_seconds(at));
        let mut tx = bench.store.write("test.status").await.expect("a transaction begins");
        store::version::set_status(&mut tx, building.id, status).await.expect("updates");
        let read = store::version::get(&mut tx, ws, building.id).await.expect("reads").expect("is there");
        assert_eq!((read.status, read.ready_at), (status, ready_at));
        tx.commit().await.expect("committed");
    }
}
