//! The same in, the same out; and nothing done twice.

use model::{job_state::FinalStatus, plugin::Scope};

use crate::{
    policies::{Switch, approval, at_most, deny, retry_after},
    world::{World, rule},
};

/// A world in which something of everything goes on.
fn busy() -> World {
    let mut world = World::new();
    world.environment("staging", "resource.metadata.stage == 'staging'");
    world.environment("prod", "resource.metadata.stage == 'prod'");
    for number in 1..=4 {
        world.resource(&format!("s{number}"), &[("stage", "staging")]);
        world.resource(&format!("p{number}"), &[("stage", "prod")]);
    }
    let gate = Switch::default();
    world.upload(approval(1));
    world.upload(retry_after(2, 60));
    world.upload(gate.gate("gate"));
    world.upload(at_most(2, Scope::Environment));
    world.policy("prod", "environment.name == 'prod'", 1, &[rule("approval"), rule("sequence")]);
    world.policy("all", "true", 0, &[rule("gate"), rule("retry")]);
    world.version("v1");
    world.settle();
    world.finish("s1", "v1", FinalStatus::Failed);
    world.finish("s2", "v1", FinalStatus::Completed);
    world.begin("s3", "v1");
    world.approve("v1", "prod", "ada");
    world.settle();
    world.version("v2");
    gate.set("v2", deny("not here"));
    world
}

#[test]
fn planning_again_changes_nothing() {
    let mut world = busy();
    world.settle();
    let before = (world.jobs.clone(), world.releases.clone(), world.decisions.clone(), world.events.len());
    for _ in 0..3 {
        let outcome = world.pass();
        assert!(outcome.plan.steps.is_empty() && outcome.plan.events.is_empty());
    }
    assert_eq!(before, (world.jobs.clone(), world.releases.clone(), world.decisions.clone(), world.events.len()));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_the_same_steps() {
    let mut world = busy();
    let snapshot = world.snapshot();
    let first = format!("{:?}", world.converse(snapshot.clone(), 7));
    assert_eq!(first, format!("{:?}", world.converse(snapshot.clone(), 7)));
    let other = world.converse(snapshot.clone(), 8);
    assert_ne!(first, format!("{other:?}"));
    let seven = world.converse(snapshot, 7);
    assert_eq!(crate::show::steps(&world, &seven), crate::show::steps(&world, &other));
    assert_eq!(crate::show::table(&seven.report), crate::show::table(&other.report));
}

#[test]
fn lists_whose_order_means_nothing_may_come_in_any() {
    let mut world = busy();
    let snapshot = world.snapshot();
    assert!(snapshot.targets.len() > 1 && snapshot.releases.len() > 1 && snapshot.decisions.len() > 1);
    let first = format!("{:?}", world.converse(snapshot.clone(), 7));
    for turn in 1..4 {
        let mut turned = snapshot.clone();
        let turn = |length: usize| turn * (length / 4);
        turned.targets.rotate_left(turn(snapshot.targets.len()));
        turned.releases.rotate_left(turn(snapshot.releases.len()));
        turned.decisions.rotate_left(turn(snapshot.decisions.len()));
        turned.plugins.rotate_left(turn(snapshot.plugins.len()));
        turned.resources.rotate_left(turn(snapshot.resources.len()));
        turned.environments.reverse();
        assert_eq!(first, format!("{:?}", world.converse(turned, 7)));
    }
}
