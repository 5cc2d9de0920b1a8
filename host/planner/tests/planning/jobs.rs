//! One job at a time on a target, and who gives way to whom.

use insta::assert_snapshot;
use model::{job_state::FinalStatus, plan::Step};
use serde_json::json;

use crate::{
    policies::{Switch, deny},
    show::{jobs, steps, table},
    world::World,
};

#[test]
fn a_queued_job_gives_way_to_a_newer_version() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.version("v2");
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  release v2
    prod/r1  desired v2
    prod/r1  cancel v1 #1: superseded by v2
    ");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v2  attempt 1 at v2 is queued");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  cancelled
    r1  v2 #1  queued
    ");
}

#[test]
fn a_running_job_is_let_end_before_a_newer_version_starts() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    world.version("v2");
    assert_snapshot!(table(world.settle()), @"prod/r1  waiting  - -> v2  v2 waits: the job of v1 on this target (in_progress) must end first");
    world.finish("r1", "v1", FinalStatus::Completed);
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  current v1
    prod/r1  start v2 #1
    ");
    assert_snapshot!(table(world.finish_all()), @"prod/r1  up_to_date  v2 -> v2  runs v2, the newest that may come here");
}

/// An agent may take a job between the reading and the writing; the plan must hold either way.
#[test]
fn the_newer_one_waits_until_the_older_job_is_known_to_have_ended() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.version("v2");
    let outcome = world.look();
    assert!(!outcome.plan.steps.iter().any(|step| matches!(step, Step::CreateJob(_))));
    world.begin("r1", "v1");
    assert_snapshot!(table(world.settle()), @"prod/r1  waiting  - -> v2  v2 waits: the job of v1 on this target (in_progress) must end first");
}

/// A newer version whose gate closed is held, and not displaced by one that was older all along.
#[test]
fn a_queued_job_does_not_give_way_to_an_older_version() {
    let mut world = World::with_prod(1);
    let gate = Switch::default();
    world.govern(gate.gate("gate"));
    world.version("v1");
    world.version("v2");
    world.settle();
    gate.set("v2", deny("not now"));
    world.settle();
    gate.set("v2", crate::policies::allow("now"));
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v2  attempt 1 at v2 is queued");
    assert_snapshot!(jobs(&world), @r"
    r1  v2 #1  skipped
    r1  v2 #1  queued
    ");
}

#[test]
fn an_approval_that_is_waited_for_does_not_hold_the_place_of_a_job() {
    let mut world = World::with_prod(1);
    let gate = Switch::default();
    world.govern(gate.gate("gate"));
    gate.set("v2", deny("needs an approval"));
    world.version("v1");
    world.version("v2");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    world.version("v3");
    assert_snapshot!(table(world.finish_all()), @"prod/r1  up_to_date  v3 -> v3  runs v3, the newest that may come here");
}

#[test]
fn a_job_carries_the_merged_configuration_and_everything_its_executor_needs() {
    let mut world = World::with_prod(1);
    let agent = world.agent.as_mut().expect("an agent");
    agent.config = json!({"run": {"image": "base", "env": {"A": 1}}});
    world.deployment.job_agent_config = json!({"run": {"env": {"B": 2}}});
    world.version("v1");
    world.versions[0].job_agent_config = json!({"run": {"image": "v1"}});
    world.settle();
    let job = &world.jobs[0];
    assert_eq!(job.config, json!({"run": {"image": "v1", "env": {"A": 1, "B": 2}}}));
    assert_eq!(job.context["job"]["id"], json!(job.id.to_string()));
    assert_eq!(job.context["release"]["id"], json!(job.release.to_string()));
    assert_eq!(job.context["version"]["tag"], json!("v1"));
    assert_eq!(job.context["environment"]["name"], json!("prod"));
    assert_eq!(job.context["resource"]["identifier"], json!("r1"));
    assert_eq!((job.lease_seconds, job.deadline_seconds), (60, 3600));
}
