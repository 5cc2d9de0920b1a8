//! What is deployed counts once it is healthy; what is not goes back; and nothing goes in circles.

use insta::assert_snapshot;
use model::{
    hold::{HeldBy, Hold},
    id::MeasurementId,
    job_state::FinalStatus,
    question::{Answer, Assessment},
    redeploy::Redeploy,
    version::VersionStatus,
};
use serde_json::json;

use crate::{
    policies::{Native, Switch, deny, verify},
    show::{jobs, steps, table},
    world::{Draft, World, rule},
};

/// Healthy when the metric `up` was seen true, unhealthy when it was seen false, else to be measured now.
fn up() -> Native {
    verify("up", |request, now| {
        let seen = request.measurements.iter().find(|measured| measured.metric == "up");
        Answer::Verify(match seen.map(|measured| measured.value == Ok(json!(true))) {
            Some(true) => Assessment::Healthy,
            Some(false) => Assessment::Unhealthy("it is down".to_owned()),
            None if request.job.completed_at.is_some() => Assessment::Measure(vec![("up".to_owned(), now)]),
            None => Assessment::Measure(Vec::new()),
        })
    })
}

fn verified() -> World {
    let mut world = World::with_prod(1);
    world.upload(up());
    world.policy("p", "true", 0, &[rule("up"), rule("rollback")]);
    world
}

/// The wanted measurement is taken.
fn see(world: &mut World, up: bool) {
    let now = world.now;
    let wanted = world.measurements.iter_mut().find(|measurement| measurement.taken.is_none()).expect("one is wanted");
    wanted.taken = Some((now, Ok(json!(up))));
}

fn deploy(world: &mut World, tag: &str, healthy: bool) {
    world.settle();
    world.finish("r1", tag, FinalStatus::Completed);
    world.settle();
    see(world, healthy);
}

#[test]
fn a_success_counts_once_it_is_healthy() {
    let mut world = verified();
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @"prod/r1  verifying  - -> v1  v1 is deployed and not yet verified: p/up measures up");
    assert_eq!(world.measurements.len(), 1, "what is wanted is wanted once");
    see(&mut world, true);
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  passed v1 #1
    prod/r1  current v1
    ");
    assert_snapshot!(table(world.settle()), @"prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here");
}

#[test]
fn what_is_not_healthy_goes_back_and_is_held_until_something_newer_goes() {
    let mut world = verified();
    world.version("v1");
    deploy(&mut world, "v1", true);
    world.settle();
    world.advance(60);
    world.version("v2");
    deploy(&mut world, "v2", false);
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  failed v2 #1
    prod/r1  hold on v1
    prod/r1  desired v1
    prod/r1  close v2: rolled_back
    prod/r1  start v1 #2
    ");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Completed);
    world.settle();
    see(&mut world, true);
    assert_snapshot!(table(world.settle()), @"prod/r1  held  v1 -> v1  held on v1 since 2026-03-02T08:01:00.000Z until a version newer than v2 may go or a person resumes: v2 is not healthy (p/up: it is down), so the target goes back to v1");
    // A restart, another plan or unchanged manifests change nothing: all of it was in the snapshot.
    assert!(world.pass().plan.steps.is_empty());
    world.advance(60);
    world.version("v3");
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  release v3
    prod/r1  end the hold
    prod/r1  desired v3
    prod/r1  start v3 #1
    ");
    assert!(world.holds.is_empty());
}

#[test]
fn a_newer_version_that_may_not_go_does_not_end_the_hold() {
    let mut world = verified();
    world.version("v1");
    deploy(&mut world, "v1", true);
    world.settle();
    world.version("v2");
    deploy(&mut world, "v2", false);
    let switch = Switch::default();
    switch.set("v3", deny("not yet"));
    world.govern(switch.gate("gate"));
    world.version("v3");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Completed);
    world.settle();
    see(&mut world, true);
    let report = world.settle().clone();
    assert_eq!(report.targets[0].standing.name(), "held");
    assert_eq!(report.targets[0].candidates[0].blocked_by().expect("the gate").decision.answer.reason, "not yet");
    assert_eq!(world.holds.len(), 1);
}

