//! What rules say, and what comes of it when they cannot.

use insta::assert_snapshot;
use model::{
    approval::ApprovalDecision,
    decision::Verdict,
    job_state::FinalStatus,
    plugin::{FaultCode, Scope},
    policy::{OnError, RuleMode},
    question::{Answer, RetryAnswer},
};

use crate::{
    policies::{Native, Switch, allow, answer, approval, deny, gate, trap, wait},
    show::{asked, gates, jobs, table},
    world::{Draft, World, line, rule},
};

#[test]
fn an_approval_blocks_says_what_is_missing_and_lets_go() {
    let mut world = World::new();
    world.environment("staging", "resource.metadata.stage == 'staging'");
    world.environment("prod", "resource.metadata.stage == 'prod'");
    world.resource("s1", &[("stage", "staging")]);
    world.resource("p1", &[("stage", "prod")]);
    world.upload(approval(2));
    world.policy("prod needs two", "environment.name == 'prod'", 0, &[rule("approval")]);
    world.version("v1");
    assert_snapshot!(table(world.settle()), @r"
    prod/p1     blocked    - -> -   v1 is held by prod needs two/approval: 0 of 2 approvals
    staging/s1  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    world.approve("v1", "staging", "ada");
    world.approve("v1", "prod", "ada");
    world.approve("v1", "prod", "ada");
    assert_snapshot!(table(world.settle()), @r"
    prod/p1     blocked    - -> -   v1 is held by prod needs two/approval: 1 of 2 approvals
    staging/s1  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    world.approve("v1", "prod", "bob");
    world.say("v1", "prod", "eve", ApprovalDecision::Rejected);
    assert_snapshot!(table(world.settle()), @r"
    prod/p1     blocked    - -> -   v1 is held by prod needs two/approval: eve rejected it
    staging/s1  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    world.approve("v1", "prod", "eve");
    assert_snapshot!(table(world.settle()), @r"
    prod/p1     deploying  - -> v1  attempt 1 at v1 is queued
    staging/s1  deploying  - -> v1  attempt 1 at v1 is queued
    ");
}

#[test]
fn every_rule_is_asked_also_after_one_said_no() {
    let mut world = World::with_prod(1);
    let (one, two, three) = (Switch::default(), Switch::default(), Switch::default());
    for (name, switch) in [("one", &one), ("two", &two), ("three", &three)] {
        world.upload(switch.gate(name));
    }
    world.policy("all", "true", 0, &[rule("one"), rule("two"), rule("three")]);
    one.set("v1", deny("no"));
    three.set("v1", wait(Some(world.now.plus_seconds(600)), "in ten minutes"));
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  blocked  - -> -  v1 is held by all/one (and 1 more): no [08:10:00]");
    assert_snapshot!(gates(line(&report, "r1")), @r"
    v1  all/one    deny                 no
    v1  all/two    allow                nothing is in its way
    v1  all/three  wait until 08:10:00  in ten minutes
    ");
}

#[test]
fn an_audit_rule_is_asked_and_recorded_and_changes_nothing() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    world.upload(switch.gate("gate"));
    world.policy("watch", "true", 0, &[Draft { mode: RuleMode::Audit, ..rule("gate") }]);
    switch.set("v1", deny("it would not"));
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_snapshot!(gates(line(&report, "r1")), @"v1  watch/gate  deny (audit)  it would not");
    assert_eq!(world.decisions.len(), 1);
}

#[test]
fn a_rule_that_cannot_answer_blocks_unless_it_says_otherwise() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    world.upload(switch.gate("gate"));
    let allowing = Draft { on_error: OnError::Allow, ..rule("gate") };
    world.policy("closed", "true", 1, &[rule("gate")]);
    world.policy("open", "true", 0, &[allowing]);
    switch.set("v1", trap());
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  blocked  - -> -  v1 is held by closed/gate: the rule could not answer, so it blocks: it ran into unreachable code");
    assert_snapshot!(gates(line(&report, "r1")), @r"
    v1  closed/gate  deny !eval_trap   the rule could not answer, so it blocks: it ran into unreachable code
    v1  open/gate    allow !eval_trap  the rule could not answer, so `onError: allow` lets the version go: it ran into unreachable code
    ");
    world.policies.remove(0);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
}

#[test]
fn nonsense_is_no_answer() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    world.govern(switch.gate("gate"));
    world.version("v1");
    let mut over = answer(Verdict::Allow, "a window that has closed");
    over.valid_until = Some(world.now);
    let now = wait(Some(world.now), "a time that is now");
    for nonsense in [now, Answer::Gate(over), Answer::Retry(RetryAnswer::GiveUp("?".to_owned()))] {
        switch.set("v1", nonsense);
        let report = world.settle().clone();
        assert_eq!(world.jobs.len(), 0);
        let fault = line(&report, "r1").candidates[0].gates[0].decision.fault;
        assert_eq!(fault, Some(FaultCode::InvalidOutput));
    }
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> -  v1 is held by gate/gate: the rule could not answer, so it blocks: it answered another hook's question");
}

#[test]
fn a_missing_plugin_blocks_by_name() {
    let mut world = World::with_prod(1);
    world.policy("typo", "true", 0, &[rule("aproval")]);
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @"prod/r1  blocked  - -> -  v1 is held by typo/aproval: the rule could not answer, so it blocks: there is no plugin `aproval@*` in this workspace");
    assert_snapshot!(gates(line(&report, "r1")), @"v1  typo/aproval  deny !plugin_missing  the rule could not answer, so it blocks: there is no plugin `aproval@*` in this workspace");
}

#[test]
fn a_policy_whose_selector_fails_blocks_where_it_fails() {
    let mut world = World::new();
    world.environment("prod", "true");
    world.resource("r1", &[("team", "a")]);
    world.resource("r2", &[]);
    world.resource("r3", &[("team", "b")]);
    let switch = Switch::default();
    world.upload(switch.gate("gate"));
    world.policy("team", "resource.metadata.team == 'a'", 0, &[rule("gate")]);
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(table(&report), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  blocked    - -> -   v1 is held by team/gate: the rule could not answer, so it blocks: the selector of policy `team` failed here: `resource.metadata.team == 'a'`: there is no `team`
    prod/r3  deploying  - -> v1  attempt 1 at v1 is queued
    ");
    assert_eq!(line(&report, "r3").candidates[0].gates.len(), 0);
}

/// One answer for many targets holds for those whose selector could be asked, and for no other.
#[test]
fn a_failing_selector_is_not_covered_by_a_neighbours_answer() {
    let mut world = World::new();
    world.environment("prod", "true");
    world.resource("r1", &[("team", "a")]);
    world.resource("r2", &[]);
    world.resource("r3", &[("team", "a")]);
    let switch = Switch::default();
    world.upload(switch.gate("gate"));
    let wide = Draft { scope: Some(Scope::Environment), ..rule("gate") };
    world.policy("team", "resource.metadata.team == 'a'", 0, &[wide]);
    world.version("v1");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  blocked    - -> -   v1 is held by team/gate: the rule could not answer, so it blocks: the selector of policy `team` failed here: `resource.metadata.team == 'a'`: there is no `team`
    prod/r3  deploying  - -> v1  attempt 1 at v1 is queued
    ");
}

#[test]
fn high_priorities_are_asked_first_then_names_then_positions() {
    let mut world = World::with_prod(1);
    for name in ["a", "b", "c"] {
        world.upload(Switch::default().gate(name));
    }
    world.policy("minus ten", "true", -10, &[rule("a")]);
    world.policy("zero, later name", "true", 0, &[rule("b"), rule("a")]);
    world.policy("zero", "true", 0, &[rule("c")]);
    world.policy("five", "true", 5, &[rule("b")]);
    world.version("v1");
    let report = world.settle().clone();
    assert_snapshot!(gates(line(&report, "r1")), @r"
    v1  five/b              allow  nothing is in its way
    v1  zero/c              allow  nothing is in its way
    v1  zero, later name/b  allow  nothing is in its way
    v1  zero, later name/a  allow  nothing is in its way
    v1  minus ten/a         allow  nothing is in its way
    ");
}

#[test]
fn a_disabled_policy_and_one_of_another_environment_have_no_effect() {
    let mut world = World::with_prod(1);
    world.upload(gate("gate", |_| deny("never")));
    world.policy("elsewhere", "environment.name == 'staging'", 0, &[rule("gate")]);
    world.policy("off", "true", 0, &[rule("gate")]);
    world.policies[1].enabled = false;
    world.version("v1");
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    world.policies[1].enabled = true;
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v1  v1 is held by off/gate: never");
    world.policies[1].enabled = false;
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
}

#[test]
fn a_wide_rule_is_asked_once_for_all_it_reaches() {
    let mut world = World::with_prod(3);
    world.upload(approval(1));
    world.upload(Native { scope: Scope::Deployment, ..Switch::default().gate("budget") });
    let narrow = Draft { scope: Some(Scope::Target), ..rule("budget") };
    world.policy("p", "true", 0, &[rule("approval"), rule("budget"), narrow]);
    world.version("v1");
    let _outcome = world.pass();
    assert_snapshot!(asked(&world), @r"
    approval  v1 at prod
    budget    v1 at all
    budget    v1 at web/prod/r1
    budget    v1 at web/prod/r2
    budget    v1 at web/prod/r3
    ");
    assert_eq!(world.decisions.len(), 5);
}

#[test]
fn a_time_to_wait_for_wakes_and_so_does_the_end_of_what_is_allowed() {
    let mut world = World::with_prod(2);
    let opens = world.now.plus_seconds(3600);
    let closes = opens.plus_seconds(1800);
    world.upload(gate("window", move |request| {
        // The pass's now is not among a gate's facts here, so the versions stand for it.
        let mut open = answer(Verdict::Allow, "the window is open");
        open.valid_until = Some(closes);
        match request.candidate.tag.as_str() {
            "open" => Answer::Gate(open),
            _ => wait(Some(opens), "the window opens at 09:00"),
        }
    }));
    world.policy("hours", "true", 0, &[rule("window")]);
    world.version("closed");
    let outcome = world.look();
    assert_eq!(outcome.plan.next_evaluation, Some(opens));
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  blocked  - -> -  closed is held by hours/window: the window opens at 09:00 [09:00:00]
    prod/r2  blocked  - -> -  closed is held by hours/window: the window opens at 09:00 [09:00:00]
    ");
    world.version("open");
    let outcome = world.look();
    assert_eq!(outcome.plan.next_evaluation, Some(closes));
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> open  attempt 1 at open is queued [09:30:00]
    prod/r2  deploying  - -> open  attempt 1 at open is queued [09:30:00]
    ");
}

#[test]
fn a_decision_is_recorded_when_it_says_something_new() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    world.govern(switch.gate("gate"));
    switch.set("v1", deny("no"));
    world.version("v1");
    world.settle();
    let first = world.decisions.clone();
    world.advance(60);
    assert!(world.pass().plan.steps.is_empty());
    assert_eq!(world.decisions, first);
    switch.set("v1", deny("no, for another reason"));
    world.settle();
    assert_eq!(world.decisions.len(), 1);
    assert_ne!(world.decisions, first);
}

#[test]
fn a_gate_that_closes_before_an_agent_came_takes_the_job_back_and_it_starts_again_as_the_same_attempt() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    world.govern(switch.gate("gate"));
    world.version("v1");
    world.settle();
    switch.set("v1", wait(None, "frozen"));
    // What a person reads while the job is taken back is already what is so.
    let outcome = world.pass();
    assert_snapshot!(table(&outcome.report), @"prod/r1  blocked  - -> v1  v1 is held by gate/gate: frozen");
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v1  v1 is held by gate/gate: frozen");
    switch.set("v1", allow("thawed"));
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is queued");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  skipped
    r1  v1 #1  queued
    ");
}

#[test]
fn a_gate_that_closes_never_stops_a_running_job() {
    let mut world = World::with_prod(1);
    let switch = Switch::default();
    world.govern(switch.gate("gate"));
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    switch.set("v1", deny("frozen"));
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 1 at v1 is in_progress");
    world.finish("r1", "v1", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @"prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here");
}
