//! What holds and what does not: rules joined by or, first deployments, skips and freezes.

use std::{cell::Cell, rc::Rc};

use insta::assert_snapshot;
use model::{
    decision::DecisionScope,
    freeze::Freeze,
    id::{FreezeId, SkipId},
    job_state::FinalStatus,
    policy::RuleMode,
    question::Answer,
    skip::{Skip, Skipped},
    time::Timestamp,
};

use crate::{
    policies::{Switch, allow, deny, gate, trap, wait},
    show::{gates, steps, table},
    world::{Draft, World, line, rule},
};

fn joined(plugin: &'static str) -> Draft {
    Draft { any_of: Some("windows"), ..rule(plugin) }
}

/// Two rules joined by or, one beside them.
fn three() -> (World, [Switch; 3]) {
    let mut world = World::with_prod(1);
    let switches = [Switch::default(), Switch::default(), Switch::default()];
    for (switch, name) in switches.iter().zip(["week", "friday", "other"]) {
        world.upload(switch.gate(name));
    }
    world.policy("p", "true", 0, &[joined("week"), joined("friday"), rule("other")]);
    (world, switches)
}

#[test]
fn of_rules_joined_by_or_one_is_enough_and_the_rest_still_counts() {
    let (mut world, [week, friday, other]) = three();
    let at = |hours: i64| world.now.plus_seconds(hours * 3600);
    let (early, late) = (at(2), at(5));
    week.set("*", wait(Some(late), "opens at five"));
    friday.set("*", wait(Some(early), "opens at two"));
    other.set("*", deny("no"));
    world.version("v1");
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> -  v1 is held by p/friday (and 1 more): opens at two [10:00:00]");
    other.set("*", allow("yes"));
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> -  v1 is held by p/friday: opens at two [10:00:00]");
    week.set("*", allow("open"));
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued [10:00:00]");
    assert_snapshot!(gates(line(&world.report, "r1")), @r"
    v1  p/week    allow                open
    v1  p/friday  wait until 10:00:00  opens at two
    v1  p/other   allow                yes
    ");
}

#[test]
fn an_audit_rule_opens_no_group() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    switch.set("*", deny("closed"));
    world.upload(switch.gate("week"));
    world.upload(Switch::default().gate("friday"));
    world.policy("p", "true", 0, &[joined("week"), Draft { mode: RuleMode::Audit, ..joined("friday") }]);
    world.version("v1");
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> -  v1 is held by p/week: closed");
}

#[test]
fn a_first_deployment_passes_what_does_not_hold_it() {
    let mut world = World::with_prod(2);
    let switch = Switch::default();
    switch.set("*", deny("closed until monday"));
    world.upload(switch.gate("window"));
    world.policy("p", "true", 0, &[Draft { applies_to_first: false, ..rule("window") }]);
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    assert_snapshot!(gates(line(&report, "r1")), @"v1  p/window  allow  the target runs nothing yet, and this rule does not hold a first deployment (`appliesToFirst: true` turns that round)");
    world.finish("r1", "v1", FinalStatus::Completed);
    world.finish("r2", "v1", FinalStatus::Failed);
    world.version("v2");
    // The one that failed has nothing yet.
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  blocked    v1 -> v1  v2 is held by p/window: closed until monday
    prod/r2  deploying  - -> v2   attempt 1 at v2 is queued
    ");
}

fn skip(world: &mut World, tag: &str, resource: Option<&str>, expires_at: Option<Timestamp>) {
    let version = world.versions.iter().find(|version| version.tag == tag).expect("a version").id;
    let rule = &world.policies[0].rules[0];
    let (policy, rule) = (rule.policy, rule.id);
    let of = resource.map(|name| world.resources.iter().find(|one| one.identifier == name).expect("a resource").id);
    let environment = resource.map(|_| world.environments[0].id);
    world.skips.push(Skip {
        id: SkipId(world.ids.next(world.now)),
        workspace: world.deployment.workspace,
        skipped: Skipped::Rule(policy, rule),
        version,
        scope: DecisionScope { deployment: world.deployment.id, environment, resource: of },
        user: "ann".to_owned(),
        reason: "an outage".to_owned(),
        created_at: world.now,
        expires_at,
    });
}

