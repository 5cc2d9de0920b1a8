//! Of what could start, what does.

use insta::assert_snapshot;
use model::{
    job_state::FinalStatus,
    plugin::Scope,
    policy::{OnError, RuleMode},
    question::{Answer, SequenceRequest, SequenceStep},
};

use crate::{
    policies::{Native, at_most, newest_first, sequence, trap},
    show::{asked, jobs, steps, table},
    world::{Draft, World, rule},
};

#[test]
fn a_group_starts_as_many_as_the_rule_says_and_the_next_when_one_ends() {
    let mut world = World::with_prod(3);
    world.govern(at_most(2, Scope::Environment));
    world.version("v1");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r3  waiting    - -> v1  v1 waits: sequence/sequence: 2 at once
    ");
    world.finish("r1", "v1", FinalStatus::Completed);
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  up_to_date  v1 -> v1  runs v1, the newest that may come here
    prod/r2  deploying   - -> v1   attempt 1 at v1 is queued
    prod/r3  deploying   - -> v1   attempt 1 at v1 is queued
    ");
}

#[test]
fn a_group_of_its_own_is_asked_for_each_place_in_its_scope() {
    let mut world = World::with_prod(2);
    world.environment("staging", "true");
    world.upload(at_most(1, Scope::Target));
    world.upload(Native { name: "wide", ..at_most(9, Scope::Deployment) });
    world.policy(
        "p",
        "true",
        0,
        &[rule("sequence"), Draft { scope: Some(Scope::Environment), ..rule("sequence") }, rule("wide")],
    );
    world.version("v1");
    let _outcome = world.pass();
    assert_snapshot!(asked(&world), @r"
    sequence  1 ready, 0 running of 1
    sequence  1 ready, 0 running of 1
    sequence  1 ready, 0 running of 1
    sequence  1 ready, 0 running of 1
    sequence  2 ready, 0 running of 2
    sequence  2 ready, 0 running of 2
    wide      4 ready, 0 running of 4
    ");
}

#[test]
fn of_several_rules_all_must_start() {
    let mut world = World::with_prod(3);
    world.upload(at_most(2, Scope::Environment));
    world.upload(Native { name: "strict", ..at_most(0, Scope::Target) });
    world.policy("p", "true", 0, &[rule("sequence")]);
    world.policy("q", "resource.identifier == 'r1'", 0, &[rule("strict")]);
    world.version("v1");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  waiting    - -> v1  v1 waits: q/strict: 0 at once
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r3  waiting    - -> v1  v1 waits: p/sequence: 2 at once
    ");
}

#[test]
fn a_rule_may_stop_what_runs_and_asks_once() {
    let mut world = World::with_prod(1);
    world.govern(newest_first());
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    world.version("v2");
    let outcome = world.pass();
    assert_snapshot!(steps(&world, &outcome), @r"
    prod/r1  release v2
    prod/r1  desired v2
    prod/r1  cancel v1 #1: sequence/sequence: v2 takes its place
    ");
    // The agent has not answered yet: it is not asked again.
    assert_snapshot!(table(world.settle()), @"prod/r1  waiting  - -> v2  v2 waits: the job of v1 on this target (in_progress) must end first");
    world.finish("r1", "v1", FinalStatus::Cancelled);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v2  attempt 1 at v2 is queued");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  cancelled
    r1  v2 #1  queued
    ");
}

/// With a rule, what a newer version displaces is the rule's to say.
#[test]
fn a_queued_job_gives_way_when_the_rule_says_so() {
    let keep = || {
        sequence("sequence", Scope::Target, |request| match request.running.is_empty() {
            true => Answer::Sequence(request.ready.iter().map(|ready| SequenceStep::Start(ready.id)).collect()),
            false => {
                let hold =
                    |ready: &model::question::ReadyRelease| SequenceStep::Hold(ready.id, "one by one".to_owned());
                Answer::Sequence(request.ready.iter().map(hold).collect())
            }
        })
    };
    let mut tables = Vec::new();
    for native in [newest_first(), keep()] {
        let mut world = World::with_prod(1);
        world.govern(native);
        world.version("v1");
        world.settle();
        world.version("v2");
        world.settle();
        tables.push(jobs(&world));
    }
    assert_snapshot!(tables.join("\n\n"), @r"
    r1  v1 #1  cancelled
    r1  v2 #1  queued

    r1  v1 #1  queued
    ");
}

#[test]
fn a_rule_that_cannot_answer_or_answers_nonsense_holds_its_group_unless_it_is_open() {
    type Say = fn(&SequenceRequest) -> Answer;
    let says: [(&str, Say); 5] = [
        ("traps", |_| trap()),
        ("forgets one", |request| Answer::Sequence(vec![SequenceStep::Start(request.ready[0].id)])),
        ("says it twice", |request| {
            let twice = request.ready.iter().chain(&request.ready);
            Answer::Sequence(twice.map(|ready| SequenceStep::Start(ready.id)).collect())
        }),
        ("stops a stranger", |request| {
            let stranger = model::id::JobId(request.ready[0].id.0);
            let starts = request.ready.iter().map(|ready| SequenceStep::Start(ready.id));
            Answer::Sequence(starts.chain([SequenceStep::Cancel(stranger, "away".to_owned())]).collect())
        }),
        ("answers a gate", |_| crate::policies::allow("yes")),
    ];
    let mut reasons = Vec::new();
    for (name, say) in says {
        for on_error in [OnError::Block, OnError::Allow] {
            let mut world = World::with_prod(2);
            world.upload(sequence("sequence", Scope::Environment, say));
            world.policy("p", "true", 0, &[Draft { on_error, ..rule("sequence") }]);
            world.version("v1");
            let report = world.settle().clone();
            assert_eq!(world.jobs.len(), if on_error == OnError::Allow { 2 } else { 0 }, "{name}");
            if on_error == OnError::Block {
                let is_id = |word: &str| word.trim_end_matches(',').parse::<model::id::JobId>().is_ok();
                let words = report.targets[0].reason.split(' ').map(|word| if is_id(word) { "ID" } else { word });
                reasons.push(format!("{name}: {}", words.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    assert_snapshot!(reasons.join("\n"), @r"
    traps: v1 waits: p/sequence could not answer, so it waits: eval_trap: it ran into unreachable code
    forgets one: v1 waits: p/sequence could not answer, so it waits: invalid_output: it neither starts nor holds release ID
    says it twice: v1 waits: p/sequence could not answer, so it waits: invalid_output: it names release ID twice, or it was not asked about it
    stops a stranger: v1 waits: p/sequence could not answer, so it waits: invalid_output: it cancels job ID which does not run in the group
    answers a gate: v1 waits: p/sequence could not answer, so it waits: invalid_output: it answered another hook's question
    ");
}

#[test]
fn an_audit_rule_holds_nothing() {
    let mut world = World::with_prod(2);
    world.upload(at_most(0, Scope::Environment));
    world.policy("p", "true", 0, &[Draft { mode: RuleMode::Audit, ..rule("sequence") }]);
    world.version("v1");
    assert_snapshot!(table(world.settle()), @r"
    prod/r1  deploying  - -> v1  attempt 1 at v1 is queued
    prod/r2  deploying  - -> v1  attempt 1 at v1 is queued
    ");
}

#[test]
fn stopping_on_one_target_leaves_the_others_alone() {
    let mut world = World::with_prod(2);
    world.govern(newest_first());
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    world.finish("r2", "v1", FinalStatus::Completed);
    world.settle();
    world.version("v2");
    world.settle();
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  in_progress
    r2  v1 #1  completed
    r2  v2 #1  queued
    ");
}