#[test]
fn a_rollback_that_fails_stops_and_says_so_once() {
    let mut world = verified();
    world.version("v1");
    deploy(&mut world, "v1", true);
    world.settle();
    world.version("v2");
    deploy(&mut world, "v2", false);
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  v1 -> v1  the rollback failed and nothing more is tried by itself: attempt 2 at v1 ended as `failed` (exit status 1), and no rule grants another (held on v1 since 2026-03-02T08:00:00.000Z until a version newer than v2 may go or a person resumes: v2 is not healthy (p/up: it is down), so the target goes back to v1)");
    let failed = world.events.iter().filter(|event| event.kind.name() == "rollback_failed").count();
    assert_eq!(failed, 1);
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  completed
    r1  v2 #1  completed
    r1  v1 #2  failed
    ");
}

#[test]
fn there_is_nothing_to_go_back_to_on_a_first_deployment() {
    let mut world = verified();
    world.version("v1");
    deploy(&mut world, "v1", false);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  - -> v1  v1 is not healthy here: p/up: it is down; nothing else ran here with success to go back to");
    assert!(world.holds.is_empty());
}

#[test]
fn a_failed_job_goes_back_only_where_the_rule_says_so() {
    for on_job_failed in [false, true] {
        let mut world = World::with_prod(1);
        let config = json!({"onJobFailed": on_job_failed});
        world.policy("p", "true", 0, &[Draft { config, ..rule("rollback") }]);
        world.version("v1");
        world.finish_all();
        world.version("v2");
        world.settle();
        world.finish("r1", "v2", FinalStatus::Failed);
        world.settle();
        assert_eq!(world.holds.len(), usize::from(on_job_failed));
        assert_eq!(world.jobs.len(), if on_job_failed { 3 } else { 2 });
    }
}

#[test]
fn a_redeploy_of_what_was_rolled_back_is_verified_afresh() {
    let mut world = verified();
    world.version("v1");
    deploy(&mut world, "v1", true);
    world.settle();
    let v2 = world.version("v2");
    deploy(&mut world, "v2", false);
    world.settle();
    world.finish("r1", "v1", FinalStatus::Completed);
    world.settle();
    see(&mut world, true);
    world.settle();
    // What the command does: it ends the hold and opens the release.
    let release = world.releases.iter_mut().find(|release| release.version == v2).expect("a release");
    release.closed = None;
    let (workspace, target, release) = (release.workspace, release.target, release.id);
    world.holds.clear();
    world.advance(60);
    let (user, reason) = ("ann".to_owned(), "fixed the database".to_owned());
    world.redeploys.push(Redeploy { workspace, target, release, version: v2, user, reason, requested_at: world.now });
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  finish the redeploy
    prod/r1  desired v2
    prod/r1  start v2 #2
    ");
    world.finish("r1", "v2", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @"prod/r1  verifying  v1 -> v2  v2 is deployed and not yet verified: p/up measures up");
    see(&mut world, true);
    assert_snapshot!(table(world.settle()), @"prod/r1  up_to_date  v2 -> v2  runs v2, the newest that may come here");
}

#[test]
fn a_redeploy_passes_the_gates_again() {
    let switch = Switch::default();
    let mut world = World::with_prod(1);
    world.govern(switch.gate("gate"));
    let v1 = world.version("v1");
    world.finish_all();
    switch.set("v1", deny("closed"));
    let release = world.releases[0].clone();
    world.redeploys.push(Redeploy {
        workspace: release.workspace,
        target: release.target,
        release: release.id,
        version: v1,
        user: "ann".to_owned(),
        reason: "again".to_owned(),
        requested_at: world.now,
    });
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  v1 -> v1  v1 is held by gate/gate: closed");
    switch.set("v1", crate::policies::allow("open"));
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  finish the redeploy
    prod/r1  start v1 #2
    ");
    assert!(world.redeploys.is_empty());
}

