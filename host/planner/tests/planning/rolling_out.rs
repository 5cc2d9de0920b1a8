//! Turns in a rollout, standing in environments, and versions one after the other.

use std::{cell::RefCell, rc::Rc};

use insta::assert_snapshot;
use model::{
    job_state::FinalStatus,
    plugin::{FactKinds, Scope},
    policy::Order,
    question::{Answer, GateRequest},
    time::Timestamp,
};

use crate::{
    policies::{Native, Switch, allow, at_most, deny, gate, wait},
    show::{jobs, table},
    world::{Draft, World, rule},
};

const TURNS: FactKinds = FactKinds {
    approvals: false,
    target_jobs: false,
    version_history: false,
    environment_progress: false,
    dependencies: false,
    rollout_position: true,
};

/// One target a minute, and none after a failure: the rollout rule in small.
fn every_minute() -> Native {
    let brain = move |request: &GateRequest| {
        let position = request.rollout_position.expect("a place");
        let target = request.target.as_ref().expect("a target");
        let comes = |version: &Option<std::sync::Arc<model::version::Version>>| {
            version.as_ref().is_some_and(|version| version.id == request.candidate.id)
        };
        if comes(&target.current) || comes(&target.in_progress) {
            return allow("it is there, or comes");
        }
        if position.failed > 0 {
            return deny("one failed");
        }
        let turn = position.started_at.plus_seconds(60 * i64::from(position.index));
        let spaced = position.last_start_at.map(|last| last.plus_seconds(60 * i64::from(position.pending_index + 1)));
        let opens = spaced.map_or(turn, |spaced| spaced.max(turn));
        let now = NOW.with_borrow(|now| *now);
        let figures = format!(
            "{} of {}, {} before it, {} unverified",
            position.index, position.total, position.pending_index, position.unverified
        );
        if now < opens { wait(Some(opens), &figures) } else { allow(&figures) }
    };
    Native { facts: TURNS, ..gate("rollout", brain) }
}

thread_local! {
    static NOW: RefCell<Timestamp> = const { RefCell::new(Timestamp::from_millis(0)) };
}

fn settle(world: &mut World) -> String {
    NOW.with_borrow_mut(|now| *now = world.now);
    let report = world.settle().clone();
    let mut lines: Vec<String> = table(&report).lines().map(str::to_owned).collect();
    // The order of turns is a hash's.
    lines.iter_mut().for_each(|line| *line = line.split_once("  ").expect("columns").1.to_owned());
    lines.sort();
    lines.join("\n")
}

fn world(targets: usize) -> World {
    let mut world = World::with_prod(targets);
    world.upload(every_minute());
    world.policy("p", "true", 0, &[rule("rollout")]);
    world
}

/// Whatever is queued ends well.
fn finish_what_runs(world: &mut World) {
    let queued: Vec<String> = world
        .jobs
        .iter()
        .filter(|job| job.state.ended_at().is_none())
        .map(|job| world.resources.iter().find(|one| one.id == job.target.resource).expect("one").identifier.clone())
        .collect();
    for resource in queued {
        let tag = world.versions.last().expect("a version").tag.clone();
        world.finish(&resource, &tag, FinalStatus::Completed);
    }
}

