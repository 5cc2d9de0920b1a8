//! Which version a target should run.

use insta::assert_snapshot;
use model::{job_state::FinalStatus, release::Closed, report::Standing, version::VersionStatus};

use crate::{
    policies::{Switch, allow, deny},
    show::{jobs, steps, table},
    world::{World, line},
};

#[test]
fn a_first_version_is_released_everywhere_and_a_job_is_made() {
    let mut world = World::with_prod(2);
    world.version("v1");
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  attach
    prod/r2  attach
    prod/r1  release v1
    prod/r1  desired v1
    prod/r2  release v1
    prod/r2  desired v1
    prod/r1  start v1 #1
    prod/r2  start v1 #1
    ");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    world.finish("r1", "v1", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here
    prod/r2  deploying   - -> v1   attempt 1 at v1 is queued
    ");
}

#[test]
fn without_a_version_or_before_one_is_ready_nothing_is_made() {
    let mut world = World::with_prod(1);
    assert_snapshot!(table(world.settle()), @"prod/r1  no_version  - -> -  no version of `web` is ready");
    world.version("v1");
    for status in VersionStatus::ALL.into_iter().filter(|status| *status != VersionStatus::Ready) {
        world.status("v1", status);
        assert_eq!(world.settle().targets[0].standing, Standing::NoVersion, "{status:?}");
        assert!(world.releases.is_empty());
    }
}

#[test]
fn without_an_agent_there_is_a_release_and_no_job() {
    let mut world = World::with_prod(1);
    world.agent = None;
    world.version("v1");
    assert_snapshot!(table(world.settle()), @"prod/r1  no_agent  - -> v1  deployment `web` has no job agent to carry it out");
    assert_eq!((world.releases.len(), world.jobs.len()), (1, 0));
}

#[test]
fn when_the_newest_is_held_the_next_older_goes() {
    let mut world = World::with_prod(1);
    let selector = Switch::default();
    world.govern(selector.gate("selector"));
    selector.set("v2", deny("v2 is not what the selector asks for"));
    world.version("v1");
    world.version("v2");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    world.finish("r1", "v1", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  v1 -> v1  v2 is held by selector/selector: v2 is not what the selector asks for");
}

#[test]
fn never_an_older_one_than_what_runs() {
    let mut world = World::with_prod(1);
    let selector = Switch::default();
    world.govern(selector.gate("selector"));
    world.version("v1");
    world.finish_all();
    world.version("v2");
    world.finish_all();
    selector.set("v2", deny("not v2"));
    selector.set("v3", deny("not v3"));
    world.version("v3");
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  v2 -> v2  v3 is held by selector/selector: not v3");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  completed
    r1  v2 #1  completed
    ");
}

#[test]
fn the_six_hundredth_by_age_is_found() {
    let mut world = World::with_prod(1);
    let selector = Switch::default();
    world.govern(selector.gate("selector"));
    selector.set("*", deny("not this one"));
    selector.set("v1", allow("this one"));
    for number in 1..=600 {
        world.version(&format!("v{number}"));
    }
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_eq!(line(&report, "r1").candidates.len(), 600);
}

#[test]
fn a_rejected_version_goes_nowhere_and_what_runs_stays() {
    let mut world = World::with_prod(2);
    world.version("v1");
    world.finish_all();
    world.version("v2");
    world.settle();
    world.finish("r1", "v2", FinalStatus::Completed);
    world.status("v2", VersionStatus::Rejected);
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  current v2
    prod/r1  close v1: replaced
    prod/r2  desired v1
    prod/r2  withdraw v2 #1: v2 is rejected now
    ");
    // Where v2 runs it stays: nothing goes back by itself. Where it does not, v1 is again what should run.
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  up_to_date  v2 -> v2  runs v2, the newest that may come here
    prod/r2  up_to_date  v1 -> v1  runs v1, the newest that may come here
    ");
}

#[test]
fn a_version_rejected_before_it_came_anywhere_leaves_nothing_to_run() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.status("v1", VersionStatus::Rejected);
    assert_snapshot!(table(world.settle()), @"prod/r1  no_version  - -> -  no version of `web` is ready");
    assert_snapshot!(jobs(&world), @"r1  v1 #1  skipped");
}

