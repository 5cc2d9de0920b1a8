//! Single answers, and whole rollouts played minute by minute.

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use tidegate_policy::{Asset, Deployment, Environment, ReleaseTarget, gate::Verdict};

use super::*;

/// 2026-03-02 08:00:00 UTC
const START: Timestamp = 1_772_438_400_000;

fn config(json: &str) -> Config {
    serde_json::from_str(json).expect("a configuration")
}

fn linear() -> Config {
    config(r#"{"timeScaleInterval": 300}"#)
}

/// The target at that place, of five, before anything has started.
fn place(index: u32) -> RolloutPosition {
    RolloutPosition {
        index,
        total: 5,
        pending_index: index,
        started_at: START,
        last_start_at: None,
        failed: 0,
        unverified: 0,
    }
}

fn at(seconds: i64) -> Timestamp {
    START + seconds * 1000
}

fn check(config: &Config, seconds: i64, position: &RolloutPosition, verdict: &Verdict, reason: &str) {
    let decision = decide(config, at(seconds), position).expect("an answer");
    assert_eq!((&decision.verdict, decision.reason.as_str()), (verdict, reason));
}

#[test]
fn turns_come_one_interval_after_another() {
    let due = |text| format!("target 3 of 5 in this rollout, whose turn {text}");
    let in_ten = "2026-03-02 08:10:00 UTC (10 min after it began)";
    check(&linear(), 599, &place(2), &Verdict::Wait(Some(at(600))), &due(format!("comes {in_ten}")));
    check(&linear(), 600, &place(2), &Verdict::Allow, &due(format!("came {in_ten}")));
    assert_eq!(decide(&linear(), at(900), &place(2)).expect("an answer").satisfied_at, Some(at(600)));

    let normalized = config(r#"{"timeScaleInterval": 600, "rolloutType": "linear-normalized"}"#);
    let in_four = due("comes 2026-03-02 08:04:00 UTC (4 min after it began)".to_owned());
    check(&normalized, 0, &place(2), &Verdict::Wait(Some(at(240))), &in_four);
}

#[test]
fn starts_keep_their_distance() {
    let held_up = RolloutPosition { pending_index: 0, last_start_at: Some(at(720)), ..place(2) };
    let spaced = "target 3 of 5 in this rollout, whose turn comes 2026-03-02 08:17:00 UTC (starts stay 5 min apart)";
    check(&linear(), 720, &held_up, &Verdict::Wait(Some(at(1020))), spaced);
    // A normalized rollout catches up instead.
    let normalized = config(r#"{"timeScaleInterval": 600, "rolloutType": "linear-normalized"}"#);
    assert_eq!(decide(&normalized, at(720), &held_up).expect("an answer").verdict, Verdict::Allow);
}

#[test]
fn a_failure_stops_those_that_have_not_started() {
    let failed = RolloutPosition { failed: 1, ..place(2) };
    let stopped = "the rollout has stopped: 1 target failed; it goes on when a redeploy there succeeds, or with a \
                   newer version";
    check(&linear(), 600, &failed, &Verdict::Deny, stopped);
    check(&linear(), 0, &failed, &Verdict::Deny, stopped);
}

#[test]
fn the_next_waits_until_the_last_is_verified() {
    let careful = config(r#"{"timeScaleInterval": 300, "waitForVerification": true}"#);
    let unverified = RolloutPosition { unverified: 2, ..place(1) };
    let turn = "target 2 of 5 in this rollout, whose turn";
    let when = "2026-03-02 08:05:00 UTC (5 min after it began)";
    let comes = format!("{turn} comes {when}, has 2 targets to be verified first");
    check(&careful, 0, &unverified, &Verdict::Wait(Some(at(300))), &comes);
    let came = format!("{turn} came {when}, has 2 targets to be verified first");
    check(&careful, 300, &unverified, &Verdict::Wait(None), &came);
    check(&careful, 300, &place(1), &Verdict::Allow, &format!("{turn} came {when}"));
    assert_eq!(decide(&linear(), at(300), &unverified).expect("an answer").verdict, Verdict::Allow);
}

#[test]
fn a_place_outside_the_rollout_is_an_error() {
    assert!(decide(&linear(), START, &place(5)).is_err());
    assert!(decide(&linear(), START, &RolloutPosition { total: 0, ..place(0) }).is_err());
}

#[test]
fn a_target_that_has_started_waits_for_no_turn() {
    let version = |id: &str| Version {
        id: id.into(),
        tag: id.into(),
        name: String::new(),
        created_at: START,
        received_at: START,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    };
    let check = |intent, current: &str, in_progress: Option<&str>, reason: Option<&str>| {
        let asset = Asset {
            id: "r".into(),
            identifier: "c1".into(),
            name: "c1".into(),
            kind: "Cluster".into(),
            version: "v1".into(),
            labels: Vec::new(),
            config: "{}".into(),
        };
        let deployment = Deployment { id: "d".into(), name: "api".into(), labels: Vec::new() };
        let environment = Environment { id: "e".into(), name: "prod".into(), labels: Vec::new() };
        let target = TargetState {
            target: ReleaseTarget { id: "t".into(), deployment, environment, asset },
            current: Some(version(current)),
            in_progress: in_progress.map(version),
        };
        let decision = started(intent, &version("v2"), &target);
        assert!(decision.iter().all(|decision| decision.verdict == Verdict::Allow));
        assert_eq!(decision.map(|decision| decision.reason).as_deref(), reason);
    };
    check(Intent::Automatic, "v1", None, None);
    check(Intent::Rollback, "v1", None, None);
    check(Intent::Automatic, "v2", None, Some("c1 runs v2 already, so it waits for no turn"));
    check(Intent::Automatic, "v1", Some("v2"), Some("v2 is on its way to c1, which has had its turn"));
    check(Intent::Retry, "v1", None, Some("c1 has had its turn; this is another attempt"));
    let redeploy = "a person asked for it again on this target, which waits for no turn";
    check(Intent::Redeploy, "v1", None, Some(redeploy));
}

/// Plays a rollout as the host does: asks in order, an allow counts as a start for those asked after it. `open` says
/// whether the other rules let anything go in that second; `total` how many targets there are by then.
fn play(config: &Config, seconds: i64, open: impl Fn(i64) -> bool, total: impl Fn(i64) -> u32) -> Vec<i64> {
    let mut starts: Vec<i64> = Vec::new();
    for second in 0..=seconds {
        let started = u32::try_from(starts.len()).expect("few");
        for index in started..total(second) {
            let position = RolloutPosition {
                index,
                total: total(second),
                pending_index: index - u32::try_from(starts.len()).expect("few"),
                started_at: START,
                last_start_at: starts.last().map(|second| at(*second)),
                failed: 0,
                unverified: 0,
            };
            let decision = decide(config, at(second), &position).expect("an answer");
            if !open(second) || decision.verdict != Verdict::Allow {
                break;
            }
            starts.push(second);
        }
    }
    starts
}

#[test]
fn a_closed_window_shifts_what_is_left() {
    let closed = |second: i64| (240..720).contains(&second);
    let starts = play(&linear(), 2000, |second| !closed(second), |_| 4);
    assert_eq!(starts, [0, 720, 1020, 1320]);
    assert_eq!(play(&linear(), 2000, |_| true, |_| 4), [0, 300, 600, 900]);
    assert_eq!(play(&linear(), 100, |_| true, |_| 0), [0_i64; 0]);
}

#[test]
fn a_target_that_comes_later_has_a_later_turn() {
    assert_eq!(
        play(&linear(), 2000, |_| true, |second| if second < 700 { 5 } else { 6 }),
        [0, 300, 600, 900, 1200, 1500]
    );
}

proptest! {
    /// Asked at the time that a wait names, the answer names it no more.
    #[test]
    fn a_wait_is_kept(
        interval in any::<u32>(), normalized in any::<bool>(), index in 0_u32..50, pending_index in 0_u32..50,
        last in proptest::option::of(-10_000_i64..10_000), now in -20_000_i64..20_000, unverified in 0_u32..3,
    ) {
        let rollout_type = if normalized { RolloutType::LinearNormalized } else { RolloutType::Linear };
        let config = Config { rollout_type, time_scale_interval: interval, wait_for_verification: unverified > 1 };
        let last_start_at = last.map(at);
        let position = RolloutPosition { total: 50, pending_index, last_start_at, unverified, ..place(index) };
        let ask = |now| decide(&config, now, &position).expect("an answer").verdict;
        if let Verdict::Wait(Some(until)) = ask(at(now)) {
            prop_assert!(until > at(now));
            let expected = if unverified > 1 { Verdict::Wait(None) } else { Verdict::Allow };
            prop_assert_eq!(ask(until), expected);
            prop_assert_eq!(ask(until - 1), Verdict::Wait(Some(until)));
        }
    }

    /// Whatever holds a rollout up, linear starts are an interval apart and none comes before its turn.
    #[test]
    fn starts_are_never_closer_than_the_interval(
        interval in 1_u32..40, total in 0_u32..6, shut in proptest::collection::vec((0_i64..200, 1_i64..60), 0..4),
    ) {
        let config = Config { time_scale_interval: interval, ..linear() };
        let open = |second: i64| !shut.iter().any(|(from, length)| (*from..from + length).contains(&second));
        let starts = play(&config, 600, open, |_| total);
        prop_assert_eq!(starts.len(), total as usize);
        prop_assert!(starts.iter().all(|second| open(*second)));
        prop_assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= i64::from(interval)));
        let turns = (0..i64::from(total)).map(|index| index * i64::from(interval));
        prop_assert!(starts.iter().zip(turns).all(|(start, turn)| *start >= turn));
    }
}