#[test]
fn targets_take_turns_and_a_late_one_comes_last() {
    let mut world = world(3);
    world.version("v1");
    assert_snapshot!(settle(&mut world), @r"
    blocked    - -> -   v1 is held by p/rollout: 1 of 3, 0 before it, 1 unverified [08:01:00]
    blocked    - -> -   v1 is held by p/rollout: 2 of 3, 1 before it, 1 unverified [08:02:00]
    deploying  - -> v1  attempt 1 at v1 is queued
    ");
    world.advance(60);
    world.resource("r4", &[]);
    assert_snapshot!(settle(&mut world), @r"
    blocked    - -> -   v1 is held by p/rollout: 2 of 3, 0 before it, 2 unverified [08:02:00]
    blocked    - -> -   v1 is held by p/rollout: 3 of 4, 1 before it, 2 unverified [08:03:00]
    deploying  - -> v1  attempt 1 at v1 is queued
    deploying  - -> v1  attempt 1 at v1 is queued
    ");
    let mut starts: Vec<i64> = Vec::new();
    for _ in 0..4 {
        world.advance(60);
        settle(&mut world);
    }
    starts.extend(world.jobs.iter().map(|job| job.created_at.as_millis() / 1000));
    let gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [60, 60, 60]);
    // The places were given once.
    let mut places: Vec<(u32, u32)> = world
        .releases
        .iter()
        .map(|one| one.rollout.expect("a place"))
        .map(|place| (place.index, place.total))
        .collect();
    places.sort_unstable();
    assert_eq!(places, [(0, 3), (1, 3), (2, 3), (3, 4)]);
}

#[test]
fn a_rollout_begins_when_the_other_rules_let_go_and_spacing_survives_a_pause() {
    let mut world = World::with_prod(3);
    world.upload(every_minute());
    let switch = Switch::default();
    switch.set("*", deny("closed"));
    world.upload(switch.gate("gate"));
    world.policy("p", "true", 0, &[rule("rollout"), rule("gate")]);
    world.version("v1");
    assert_snapshot!(settle(&mut world), @r"
blocked  - -> -  v1 is held by p/gate (and 1 more): closed
blocked  - -> -  v1 is held by p/gate (and 1 more): closed
blocked  - -> -  v1 is held by p/gate (and 1 more): closed
");
    world.advance(600);
    switch.set("*", satisfied(world.now));
    assert_snapshot!(settle(&mut world), @r"
    blocked    - -> -   v1 is held by p/rollout: 1 of 3, 0 before it, 1 unverified [08:11:00]
    blocked    - -> -   v1 is held by p/rollout: 2 of 3, 1 before it, 1 unverified [08:12:00]
    deploying  - -> v1  attempt 1 at v1 is queued
    ");
    // Closed while the second and third turn come, then open again.
    world.advance(30);
    switch.set("*", deny("closed"));
    settle(&mut world);
    finish_what_runs(&mut world);
    world.advance(300);
    switch.set("*", satisfied(world.now));
    for _ in 0..3 {
        settle(&mut world);
        finish_what_runs(&mut world);
        world.advance(60);
    }
    let starts: Vec<i64> = world.jobs.iter().map(|job| job.created_at.as_millis() / 1000).collect();
    let gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap >= 60), "{gaps:?}");
}

fn satisfied(at: Timestamp) -> Answer {
    let Answer::Gate(mut answer) = allow("open") else { unreachable!("a gate's answer") };
    answer.satisfied_at = Some(at);
    Answer::Gate(answer)
}

#[test]
fn a_failure_stops_those_that_have_not_started() {
    let mut world = world(3);
    world.version("v1");
    settle(&mut world);
    let resource = world.jobs[0].target.resource;
    let first = world.resources.iter().find(|one| one.id == resource).expect("one").identifier.clone();
    world.finish(&first, "v1", FinalStatus::Failed);
    world.advance(60);
    assert_snapshot!(settle(&mut world), @r"
    blocked  - -> -   v1 is held by p/rollout: one failed
    blocked  - -> -   v1 is held by p/rollout: one failed
    blocked  - -> v1  v1 is held by p/rollout: one failed
    ");
}

/// The same targets and versions, whatever the order in which they were made known.
#[test]
fn the_order_of_turns_is_the_same_on_every_machine() {
    let order = |reversed: bool| {
        let mut world = world(5);
        world.version("v1");
        if reversed {
            world.resources.reverse();
        }
        settle(&mut world);
        let mut places: Vec<_> =
            world.releases.iter().map(|one| (one.rollout.expect("a place").index, one.target)).collect();
        places.sort_unstable();
        places
    };
    assert_eq!(order(false), order(true));
}

#[test]
fn how_a_version_stands_elsewhere_is_known_also_where_another_took_its_place() {
    let mut world = World::new();
    world.environment("staging", "resource.metadata['stage'] == 'staging'");
    world.environment("prod", "resource.metadata['stage'] == 'prod'");
    for (name, stage) in [("s1", "staging"), ("s2", "staging"), ("p1", "prod")] {
        world.resource(name, &[("stage", stage)]);
    }
    let facts = FactKinds { environment_progress: true, rollout_position: false, ..TURNS };
    let seen: Rc<RefCell<Vec<String>>> = Rc::default();
    let note = Rc::clone(&seen);
    let brain = move |request: &GateRequest| {
        let progress = request.environment_progress.as_ref().expect("progress");
        for of in progress.iter() {
            let counts: Vec<String> = of
                .statuses
                .iter()
                .map(|count| format!("{} {} ({} verified)", count.targets, count.status.name(), count.of_them_verified))
                .collect();
            let success = of.last_success_at.map_or_else(|| "-".to_owned(), |at| at.to_string());
            let (tag, name, targets) = (&request.candidate.tag, &of.environment.name, of.targets);
            note.borrow_mut().push(format!("{tag} in {name}: of {targets} {} since {success}", counts.join(", ")));
        }
        deny("not yet")
    };
    world.upload(Native { facts, ..gate("progression", brain) });
    world.policy("p", "environment.name == 'prod'", 0, &[rule("progression")]);
    world.version("v1");
    world.settle();
    world.finish("s1", "v1", FinalStatus::Completed);
    world.finish("s2", "v1", FinalStatus::Failed);
    world.settle();
    world.advance(60);
    world.version("v2");
    world.settle();
    world.finish("s1", "v2", FinalStatus::Completed);
    world.settle();
    seen.borrow_mut().clear();
    let _outcome = world.pass();
    assert_snapshot!(seen.borrow().join("\n"), @r"
    v2 in prod: of 1  since -
    v2 in staging: of 2 1 queued (0 verified), 1 completed (1 verified) since 2026-03-02T08:01:00.000Z
    v1 in prod: of 1  since -
    v1 in staging: of 2 1 completed (1 verified), 1 failed (0 verified) since 2026-03-02T08:00:00.000Z
    ");
}

#[test]
fn in_a_queue_every_version_comes_in_order_and_none_is_superseded() {
    let mut world = World::with_prod(1);
    world.upload(at_most(1, Scope::Target));
    world.policy("p", "true", 0, &[Draft { order: Order::Queue, ..rule("sequence") }]);
    for tag in ["v1", "v2", "v3"] {
        world.version(tag);
        world.advance(1);
    }
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    for tag in ["v1", "v2", "v3"] {
        world.settle();
        world.finish("r1", tag, FinalStatus::Completed);
    }
    world.settle();
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  completed
    r1  v2 #1  completed
    r1  v3 #1  completed
    ");
    assert!(!world.events.iter().any(|event| event.kind.name() == "release_superseded"));
}

#[test]
fn a_queue_goes_past_what_failed_and_what_is_held() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    switch.set("v2", deny("never"));
    world.upload(switch.gate("gate"));
    world.upload(at_most(1, Scope::Target));
    world.policy("p", "true", 0, &[rule("gate"), Draft { order: Order::Queue, ..rule("sequence") }]);
    for tag in ["v1", "v2", "v3"] {
        world.version(tag);
        world.advance(1);
    }
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    world.settle();
    world.finish("r1", "v3", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @"prod/r1  up_to_date  v3 -> v3  runs v3, the newest that may come here");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  failed
    r1  v3 #1  completed
    ");
}
