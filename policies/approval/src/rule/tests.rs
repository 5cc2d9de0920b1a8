//! `check` is the only code that calls the rule.

use proptest::prelude::*;
use tidegate_policy::gate::Verdict;

use super::*;

const RULE_AT: Timestamp = 1_772_438_400_000;
const NOW: Timestamp = RULE_AT + 3_600_000;

fn config(json: &str) -> Config {
    serde_json::from_str(json).expect("a configuration")
}

fn version(created_at: Timestamp) -> Version {
    Version {
        id: "v".into(),
        tag: "v1".into(),
        name: "v1".into(),
        created_at,
        received_at: created_at,
        created_by: Some("carol".into()),
        labels: Vec::new(),
        config: "{}".into(),
    }
}

/// `alice+sre@60` approved with role sre a minute after the rule was made; `-` for a rejection; `>sre` lost the role.
fn word(text: &str) -> Approval {
    let (text, seconds) = text.split_once('@').expect("a time");
    let decision = if text.contains('-') { ApprovalDecision::Rejected } else { ApprovalDecision::Approved };
    let (user, roles) = text.split_once(['+', '-']).expect("a sign");
    let (then, lost) = roles.split_once('>').map_or((roles, false), |(_, role)| (role, true));
    let roles_then: Vec<String> = if then.is_empty() { Vec::new() } else { vec![then.to_owned()] };
    Approval {
        user: user.to_owned(),
        roles_now: if lost { Vec::new() } else { roles_then.clone() },
        roles_then,
        decision,
        at: RULE_AT + seconds.parse::<i64>().expect("seconds") * 1000,
        reason: String::new(),
    }
}

fn decide_on(json: &str, created_at: Timestamp, words: &[&str]) -> Decision {
    let approvals: Vec<Approval> = words.iter().map(|text| word(text)).collect();
    decide(&config(json), NOW, RULE_AT, &version(created_at), &approvals)
}

fn check(json: &str, words: &[&str], verdict: &Verdict, reason: &str) {
    let decision = decide_on(json, RULE_AT, words);
    assert_eq!((&decision.verdict, decision.reason.as_str()), (verdict, reason), "{json} {words:?}");
}

const WAIT: Verdict = Verdict::Wait(None);

#[test]
fn counts_different_people() {
    let two = r#"{"minApprovals": 2}"#;
    check("{}", &[], &WAIT, "1 approval needed from anyone");
    check(two, &["alice+@1", "alice+@2"], &WAIT, "1 more approval needed from anyone; approved by alice");
    check(two, &["bob+@2", "alice+@1"], &Verdict::Allow, "approved by alice and bob");
    check(r#"{"minApprovals": 0}"#, &["dave-@1"], &Verdict::Allow, "no approval is required");
}

#[test]
fn only_eligible_people_count() {
    let sre = r#"{"roles": ["sre", "release"], "users": ["dave"]}"#;
    let from = "1 approval needed from a member of sre or release, or from dave";
    check(sre, &["alice+dev@1"], &WAIT, &format!("{from}; not counted: alice (not eligible)"));
    check(sre, &["alice+sre@1"], &Verdict::Allow, "approved by alice");
    check(sre, &["dave+@1"], &Verdict::Allow, "approved by dave");
    check(sre, &["alice+>sre@1"], &Verdict::Allow, "approved by alice (no longer eligible)");
}

#[test]
fn creators_do_not_approve_their_own() {
    let own = r#"{"preventSelfApproval": true}"#;
    check(
        own,
        &["carol+@1"],
        &WAIT,
        "1 approval needed from anyone other than carol, who created the version; \
         not counted: carol (created the version)",
    );
    check(own, &["carol-@1"], &Verdict::Deny, "rejected by carol; it stays blocked until that is withdrawn");
    check("{}", &["carol+@1"], &Verdict::Allow, "approved by carol");
}

#[test]
fn one_eligible_rejection_blocks() {
    check("{}", &["alice+@1", "bob-@2"], &Verdict::Deny, "rejected by bob; it stays blocked until that is withdrawn");
    check("{}", &["bob-@1", "bob+@2"], &Verdict::Allow, "approved by bob");
    check(r#"{"roles": ["sre"]}"#, &["alice+sre@1", "bob-dev@2"], &Verdict::Allow, "approved by alice");
}

#[test]
fn approvals_expire() {
    let hour = r#"{"minApprovals": 2, "expiresAfter": "1h"}"#;
    check(
        hour,
        &["alice+@0", "bob+@1"],
        &WAIT,
        "1 more approval needed from anyone; approved by bob; not counted: alice (expired 2026-03-02 09:00:00 UTC)",
    );
    let decision = decide_on(hour, RULE_AT, &["alice+@10", "bob+@20", "dave+@30"]);
    assert_eq!(decision.verdict, Verdict::Allow);
    assert_eq!(decision.satisfied_at, Some(RULE_AT + 20_000));
    // When alice's expires, bob's and dave's still do; when bob's does, one is left.
    assert_eq!(decision.valid_until, Some(RULE_AT + 20_000 + 3_600_000));
}

#[test]
fn only_versions_created_strictly_before_the_rule_pass() {
    let before = decide_on("{}", RULE_AT - 1, &[]);
    assert_eq!(before.verdict, Verdict::Allow);
    assert_eq!(before.reason, "the version was created before this rule (2026-03-02 08:00:00 UTC)");
    assert_eq!(before.satisfied_at, Some(RULE_AT - 1));
    assert_eq!(decide_on("{}", RULE_AT, &[]).verdict, WAIT);
    assert_eq!(decide_on("{}", RULE_AT + 1, &[]).verdict, WAIT);
}

#[test]
fn many_names_stay_readable() {
    let words: Vec<String> = (0..9).map(|n| format!("u{n}+@{n}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    check(r#"{"minApprovals": 9}"#, &words, &Verdict::Allow, "approved by u0, u1, u2, u3, u4 and 4 more");
}

proptest! {
    /// Order and repetition of the facts change nothing, and an allow needs that many different people.
    #[test]
    fn the_answer_depends_on_people_alone(users in proptest::collection::vec(0_u8..6, 0..12), min in 0_u32..6) {
        let words: Vec<Approval> = users.iter().enumerate().map(|(n, user)| word(&format!("u{user}+@{n}"))).collect();
        let config = Config { min_approvals: min, ..config("{}") };
        let ask = |words: &[Approval]| decide(&config, NOW, RULE_AT, &version(RULE_AT), words);
        let decision = ask(&words);
        let reversed: Vec<Approval> = words.iter().rev().cloned().collect();
        prop_assert_eq!(&decision, &ask(&reversed));
        let people: std::collections::BTreeSet<u8> = users.iter().copied().collect();
        prop_assert_eq!(decision.verdict == Verdict::Allow, people.len() >= min as usize);
    }
}

#[test]
fn a_backdated_version_is_held_like_any_other() {
    let backdated = Version { created_at: RULE_AT - 1000, ..version(RULE_AT + 1000) };
    let decision = decide(&config(r#"{"minApprovals": 1}"#), NOW, RULE_AT, &backdated, &[]);
    assert!(matches!(decision.verdict, Verdict::Wait(None)), "{decision:?}");
    let older = version(RULE_AT - 1000);
    assert!(matches!(decide(&config(r#"{"minApprovals": 1}"#), NOW, RULE_AT, &older, &[]).verdict, Verdict::Allow));
}