#[test]
fn a_skip_stands_in_one_rules_place_for_one_version_where_it_says() {
    let mut world = World::with_prod(2);
    let asked = Rc::new(Cell::new(0));
    let count = Rc::clone(&asked);
    world.upload(gate("first", move |_| {
        count.set(count.get() + 1);
        deny("closed")
    }));
    world.upload(Switch::default().gate("second"));
    world.policy("p", "true", 0, &[rule("first"), rule("second")]);
    world.version("v1");
    world.settle();
    skip(&mut world, "v1", Some("r1"), None);
    asked.set(0);
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  blocked    - -> -   v1 is held by p/first: closed
    ");
    assert_snapshot!(gates(line(&report, "r1")), @r"
    v1  p/first   allow  skipped by ann: an outage
    v1  p/second  allow  nothing is in its way
    ");
    assert_eq!(line(&report, "r1").candidates[0].skips.len(), 1);
    // Another version is not skipped.
    world.version("v2");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  blocked    - -> -   v2 is held by p/first: closed
    ");
}

#[test]
fn a_skip_of_a_whole_deployment_is_one_decision() {
    let mut world = World::with_prod(3);
    world.upload(gate("first", |_| trap()));
    world.policy("p", "true", 0, &[rule("first")]);
    world.version("v1");
    skip(&mut world, "v1", None, None);
    world.settle();
    assert_eq!(world.decisions.len(), 1);
    assert_eq!(world.jobs.len(), 3);
}

#[test]
fn a_skip_ends_and_wakes_the_planner_when_it_does() {
    let mut world = World::with_prod(1);
    world.upload(gate("first", |_| deny("closed")));
    let other = Switch::default();
    other.set("*", deny("not yet"));
    world.upload(other.gate("second"));
    world.policy("p", "true", 0, &[rule("first"), rule("second")]);
    world.version("v1");
    let end = world.now.plus_seconds(600);
    skip(&mut world, "v1", Some("r1"), Some(end));
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> -  v1 is held by p/second: not yet [08:10:00]");
    world.advance(600);
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> -  v1 is held by p/first (and 1 more): closed");
}

fn freeze(world: &mut World, selector: &str, start: i64, end: Option<i64>) {
    let at = |seconds: i64| world.now.plus_seconds(seconds);
    world.freezes.push(Freeze {
        id: FreezeId(world.ids.clone().next(world.now)),
        workspace: world.deployment.workspace,
        name: "holidays".to_owned(),
        selector: selector.to_owned(),
        starts_at: at(start),
        ends_at: end.map(at),
        reason: "nobody is in".to_owned(),
        created_by: "ann".to_owned(),
        created_at: world.now,
    });
}

#[test]
fn a_freeze_blocks_starts_and_not_what_runs() {
    let mut world = World::with_prod(3);
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    freeze(&mut world, "resource.identifier != 'r3'", 0, Some(3600));
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @"prod/r2  withdraw v1 #1: a rule or a freeze no longer lets the version go; it starts again when nothing holds it");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is in_progress
    prod/r2  blocked    - -> v1  v1 is held by freeze: `holidays` of ann holds until 2026-03-02T09:00:00.000Z: nobody is in [09:00:00]
    prod/r3  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    world.advance(3600);
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is in_progress
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r3  deploying  - -> v1  attempt 1 at v1 is queued
    ");
}

#[test]
fn a_freeze_to_come_wakes_the_planner_and_a_failing_selector_freezes() {
    let mut world = World::with_prod(1);
    world.version("v1");
    freeze(&mut world, "true", 600, None);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued [08:10:00]");
    world.advance(600);
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v1  v1 is held by freeze: `holidays` of ann holds until it is lifted: nobody is in");
    world.freezes[0].selector = "resource.metadata['x'] == 'y'".to_owned();
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v1  v1 is held by freeze: the selector of `holidays` failed here, so it holds until it is lifted: `resource.metadata['x'] == 'y'`: there is no `x`");
}

#[test]
fn a_freeze_is_skipped_for_one_release() {
    let mut world = World::with_prod(2);
    world.version("v1");
    freeze(&mut world, "true", 0, None);
    world.upload(Switch::default().gate("gate"));
    world.policy("p", "true", 0, &[rule("gate")]);
    skip(&mut world, "v1", Some("r2"), None);
    world.skips[0].skipped = Skipped::Freeze(world.freezes[0].id);
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  blocked    - -> -   v1 is held by freeze: `holidays` of ann holds until it is lifted: nobody is in
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    ");
}

/// What a busy machine could not answer is asked again by itself, ever more rarely; a defect of the rule is not.
#[test]
fn what_did_not_answer_in_time_is_asked_again() {
    use model::plugin::{Fault, FaultCode};
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    let late = Answer::Fault(Fault { code: FaultCode::EvalTimeout, message: "50 ms are over".to_owned() });
    switch.set("*", late);
    world.govern(switch.gate("gate"));
    world.version("v1");
    let mut waits = Vec::new();
    for _ in 0..9 {
        let next = world.settle().targets[0].next_evaluation.expect("it looks again");
        waits.push(next.millis_since(world.now) / 1000);
        world.now = next;
    }
    assert_eq!(waits, [10, 10, 20, 40, 80, 160, 320, 600, 600]);
    switch.set("*", trap());
    assert_eq!(world.settle().targets[0].next_evaluation, None);
}