#[test]
fn a_paused_version_stays_where_it_is_and_goes_nowhere_else() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.finish_all();
    world.status("v1", VersionStatus::Paused);
    world.resource("r2", &[]);
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here
    prod/r2  no_version  - -> -    no version of `web` is ready
    ");
    world.status("v1", VersionStatus::Ready);
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here
    prod/r2  deploying   - -> v1   attempt 1 at v1 is queued
    ");
}

#[test]
fn a_job_in_the_queue_of_a_paused_version_starts_again_when_it_goes_on() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.status("v1", VersionStatus::Paused);
    assert_snapshot!(table(world.settle()), @"prod/r1  no_version  - -> -  no version of `web` is ready");
    world.status("v1", VersionStatus::Ready);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  skipped
    r1  v1 #1  queued
    ");
}

#[test]
fn of_paused_and_ready_the_ready_one_is_chosen() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.version("v2");
    world.status("v2", VersionStatus::Paused);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
}

#[test]
fn a_version_that_waits_is_superseded_by_a_newer_one_and_never_comes_back() {
    let mut world = World::with_prod(1);
    let gate = Switch::default();
    world.govern(gate.gate("gate"));
    gate.set("v1", deny("not yet"));
    world.version("v1");
    world.settle();
    world.version("v2");
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  release v2
    prod/r1  desired v2
    prod/r1  close v1: superseded
    prod/r1  start v2 #1
    ");
    gate.set("v1", allow("now it could"));
    gate.set("v2", deny("but now v2 may not"));
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v2  v2 is held by gate/gate: but now v2 may not");
    world.status("v2", VersionStatus::Rejected);
    assert_snapshot!(table(world.settle()), @"prod/r1  no_version  - -> -  v1 is ready and was superseded here, so it does not come by itself");
    assert_eq!(world.releases.iter().filter(|release| release.closed.is_some()).count(), 1);
}

/// Whether a pass ran between two versions must not decide what runs in the end.
#[test]
fn one_that_may_no_longer_go_is_not_left_for_an_older_one() {
    let mut world = World::with_prod(1);
    let gate = Switch::default();
    world.govern(gate.gate("gate"));
    world.version("v1");
    world.version("v2");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v2  attempt 1 at v2 is queued");
    gate.set("v2", deny("not now"));
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v2  v2 is held by gate/gate: not now");
    assert_eq!(world.releases.len(), 1);
}

#[test]
fn of_three_in_quick_succession_only_the_newest_is_done() {
    let mut world = World::with_prod(2);
    for tag in ["v1", "v2", "v3"] {
        world.version(tag);
        world.settle();
    }
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  cancelled
    r2  v1 #1  cancelled
    r1  v2 #1  cancelled
    r2  v2 #1  cancelled
    r1  v3 #1  queued
    r2  v3 #1  queued
    ");
    assert_snapshot!(table(world.finish_all()), @r"
    prod/r1  up_to_date  v3 -> v3  runs v3, the newest that may come here
    prod/r2  up_to_date  v3 -> v3  runs v3, the newest that may come here
    ");
    let superseded = world.events.iter().filter(|event| event.kind.name() == "release_superseded").count();
    assert_eq!(superseded, 4, "v1 and v2 on two targets");
}

#[test]
fn what_ran_is_replaced_and_not_superseded() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.finish_all();
    world.version("v2");
    world.finish_all();
    let closed: Vec<Option<Closed>> = world.releases.iter().map(|release| release.closed.map(|(why, _)| why)).collect();
    assert_eq!(closed, [Some(Closed::Replaced), None]);
}

#[test]
fn a_creators_clock_that_runs_ahead_does_not_make_a_version_newer() {
    let mut world = World::with_prod(1);
    world.version_at("ahead", world.now.plus_seconds(3600));
    world.advance(60);
    world.version("honest");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> honest  attempt 1 at honest is queued");
}

#[test]
fn a_cancelled_release_goes_for_good() {
    let mut world = World::with_prod(1);
    world.agent = None;
    world.version("v1");
    world.settle();
    world.releases[0].closed = Some((Closed::Cancelled, world.now));
    assert_snapshot!(table(world.settle()), @"prod/r1  no_version  - -> -  v1 is ready and was cancelled here, so it does not come by itself");
    world.version("v2");
    assert_snapshot!(table(world.settle()), @"prod/r1  no_agent  - -> v2  deployment `web` has no job agent to carry it out");
}