fn hold_by_person(world: &mut World, tag: &str, steps_back: u32) {
    let version = world.versions.iter().find(|version| version.tag == tag).expect("a version").id;
    let release = world.releases.iter().find(|release| release.version == version).expect("a release");
    world.holds.push(Hold {
        workspace: release.workspace,
        target: release.target,
        release: release.id,
        version,
        by: HeldBy::Person { user: "ann".to_owned() },
        steps_back,
        reason: "customers complain".to_owned(),
        since: world.now,
        failed_at: None,
    });
}

#[test]
fn a_persons_rollback_holds_whatever_arrives_and_resuming_goes_on() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.finish_all();
    world.version("v2");
    world.finish_all();
    world.advance(60);
    hold_by_person(&mut world, "v1", 1);
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  desired v1
    prod/r1  start v1 #2
    ");
    world.finish_all();
    world.version("v3");
    assert_snapshot!(table(world.settle()), @"prod/r1  held  v1 -> v1  held on v1 by ann since 2026-03-02T08:01:00.000Z until a person resumes: customers complain");
    world.holds.clear();
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  desired v3
    prod/r1  close v2: replaced
    prod/r1  start v3 #1
    ");
}

#[test]
fn a_rollback_further_back_than_the_window_passes_the_gates() {
    let switch = Switch::default();
    let mut world = World::with_prod(1);
    world.govern(switch.gate("gate"));
    for tag in ["v1", "v2", "v3"] {
        world.version(tag);
        world.finish_all();
    }
    switch.set("*", deny("closed"));
    hold_by_person(&mut world, "v1", 2);
    assert_snapshot!(table(world.settle()), @"prod/r1  held  v3 -> v1  held on v1 by ann since 2026-03-02T08:00:00.000Z until a person resumes: customers complain; to go there waits for gate/gate: closed");
    assert_eq!(world.jobs.len(), 3);
    switch.set("*", crate::policies::allow("open"));
    world.settle();
    assert_eq!(world.jobs.len(), 4);
}

#[test]
fn a_rejected_version_is_not_gone_back_to() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.finish_all();
    world.version("v2");
    world.finish_all();
    world.status("v1", VersionStatus::Rejected);
    hold_by_person(&mut world, "v1", 1);
    world.settle();
    assert_eq!(world.jobs.len(), 2);
}

#[test]
fn a_newer_version_abandons_what_is_being_verified() {
    let mut world = verified();
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Completed);
    world.settle();
    world.version("v2");
    world.settle();
    world.begin("r1", "v2");
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @"prod/r1  abandoned v1 #1");
}

/// Measurements may arrive in any order.
#[test]
fn the_order_of_arrival_changes_nothing() {
    let mut ends = Vec::new();
    for reversed in [false, true] {
        let mut world = World::with_prod(1);
        world.upload(verify("last", |request, _| {
            let values: Vec<String> = request.measurements.iter().map(|one| format!("{:?}", one.value)).collect();
            Answer::Verify(if values.len() < 3 {
                Assessment::Measure(Vec::new())
            } else {
                Assessment::Unhealthy(values.join(" "))
            })
        }));
        world.policy("p", "true", 0, &[rule("last")]);
        world.version("v1");
        world.settle();
        world.finish("r1", "v1", FinalStatus::Completed);
        world.settle();
        let (job, rule) = (world.jobs[0].id, world.policies[0].rules[0].id);
        for number in 0..3 {
            let at = world.now.plus_seconds(number);
            world.measurements.push(model::verification::Measurement {
                id: MeasurementId(world.ids.next(at)),
                workspace: world.jobs[0].workspace,
                job,
                rule,
                metric: "m".to_owned(),
                due_at: at,
                taken: Some((at, Ok(json!(number)))),
            });
        }
        if reversed {
            world.measurements.reverse();
        }
        ends.push(table(world.settle()));
    }
    assert_eq!(ends[0], ends[1]);
    assert_snapshot!(ends[0], @"prod/r1  failed  - -> v1  v1 is not healthy here: p/last: Ok(Number(0)) Ok(Number(1)) Ok(Number(2))");
}
