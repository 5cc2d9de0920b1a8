//! Places that come and go.

use insta::assert_snapshot;
use model::{id::SystemId, job_state::FinalStatus};

use crate::{
    show::{jobs, steps, table},
    world::World,
};

fn regions() -> World {
    let mut world = World::new();
    world.environment("prod", "resource.metadata.region == 'eu'");
    world.resource("r1", &[("region", "eu")]);
    world.resource("r2", &[("region", "eu")]);
    world.resource("r3", &[("region", "us")]);
    world
}

#[test]
fn a_resource_that_comes_later_is_a_new_target_and_no_other_moves() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.finish_all();
    world.resource("r2", &[]);
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r2  attach
    prod/r2  release v1
    prod/r2  desired v1
    prod/r2  start v1 #1
    ");
}

#[test]
fn both_selectors_must_match_and_what_lacks_a_key_does_not() {
    let mut world = regions();
    world.resource("r0", &[]);
    world.deployment.resource_selector = "resource.identifier != 'r2'".to_owned();
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_snapshot!(report.warnings.join("\n"), @"the selector of environment `prod` asks for `region`: 1 resources lack it");
}

#[test]
fn a_selector_that_cannot_be_read_matches_nothing_and_says_so() {
    let mut world = World::with_prod(1);
    world.environment("broken", "resource.");
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_eq!(report.warnings.len(), 1);
    assert!(report.warnings[0].starts_with("the selector of environment `broken` cannot be read"));
}

#[test]
fn a_target_that_leaves_loses_its_queued_job_and_lets_the_running_one_end() {
    let mut world = regions();
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    world.environments[0].resource_selector = "resource.metadata.region == 'us'".to_owned();
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  detach
    prod/r2  detach
    prod/r3  attach
    prod/r3  release v1
    prod/r3  desired v1
    prod/r2  withdraw v1 #1: the selectors no longer match
    prod/r3  start v1 #1
    ");
    world.finish("r1", "v1", FinalStatus::Completed);
    world.version("v2");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  detached   v1 -> v1  the selectors no longer match, so nothing new is started here
    prod/r2  detached   - -> v1   the selectors no longer match, so nothing new is started here
    prod/r3  deploying  - -> v2   attempt 1 at v2 is queued
    ");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  completed
    r2  v1 #1  skipped
    r3  v1 #1  cancelled
    r3  v2 #1  queued
    ");
}

/// A slip in a selector, put right, must not leave everything that it touched stuck.
#[test]
fn a_target_that_comes_back_goes_on_where_it_was() {
    let mut world = regions();
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Completed);
    world.settle();
    world.deployment.resource_selector = "false".to_owned();
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  detached  v1 -> v1  the selectors no longer match, so nothing new is started here
    prod/r2  detached  - -> v1   the selectors no longer match, so nothing new is started here
    ");
    world.deployment.resource_selector = "true".to_owned();
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here
    prod/r2  deploying   - -> v1   attempt 1 at v1 is queued
    ");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  completed
    r2  v1 #1  skipped
    r2  v1 #1  queued
    ");
}

#[test]
fn a_resource_that_is_removed_takes_its_queued_job_with_it() {
    let mut world = World::with_prod(2);
    world.version("v1");
    world.settle();
    world.begin("r2", "v1");
    world.resources.clear();
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/(gone)  detach
    prod/(gone)  detach
    prod/(gone)  cancel v1 #1: its resource or environment is gone
    ");
    assert_snapshot!(table(world.settle()), @"");
    assert_snapshot!(jobs(&world), @r"
    (gone)  v1 #1  cancelled
    (gone)  v1 #1  in_progress
    ");
}

#[test]
fn an_environment_that_no_longer_shares_a_system_takes_its_targets_with_it() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.environments[0].systems.clear();
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  detach
    prod/r1  cancel v1 #1: its resource or environment is gone
    ");
    assert!(world.settle().targets.is_empty());
    assert_snapshot!(jobs(&world), @"r1  v1 #1  cancelled");
}

#[test]
fn a_deployment_and_an_environment_that_share_two_systems_have_one_target() {
    let mut world = World::with_prod(1);
    let other = SystemId(world.ids.next(world.now));
    world.deployment.systems.push(other);
    world.environments[0].systems.push(other);
    world.version("v1");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_eq!(world.jobs.len(), 1);
}

#[test]
fn a_resource_made_again_is_another_one() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    world.settle();
    world.resources.clear();
    world.settle();
    world.resource("r1", &[]);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
}
