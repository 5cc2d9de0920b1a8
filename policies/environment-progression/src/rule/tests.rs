//! `ask` is the only code that calls the rule.

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use tidegate_policy::{
    JobStatus,
    gate::{StatusCount, Verdict},
};

use super::*;

const CEL: Cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
/// 2026-03-02 08:00:00 UTC
const START: Timestamp = 1_772_438_400_000;
const MINUTE: i64 = 60_000;

fn environment(name: &str) -> Environment {
    let labels = if name == "canary" { vec![("ring".to_owned(), "0".to_owned())] } else { Vec::new() };
    Environment { id: format!("id-{name}"), name: name.to_owned(), labels }
}

/// So many of the targets completed, the last one at that minute.
fn progress(name: &str, completed: u32, targets: u32, minute: Option<i64>) -> EnvironmentProgress {
    let mut statuses = Vec::new();
    if completed > 0 {
        statuses.push(StatusCount { status: JobStatus::Completed, targets: completed, of_them_verified: completed });
    }
    let last_success_at = minute.map(|minute| START + minute * MINUTE);
    EnvironmentProgress { environment: environment(name), targets, statuses, last_success_at }
}

fn config(rest: &str) -> Config {
    let json = format!("{{\"dependsOnEnvironmentSelector\": \"environment.name != 'dev'\"{rest}}}");
    serde_json::from_str(&json).expect("a configuration")
}

fn version() -> Version {
    Version {
        id: "v".into(),
        tag: "v1".into(),
        name: String::new(),
        created_at: START,
        received_at: START,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    }
}

fn ask(config: &Config, minute: i64, facts: &[EnvironmentProgress]) -> Result<Decision, String> {
    decide(config, &CEL, START + minute * MINUTE, &version(), Some(&environment("prod")), facts)
}

fn check(config: &Config, minute: i64, facts: &[EnvironmentProgress], verdict: &Verdict, reason: &str) {
    let decision = ask(config, minute, facts).expect("an answer");
    assert_eq!((&decision.verdict, decision.reason.as_str()), (verdict, reason));
}

const WAIT: Verdict = Verdict::Wait(None);

#[test]
fn all_targets_must_succeed_unless_told_otherwise() {
    let last = "last at 2026-03-02 08:05:00 UTC";
    let all = format!("v1 in staging succeeded on 3 of 3 targets (100 %), {last}");
    check(&config(""), 10, &[progress("staging", 3, 3, Some(5))], &Verdict::Allow, &all);
    let none = "v1 must succeed in staging first: it succeeded on 0 of 3 targets (0 %)";
    check(&config(""), 10, &[progress("staging", 0, 3, None)], &WAIT, none);
    let one = "v1 must succeed on 3 of 3 targets in staging (100 %): it succeeded on 1 of 3 targets (33.3 %)";
    check(&config(""), 10, &[progress("staging", 1, 3, Some(5))], &WAIT, one);
    let failed = StatusCount { status: JobStatus::Failed, targets: 3, of_them_verified: 0 };
    let all_failed = EnvironmentProgress { statuses: vec![failed], ..progress("staging", 0, 3, None) };
    check(&config(""), 10, &[all_failed], &WAIT, none);
}

#[test]
fn percentages_are_of_targets_and_exact() {
    let verdict = |percentage: &str, completed, targets| {
        let config = config(&format!(", \"minimumSuccessPercentage\": {percentage}"));
        let decision = ask(&config, 10, &[progress("staging", completed, targets, Some(5))]).expect("an answer");
        decision.verdict == Verdict::Allow
    };
    assert!(verdict("33", 1, 3) && !verdict("34", 1, 3));
    assert!(verdict("66", 2, 3) && !verdict("67", 2, 3) && verdict("100", 3, 3));
    assert!(verdict("50", 1, 2) && !verdict("50", 1, 3));
    assert!(!verdict("100", 199, 200) && verdict("99.5", 199, 200) && !verdict("99.500001", 199, 200));
    let short = "v1 must succeed on 200 of 200 targets in staging (100 %): it succeeded on 199 of 200 targets (99.5 %)";
    check(&config(""), 10, &[progress("staging", 199, 200, Some(5))], &WAIT, short);
}

