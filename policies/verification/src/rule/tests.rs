//! `ask` is the only code that calls the rule.

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use tidegate_policy::JobKind;

use super::*;

const CEL: Cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
/// When the job ended: 2026-03-02 08:00:00 UTC
const END: Timestamp = 1_772_438_400_000;

fn at(seconds: i64) -> Timestamp {
    END + seconds * 1000
}

fn config(metric: &str) -> Config {
    let json = format!("{{\"metrics\": [{{\"name\": \"rate\", \"provider\": \"prometheus\", {metric}}}]}}");
    serde_json::from_str(&json).expect("a configuration")
}

fn job(status: JobStatus) -> Job {
    Job {
        id: "j".into(),
        kind: JobKind::Deploy,
        version_id: "v".into(),
        status,
        attempt: 1,
        created_at: at(-60),
        started_at: Some(at(-30)),
        completed_at: Some(END),
        message: String::new(),
    }
}

/// One sign each, a minute apart from the end of the job on: `+` a good result, `-` a bad one, `?` one between, `!`
/// no result, `x` one without the field that the conditions look at.
fn measured(signs: &str) -> Vec<Measurement> {
    let measurement = |(minute, sign): (usize, char)| Measurement {
        metric: "rate".into(),
        at: at(60 * i64::try_from(minute).expect("few")),
        value: match sign {
            '+' => Ok(r#"{"value":0.01}"#.to_owned()),
            '-' => Ok(r#"{"value":0.5}"#.to_owned()),
            '?' => Ok(r#"{"value":0.07}"#.to_owned()),
            'x' => Ok("{}".to_owned()),
            _ => Err("connection refused".to_owned()),
        },
    };
    signs.chars().enumerate().map(measurement).collect()
}

fn ask(config: &Config, now: Timestamp, measurements: &[Measurement]) -> Assessment {
    assess(config, &CEL, now, &job(JobStatus::Completed), measurements).expect("an answer")
}

/// Asked right after the last of the measurements.
fn check(config: &Config, signs: &str, expect: &Assessment) {
    let seconds = 60 * i64::try_from(signs.len()).expect("few") - 59;
    assert_eq!(&ask(config, at(seconds), &measured(signs)), expect, "{signs}");
}

fn unhealthy(text: &str) -> Assessment {
    Assessment::Unhealthy(text.to_owned())
}

fn next(seconds: i64) -> Assessment {
    Assessment::Measure(vec![("rate".to_owned(), at(seconds))])
}

const SUCCESS: &str = r#""successCondition": "result.value < 0.05""#;
const BOTH: &str = r#""successCondition": "result.value < 0.05", "failureCondition": "result.value > 0.1""#;

#[test]
fn the_first_at_once_and_the_others_an_interval_apart() {
    let three = config(&format!("{SUCCESS}, \"count\": 3"));
    check(&three, "", &next(0));
    check(&three, "+", &next(60));
    check(&three, "++", &next(120));
    check(&three, "+++", &Assessment::Healthy);
    // Not from when it should have been taken.
    let late = [Measurement { at: at(37), ..measured("+").remove(0) }];
    assert_eq!(ask(&three, at(40), &late), next(97));
}

#[test]
fn strictly_more_failures_than_the_threshold_fail() {
    let two = config(&format!("{SUCCESS}, \"count\": 10, \"failureThreshold\": 2"));
    check(&two, "--", &next(120));
    check(&two, "-+-", &next(180));
    let third = "rate failed in 3 of 3 measurements (failureThreshold 2); the last: `result.value < 0.05` is false of \
                 {\"value\":0.5}";
    check(&two, "---", &unhealthy(third));
    let fifth = third.replace("3 of 3", "3 of 5");
    check(&two, "-+-+-", &unhealthy(&fifth));
    check(&two, "-+-+++++++", &Assessment::Healthy);
    let none = "rate failed in 1 of 1 measurements (failureThreshold 0); the last: `result.value > 0.1` is true of \
                {\"value\":0.5}";
    check(&config(BOTH), "-", &unhealthy(none));
}

#[test]
fn passes_in_a_row_end_it_early() {
    let three = config(&format!("{SUCCESS}, \"count\": 6, \"successThreshold\": 3, \"failureThreshold\": 9"));
    check(&three, "++", &next(120));
    check(&three, "+++", &Assessment::Healthy);
    check(&three, "++-++", &next(300));
    check(&three, "-+++", &Assessment::Healthy);
    // All are taken, and not too many failed.
    check(&three, "++-++-", &Assessment::Healthy);
}

#[test]
fn between_the_conditions_it_is_inconclusive() {
    let both = config(&format!("{BOTH}, \"count\": 4, \"successThreshold\": 2"));
    check(&both, "??", &next(120));
    check(&both, "+?+", &next(180));
    check(&both, "+?++", &Assessment::Healthy);
    check(&both, "????", &Assessment::Healthy);
    check(
        &config(SUCCESS),
        "?",
        &unhealthy(
            "rate failed in 1 of 1 measurements (failureThreshold 0); the last: `result.value < 0.05` is false of \
         {\"value\":0.07}",
        ),
    );
    let failing_alone = config(r#""failureCondition": "result.value > 0.1", "count": 2"#);
    check(&failing_alone, "+", &next(60));
    check(&failing_alone, "+?", &Assessment::Healthy);
}

#[test]
fn a_provider_that_always_errors_ends_as_failed() {
    let by_threshold = config(&format!("{SUCCESS}, \"count\": 9, \"failureThreshold\": 1"));
    check(&by_threshold, "!", &next(60));
    check(
        &by_threshold,
        "!!",
        &unhealthy(
            "rate failed in 2 of 2 measurements (failureThreshold 1); the last: no measurement (connection refused)",
        ),
    );
    let patient = config(&format!("{SUCCESS}, \"count\": 3, \"failureThreshold\": 9"));
    let never = "rate could not be measured in 3 attempts; the last: no measurement (connection refused)";
    check(&patient, "!!", &next(120));
    check(&patient, "!!!", &unhealthy(never));
    check(&config(&format!("{BOTH}, \"count\": 3")), "!!!", &unhealthy(never));
    check(&config(&format!("{BOTH}, \"count\": 3")), "!+!", &Assessment::Healthy);
    let by_time = config(&format!("{BOTH}, \"count\": 5, \"timeoutSeconds\": 250"));
    check(&by_time, "!!!!", &next(240));
    let late = [measured("!!!!"), vec![Measurement { at: at(251), ..measured("+").remove(0) }]].concat();
    let timeout = "rate had not passed after 4 min 10 s, with 4 of 5 measurements";
    assert_eq!(ask(&by_time, at(251), &late), unhealthy(timeout));
}

#[test]
fn a_condition_without_an_answer_decides_nothing_good() {
    let absent = "rate failed in 1 of 1 measurements (failureThreshold 0); the last: `result.value < 0.05`: there is \
                  no `value`";
    check(&config(SUCCESS), "x", &unhealthy(absent));
    check(&config(&format!("{BOTH}, \"count\": 2")), "x", &next(60));
}

#[test]
fn the_deadline_ends_what_has_not_passed() {
    let timed = config(&format!("{SUCCESS}, \"count\": 3, \"timeoutSeconds\": 150"));
    assert_eq!(ask(&timed, at(149), &[]), next(0));
    let none = "rate had not passed after 2 min 30 s, with 0 of 3 measurements";
    assert_eq!(ask(&timed, at(150), &[]), unhealthy(none));
    assert_eq!(ask(&timed, at(200), &measured("+++")), Assessment::Healthy);
    // The third could only come after the deadline.
    let slow = [measured("+"), vec![Measurement { at: at(100), ..measured("+").remove(0) }]].concat();
    let two = "rate had not passed after 2 min 30 s, with 2 of 3 measurements";
    assert_eq!(ask(&timed, at(101), &slow), unhealthy(two));
    // An agent that never reports is not waited for forever.
    let json = r#"{"metrics": [{"name": "smoke", "provider": "job", "successCondition": "result == 'ok'"}]}"#;
    let by_agent: Config = serde_json::from_str(json).expect("a configuration");
    assert_eq!(ask(&by_agent, at(86_399), &[]), Assessment::Measure(vec![("smoke".to_owned(), END)]));
    assert_eq!(ask(&by_agent, at(86_400), &[]), unhealthy("smoke had not passed after 1 d, with 0 of 1 measurements"));
}

#[test]
fn all_metrics_must_pass_and_one_failure_is_enough() {
    let json = r#"{"metrics": [
        {"name": "rate", "provider": {"type": "prometheus", "query": "q"}, "successCondition": "result.value < 0.05"},
        {"name": "rest", "provider": {"type": "sleep", "durationSeconds": 30}}
    ]}"#;
    let two: Config = serde_json::from_str(json).expect("a configuration");
    let due = |name: &str| Assessment::Measure(vec![(name.to_owned(), END)]);
    let rested = Measurement { metric: "rest".into(), at: at(30), value: Ok("null".into()) };
    assert_eq!(ask(&two, at(1), &measured("+")), due("rest"));
    assert_eq!(ask(&two, at(31), std::slice::from_ref(&rested)), due("rate"));
    assert_eq!(ask(&two, at(31), &[measured("+"), vec![rested]].concat()), Assessment::Healthy);
    assert!(matches!(ask(&two, at(1), &measured("-")), Assessment::Unhealthy(_)));
    let probe = |metric: &str, provider: &str, config: &str| Probe {
        metric: metric.into(),
        provider: provider.into(),
        config: config.into(),
    };
    let expected =
        [probe("rate", "prometheus", r#"{"query":"q"}"#), probe("rest", "sleep", r#"{"durationSeconds":30}"#)];
    assert_eq!(probes(&two), expected);
}

#[test]
fn the_trigger_says_when_it_begins() {
    let on = |trigger_on, status| assess(&Config { trigger_on, ..config(SUCCESS) }, &CEL, END, &job(status), &[]);
    assert_eq!(on(TriggerOn::JobCreated, JobStatus::Queued), Ok(next(-60)));
    assert_eq!(on(TriggerOn::JobStarted, JobStatus::InProgress), Ok(next(-30)));
    assert_eq!(on(TriggerOn::JobSuccess, JobStatus::InProgress), Ok(Assessment::Measure(Vec::new())));
    assert_eq!(on(TriggerOn::JobSuccess, JobStatus::Completed), Ok(next(0)));
    assert_eq!(on(TriggerOn::JobFailure, JobStatus::Failed), Ok(next(0)));
    assert_eq!(on(TriggerOn::JobFailure, JobStatus::Completed), Ok(Assessment::Healthy));
    let otherwise = on(TriggerOn::JobSuccess, JobStatus::Failed).expect_err("never begins");
    assert_eq!(otherwise, "nothing was measured: it begins when a job succeeds, and this one ended otherwise");
    assert!(on(TriggerOn::JobFailure, JobStatus::Cancelled).is_err());
}

/// Any metric, with thresholds and a deadline or without.
fn any_config() -> impl Strategy<Value = Config> {
    let option = |max: u32| proptest::option::of(1..=max);
    (prop_oneof![Just(SUCCESS), Just(BOTH)], 1_u32..6, option(6), 0_u32..4, option(400)).prop_map(
        |(conditions, count, success_threshold, failure_threshold, timeout_seconds)| {
            let mut config = config(&format!("{conditions}, \"count\": {count}"));
            config.metrics[0].success_threshold = success_threshold;
            config.metrics[0].failure_threshold = failure_threshold;
            config.metrics[0].timeout_seconds = timeout_seconds;
            config
        },
    )
}

proptest! {
    /// Once decided it stays decided, whatever is measured later and whenever it is asked; and it is decided by the
    /// time that all are taken.
    #[test]
    fn an_end_is_an_end(config in any_config(), signs in "[-+?!x]{0,6}", more in "[-+?!x]{0,3}") {
        let measurements = measured(&signs);
        let now = measurements.last().map_or(END, |last| last.at);
        let first = ask(&config, now, &measurements);
        match &first {
            Assessment::Measure(due) => {
                prop_assert_eq!(due.len(), 1);
                prop_assert!(measurements.len() < config.metrics[0].count as usize);
                prop_assert!(measurements.last().is_none_or(|last| due[0].1 >= last.at + 60_000));
            }
            Assessment::Healthy | Assessment::Unhealthy(_) => {
                let later = measured(&format!("{signs}{more}"));
                prop_assert_eq!(&first, &ask(&config, at(900), &later));
            }
        }
    }

    #[test]
    fn the_order_of_the_facts_changes_nothing(config in any_config(), signs in "[-+?!x]{0,6}", by in any::<usize>()) {
        let mut measurements = measured(&signs);
        let expected = ask(&config, at(900), &measurements);
        let by = by % measurements.len().max(1);
        measurements.rotate_left(by);
        prop_assert_eq!(expected, ask(&config, at(900), &measurements));
    }

    /// It never ends healthy with more failures than allowed before the end, nor without any result.
    #[test]
    fn healthy_means_seen_and_not_failed(config in any_config(), signs in "[-+!]{0,6}") {
        let healthy = ask(&config, at(900), &measured(&signs)) == Assessment::Healthy;
        prop_assert!(!healthy || signs.contains(['-', '+']));
        let failures = signs.matches('-').count();
        let passed_early = config.metrics[0].success_threshold.is_some();
        let all_count = signs.len() <= config.metrics[0].count as usize;
        prop_assert!(!healthy || passed_early || !all_count || failures <= config.metrics[0].failure_threshold as usize);
    }
}
