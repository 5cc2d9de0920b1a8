//! Another attempt: who grants it, when, and who never gets one.

use std::{cell::Cell, rc::Rc};

use insta::assert_snapshot;
use model::{
    job_state::FinalStatus,
    policy::{OnError, RuleMode},
    question::{Answer, Ask, Intent, RetryAnswer},
};

use crate::{
    policies::{Native, Switch, allow, deny, gate, retry, retry_after, trap},
    show::{jobs, table},
    world::{Draft, World, rule},
};

#[test]
fn without_a_rule_there_is_no_other_attempt() {
    let mut world = World::with_prod(1);
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  - -> v1  attempt 1 at v1 ended as `failed` (exit status 1), and no rule grants another");
    world.advance(86_400);
    assert_eq!(world.pass().plan.steps.len(), 0);
    world.version("v2");
    assert_snapshot!(table(world.finish_all()), @"prod/r1  up_to_date  v2 -> v2  runs v2, the newest that may come here");
}

#[test]
fn a_retry_is_granted_postponed_and_at_last_refused() {
    let mut world = World::with_prod(1);
    world.govern(retry_after(1, 60));
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  waiting  - -> v1  v1 waits: retry/retry tries again at 2026-03-02T08:01:00.000Z [08:01:00]");
    world.advance(59);
    assert_eq!(world.pass().plan.steps.len(), 0);
    world.advance(1);
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 2 at v1 is queued");
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  - -> v1  retry/retry gives up: 1 retries were made");
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  failed
    r1  v1 #2  failed
    ");
}

#[test]
fn attempts_count_for_each_version_from_one() {
    let mut world = World::with_prod(1);
    world.govern(retry_after(5, 0));
    for tag in ["v1", "v2"] {
        world.version(tag);
        world.settle();
        world.finish("r1", tag, FinalStatus::Failed);
        world.settle();
        world.finish("r1", tag, FinalStatus::InvalidIntegration);
        world.finish_all();
    }
    assert_snapshot!(jobs(&world), @r"
    r1  v1 #1  failed
    r1  v1 #2  invalid_integration
    r1  v1 #3  completed
    r1  v2 #1  failed
    r1  v2 #2  invalid_integration
    r1  v2 #3  completed
    ");
}

#[test]
fn a_cancelled_job_is_never_tried_again() {
    let mut world = World::with_prod(1);
    world.govern(retry_after(5, 0));
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Cancelled);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  - -> v1  v1 was cancelled here; only a redeploy starts it again");
    assert_eq!(world.asked.len(), 0);
}

#[test]
fn of_several_rules_each_must_grant_it_and_the_latest_time_counts() {
    let mut world = World::with_prod(1);
    let slow = retry_after(5, 60);
    world.upload(Native { name: "slow", ..slow });
    world.upload(Native { name: "fast", ..retry_after(5, 30) });
    world.policy("a", "true", 0, &[rule("fast"), rule("slow")]);
    world.policy("b", "true", 0, &[rule("fast")]);
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  waiting  - -> v1  v1 waits: a/slow tries again at 2026-03-02T08:01:00.000Z [08:01:00]");
    world.upload(Native { name: "never", ..retry_after(0, 0) });
    world.policy("c", "true", 9, &[rule("never")]);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  - -> v1  c/never gives up: 0 retries were made");
}

/// No rule that answers grants it, so there is none: an open rule that traps must not start attempts without end.
#[test]
fn a_rule_that_cannot_answer_grants_nothing() {
    for on_error in [OnError::Block, OnError::Allow] {
        let mut world = World::with_prod(1);
        world.upload(retry("retry", |_, _| trap()));
        world.policy("p", "true", 0, &[Draft { on_error, ..rule("retry") }]);
        world.version("v1");
        world.settle();
        world.finish("r1", "v1", FinalStatus::Failed);
        let report = world.settle().clone();
        assert_eq!(world.jobs.len(), 1);
        match on_error {
            OnError::Block => {
                assert_snapshot!(table(&report), @"prod/r1  failed  - -> v1  p/retry could not answer, so there is no other attempt: eval_trap: it ran into unreachable code")
            }
            OnError::Allow => {
                assert_snapshot!(table(&report), @"prod/r1  failed  - -> v1  no rule could say whether there is another attempt")
            }
        }
    }
}

#[test]
fn an_open_rule_that_cannot_answer_leaves_the_others_their_say() {
    let mut world = World::with_prod(1);
    world.upload(Native { name: "broken", ..retry("retry", |_, _| trap()) });
    world.upload(retry_after(5, 60));
    world.policy("p", "true", 0, &[rule("retry"), Draft { on_error: OnError::Allow, ..rule("broken") }]);
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  waiting  - -> v1  v1 waits: p/retry tries again at 2026-03-02T08:01:00.000Z [08:01:00]");
}

#[test]
fn an_audit_rule_grants_nothing() {
    let mut world = World::with_prod(1);
    world.upload(retry_after(5, 0));
    world.policy("p", "true", 0, &[Draft { mode: RuleMode::Audit, ..rule("retry") }]);
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    assert_snapshot!(table(world.settle()), @"prod/r1  failed  - -> v1  attempt 1 at v1 ended as `failed` (exit status 1), and no rule grants another");
}

/// The retry is due, and a window has closed meanwhile: the window is what holds it, and is named.
#[test]
fn a_retry_passes_all_gates_again() {
    let mut world = World::with_prod(1);
    let window = Switch::default();
    world.govern(window.gate("window"));
    world.govern(retry_after(5, 60));
    world.version("v1");
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    world.settle();
    window.set("v1", deny("closed until tomorrow"));
    world.advance(60);
    assert_snapshot!(table(world.settle()), @"prod/r1  blocked  - -> v1  v1 is held by window/window: closed until tomorrow");
    window.set("v1", allow("open"));
    assert_snapshot!(table(world.settle()), @"prod/r1  deploying  - -> v1  attempt 2 at v1 is queued");
}

#[test]
fn gates_hear_of_a_retry_only_when_it_is_one() {
    let mut world = World::with_prod(1);
    let heard = Rc::new(Cell::new(None));
    let ear = Rc::clone(&heard);
    world.govern(gate("gate", move |request| {
        ear.set(Some(request.intent));
        allow("yes")
    }));
    world.govern(retry_after(5, 0));
    world.version("v1");
    for _ in 0..3 {
        let _outcome = world.pass();
        assert_eq!(heard.take(), Some(Intent::Automatic), "the first attempt, also while it waits for an agent");
    }
    world.finish("r1", "v1", FinalStatus::Failed);
    let _outcome = world.pass();
    assert_eq!(heard.take(), Some(Intent::Retry));
}

#[test]
fn after_a_success_attempts_count_anew() {
    let mut world = World::with_prod(1);
    let seen = Rc::new(Cell::new(0));
    let count = Rc::clone(&seen);
    world.govern(retry("retry", move |request, now| {
        count.set(request.attempts.len());
        Answer::Retry(RetryAnswer::RetryAt(now))
    }));
    world.version("v1");
    world.settle();
    for attempt in 1..=3 {
        world.finish("r1", "v1", FinalStatus::Failed);
        world.settle();
        assert_eq!(seen.get(), attempt);
    }
    world.finish_all();
    assert!(world.asked.iter().all(|question| !matches!(question.ask, Ask::Retry(_))));
}