#[test]
fn no_targets_pass_and_no_environment_blocks() {
    let empty = "staging has no targets, so nothing there can hold v1 back";
    check(&config(""), 10, &[progress("staging", 0, 0, None)], &Verdict::Allow, empty);
    let soak = config(", \"minimumSoakTimeMinutes\": 60");
    check(&soak, 0, &[progress("staging", 0, 0, None)], &Verdict::Allow, empty);
    let nothing = "no other environment that shares a system matches `environment.name != 'dev'`; one must be added, \
                   or the rule changed";
    check(&config(""), 10, &[], &Verdict::Deny, nothing);
    check(&config(""), 10, &[progress("dev", 3, 3, Some(1))], &Verdict::Deny, nothing);
    // Nor is an environment its own forerunner.
    check(&config(""), 10, &[progress("prod", 3, 3, Some(1))], &Verdict::Deny, nothing);
}

#[test]
fn soak_counts_from_the_most_recent_success_and_ends_exactly() {
    let soak = config(", \"minimumSoakTimeMinutes\": 60");
    // From 10:00 to 10:10 and again from 12:00.
    let staging = [progress("staging", 1, 1, Some(240))];
    let soaks = "v1 soaks in staging until 2026-03-02 13:00:00 UTC (60 min after its last success there)";
    check(&soak, 270, &staging, &Verdict::Wait(Some(START + 300 * MINUTE)), soaks);
    let soaked = "v1 in staging succeeded on 1 of 1 target (100 %), last at 2026-03-02 12:00:00 UTC, and has soaked \
                  for 60 min";
    check(&soak, 300, &staging, &Verdict::Allow, soaked);
    assert_eq!(ask(&soak, 400, &staging).expect("an answer").satisfied_at, Some(START + 300 * MINUTE));
}

#[test]
fn age_is_good_at_its_end_and_not_after() {
    let fresh = config(", \"maximumAgeHours\": 1");
    let staging = [progress("staging", 1, 1, Some(0))];
    let at_the_end = ask(&fresh, 60, &staging).expect("an answer");
    assert_eq!(at_the_end.verdict, Verdict::Allow);
    let over = START + 60 * MINUTE + 1;
    assert_eq!(at_the_end.valid_until, Some(over));
    let after = decide(&fresh, &CEL, over, &version(), None, &staging).expect("an answer");
    assert_eq!(after.verdict, Verdict::Deny);
    let again = "v1 must succeed in staging again: its last success was good for 1 h, until 2026-03-02 09:00:00 UTC";
    assert_eq!(after.reason, again);
}

#[test]
fn statuses_and_verification_say_what_a_success_is() {
    let staging = EnvironmentProgress {
        statuses: vec![
            StatusCount { status: JobStatus::Completed, targets: 2, of_them_verified: 1 },
            StatusCount { status: JobStatus::InProgress, targets: 1, of_them_verified: 0 },
        ],
        ..progress("staging", 0, 3, Some(5))
    };
    let succeeded = |rest: &str| {
        let decision = ask(&config(rest), 10, std::slice::from_ref(&staging)).expect("an answer");
        let figure = decision.details.iter().find(|(name, _)| name == "succeeded in staging").expect("there");
        figure.1.clone()
    };
    assert_eq!(succeeded(""), "2 of 3 (66.6 %)");
    assert_eq!(succeeded(", \"requireVerificationPassed\": true"), "1 of 3 (33.3 %)");
    assert_eq!(succeeded(", \"successStatuses\": [\"completed\", \"in_progress\"]"), "3 of 3 (100 %)");
    let verified = config(", \"requireVerificationPassed\": true");
    let missing = "v1 must succeed on 3 of 3 targets in staging (100 %): it succeeded and was verified on 1 of 3 \
                   targets (33.3 %)";
    check(&verified, 10, &[staging], &WAIT, missing);
}

