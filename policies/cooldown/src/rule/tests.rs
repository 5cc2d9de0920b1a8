//! `ask` is the only code that calls the rule.

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use tidegate_policy::{Asset, Deployment, Environment, ReleaseTarget, gate::Verdict};

use super::*;

/// 2026-03-02 08:00:00 UTC
const START: Timestamp = 1_772_438_400_000;
const MINUTE: i64 = 60_000;
const HOUR: Config = Config { interval_seconds: 3600 };

/// `v3` was made three minutes after the start.
fn version(minute: i64) -> Version {
    Version {
        id: format!("id-{minute}"),
        tag: format!("v{minute}"),
        name: String::new(),
        created_at: START + minute * MINUTE,
        received_at: START + minute * MINUTE,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    }
}

fn target(current: Option<Version>, in_progress: Option<Version>) -> TargetState {
    let deployment = Deployment { id: "d".into(), name: "api".into(), labels: Vec::new() };
    let environment = Environment { id: "e".into(), name: "prod".into(), labels: Vec::new() };
    let asset = Asset {
        id: "r".into(),
        identifier: "c1".into(),
        name: "c1".into(),
        kind: "Cluster".into(),
        version: "v1".into(),
        labels: Vec::new(),
        config: "{}".into(),
    };
    TargetState { target: ReleaseTarget { id: "t".into(), deployment, environment, asset }, current, in_progress }
}

struct Ask {
    intent: Intent,
    minute: i64,
    candidate: Version,
    current: Option<Version>,
    in_progress: Option<Version>,
}

impl Ask {
    fn at(minute: i64, candidate: i64) -> Self {
        let candidate = version(candidate);
        Self { intent: Intent::Automatic, minute, candidate, current: None, in_progress: None }
    }

    fn runs(self, minute: i64) -> Self {
        Self { current: Some(version(minute)), ..self }
    }

    fn brings(self, minute: i64) -> Self {
        Self { in_progress: Some(version(minute)), ..self }
    }

    fn ask(&self, config: &Config) -> Decision {
        let now = START + self.minute * MINUTE;
        let target = target(self.current.clone(), self.in_progress.clone());
        decide(config, now, self.intent, &self.candidate, &target)
    }
}

fn check(ask: &Ask, verdict: &Verdict, reason: &str) {
    let decision = ask.ask(&HOUR);
    assert_eq!((&decision.verdict, decision.reason.as_str()), (verdict, reason));
}

#[test]
fn the_first_version_and_the_same_version_pass() {
    check(&Ask::at(1, 0), &Verdict::Allow, "nothing runs on c1 yet");
    check(&Ask::at(30, 0).runs(0), &Verdict::Allow, "v0 runs on c1 itself");
    check(&Ask::at(30, 10).runs(0).brings(10), &Verdict::Allow, "v10 is on its way to c1 itself");
    // What the target runs may stay while something else is on its way.
    check(&Ask::at(30, 0).runs(0).brings(10), &Verdict::Allow, "v0 runs on c1 itself");
}

#[test]
fn the_next_one_waits_for_exactly_the_interval() {
    let ends = "the cooldown of 1 h after v0, which runs on c1, ends 2026-03-02 09:00:00 UTC; no other version \
                follows before";
    check(&Ask::at(59, 30).runs(0), &Verdict::Wait(Some(START + 60 * MINUTE)), ends);
    let ended = Ask::at(60, 30).runs(0);
    check(&ended, &Verdict::Allow, "the cooldown of 1 h after v0, which runs on c1, ended 2026-03-02 09:00:00 UTC");
    assert_eq!(ended.ask(&HOUR).satisfied_at, Some(START + 60 * MINUTE));
    assert_eq!(Ask::at(90, 80).runs(0).ask(&HOUR).satisfied_at, Some(START + 80 * MINUTE));
}

#[test]
fn a_version_in_progress_is_the_reference() {
    let ends = "the cooldown of 1 h after v10, which is on its way to c1, ends 2026-03-02 09:10:00 UTC; no other \
                version follows before";
    check(&Ask::at(65, 30).runs(0).brings(10), &Verdict::Wait(Some(START + 70 * MINUTE)), ends);
}

#[test]
fn what_a_person_asks_for_passes() {
    let redeploy = Ask { intent: Intent::Redeploy, ..Ask::at(20, 10).runs(0) };
    check(&redeploy, &Verdict::Allow, "a person asked for it again, which no cooldown holds back");
    let rollback = Ask { intent: Intent::Rollback, ..Ask::at(20, 0).runs(10) };
    check(&rollback, &Verdict::Allow, "it is a rollback, which no cooldown holds back");
    let retry = Ask { intent: Intent::Retry, ..Ask::at(20, 10).runs(0) };
    assert_eq!(retry.ask(&HOUR).verdict, Verdict::Wait(Some(START + 60 * MINUTE)));
}

#[test]
fn a_creator_whose_clock_runs_ahead_does_not_prolong_it() {
    let ahead = Version { created_at: START + 60 * MINUTE, ..version(0) };
    let ask = Ask { current: Some(ahead), ..Ask::at(59, 30) };
    assert_eq!(ask.ask(&HOUR).verdict, Verdict::Wait(Some(START + 60 * MINUTE)));
    assert_eq!(Ask { minute: 60, ..ask }.ask(&HOUR).verdict, Verdict::Allow);
}

#[test]
fn arrivals_never_reset_the_timer() {
    let mut current: Option<i64> = None;
    let mut deployed = Vec::new();
    for minute in 0..=360 {
        let newest = minute / 5 * 5;
        let ask = Ask { current: current.map(version), ..Ask::at(minute, newest) };
        if ask.ask(&HOUR).verdict == Verdict::Allow && current != Some(newest) {
            deployed.push(minute);
            current = Some(newest);
        }
    }
    assert_eq!(deployed, [0, 60, 120, 180, 240, 300, 360]);
}

proptest! {
    /// Asked at the time that a wait names, the answer is yes; a moment before, it is still that time.
    #[test]
    fn a_wait_is_kept(created in any::<i64>(), now in any::<i64>(), interval_seconds in 1_u32..) {
        let config = Config { interval_seconds };
        let old = Version { created_at: created, received_at: created, ..version(0) };
        let target = target(Some(old), None);
        let ask = |now| decide(&config, now, Intent::Automatic, &version(9), &target).verdict;
        match ask(now) {
            Verdict::Wait(Some(at)) => {
                prop_assert!(at > now);
                prop_assert_eq!(ask(at), Verdict::Allow);
                prop_assert_eq!(ask(at - 1), Verdict::Wait(Some(at)));
            }
            other => prop_assert_eq!(other, Verdict::Allow),
        }
    }
}