#[test]
fn one_environment_that_satisfies_all_is_enough() {
    let soak = config(", \"minimumSoakTimeMinutes\": 60");
    let both = [progress("staging", 1, 1, Some(30)), progress("qa", 1, 1, Some(0))];
    assert_eq!(ask(&soak, 45, &both).expect("an answer").verdict, Verdict::Wait(Some(START + 60 * MINUTE)));
    let qa = "v1 in qa succeeded on 1 of 1 target (100 %), last at 2026-03-02 08:00:00 UTC, and has soaked for 60 min";
    check(&soak, 60, &both, &Verdict::Allow, qa);
    let missing = "v1 soaks in qa until 2026-03-02 09:00:00 UTC (60 min after its last success there); or must succeed \
                   in staging first: it succeeded on 0 of 2 targets (0 %)";
    let facts = [progress("staging", 0, 2, None), progress("qa", 1, 1, Some(0))];
    check(&soak, 45, &facts, &Verdict::Wait(Some(START + 60 * MINUTE)), missing);
    // It ends when the last of them does.
    let fresh = config(", \"maximumAgeHours\": 1");
    assert_eq!(ask(&fresh, 31, &both).expect("an answer").valid_until, Some(START + 90 * MINUTE + 1));
    let with_empty = [progress("staging", 1, 1, Some(30)), progress("qa", 0, 0, None)];
    assert_eq!(ask(&fresh, 31, &with_empty).expect("an answer").valid_until, None);
}

#[test]
fn a_key_that_only_some_have_is_no_match_for_the_others() {
    let ring = |ring: &str| Config {
        depends_on_environment_selector: format!("environment.metadata['ring'] == '{ring}'"),
        ..config("")
    };
    let facts = [progress("staging", 0, 1, None), progress("canary", 1, 1, Some(1))];
    let canary = "v1 in canary succeeded on 1 of 1 target (100 %), last at 2026-03-02 08:01:00 UTC";
    check(&ring("0"), 10, &facts, &Verdict::Allow, canary);
    assert_eq!(ask(&ring("9"), 10, &facts).expect("an answer").verdict, Verdict::Deny);
    assert!(ask(&ring("0"), 10, &facts[..1]).expect_err("no answer").contains("there is no `ring`"));
}

proptest! {
    /// A wait is kept, the end of an allow is its end, and the order of the facts changes nothing.
    #[test]
    fn times_are_kept(
        stages in proptest::collection::vec((0_u32..4, 0_u32..4, proptest::option::of(-200_i64..200)), 0..4),
        soak in 0_u32..120, age in proptest::option::of(2_u32..6), now in -300_i64..600, percentage in 0_u32..=100,
    ) {
        let base = config(&format!(", \"minimumSuccessPercentage\": {percentage}"));
        let config = Config { minimum_soak_time_minutes: soak, maximum_age_hours: age, ..base };
        let mut facts: Vec<EnvironmentProgress> = stages.iter().enumerate()
            .map(|(index, (completed, targets, minute))| progress(&format!("e{index}"), *completed, *targets, *minute))
            .collect();
        let decision = ask(&config, now, &facts).expect("an answer");
        let at = |at: Timestamp, facts: &[EnvironmentProgress]| {
            decide(&config, &CEL, at, &version(), None, facts).expect("an answer")
        };
        match &decision.verdict {
            Verdict::Wait(Some(until)) => {
                prop_assert!(*until > START + now * MINUTE);
                prop_assert_eq!(at(*until, &facts).verdict, Verdict::Allow);
                prop_assert_eq!(at(*until - 1, &facts).verdict, decision.verdict);
            }
            Verdict::Allow => if let Some(until) = decision.valid_until {
                prop_assert!(until > START + now * MINUTE);
                prop_assert_eq!(at(until - 1, &facts).verdict, Verdict::Allow);
                prop_assert!(at(until, &facts).verdict != Verdict::Allow || at(until, &facts).valid_until > Some(until));
            },
            Verdict::Wait(None) | Verdict::Deny => {}
        }
        facts.reverse();
        prop_assert_eq!(decision, ask(&config, now, &facts).expect("an answer"));
    }

    /// More successes never close what fewer open.
    #[test]
    fn more_successes_never_hurt(targets in 1_u32..300, draw in any::<u32>(), millionths in 0_u32..=100_000) {
        let percentage = format!("{}.{:03}", millionths / 1000, millionths % 1000);
        let config = config(&format!(", \"minimumSuccessPercentage\": {percentage}"));
        let completed = draw % targets;
        let allows = |completed| {
            let facts = [progress("staging", completed, targets, Some(1))];
            ask(&config, 10, &facts).expect("an answer").verdict == Verdict::Allow
        };
        prop_assert!(!allows(completed) || allows(completed + 1));
        prop_assert!(allows(targets));
    }
}
