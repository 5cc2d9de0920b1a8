//! The cases that release tools got wrong in the field, and what every answer must keep to.
//! `ask` is the only code that calls the rule.

use tidegate_policy::gate::Verdict;

use super::*;
use crate::{moment::Moment, validate::validate};

fn at(text: &str) -> i64 {
    match Moment::parse(text) {
        Some(Moment::Instant(at)) => at,
        other => panic!("{text} is no instant: {other:?}"),
    }
}

fn config(json: &str) -> Config {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// With a rule and its occurrences' minutes, a zone, and perhaps more keys.
fn recurring(rrule: &str, minutes: u32, zone: &str, more: &str) -> Config {
    config(&format!(r#"{{"rrule": "{rrule}", "durationMinutes": {minutes}, "timezone": "{zone}"{more}}}"#))
}

/// Of a rule and a version that were made in 2000.
fn ask(config: &Config, now: &str) -> Decision {
    let made = at("2000-01-01T00:00:00Z") * 1000;
    let version = Version {
        id: "v".into(),
        tag: "v1".into(),
        name: String::new(),
        created_at: made,
        received_at: made,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    };
    decide(config, at(now) * 1000, made, &version).expect("a configuration that is right")
}

/// Starts and ends from an instant on, as the rule tells them, until another instant.
fn occurrences(config: &Config, from: &str, to: &str) -> Vec<(String, String)> {
    let window = Window::new(config, at("2000-01-01T00:00:00Z")).expect("a configuration that is right");
    let crate::window::Kind::Recurring(schedule) = window.kind else { panic!("not recurring") };
    let mut found = Vec::new();
    let mut next = at(from);
    while let Some(start) = schedule.next(next).filter(|start| start.at < at(to)) {
        assert_eq!(schedule.latest(start.at), Some(start));
        found.push((iso(start.at), iso(schedule.end(start))));
        next = start.at + 1;
    }
    found
}

fn iso(at: i64) -> String {
    instant_text(at * 1000).replace(' ', "T").replace("TUTC", "Z").replace(":00Z", "Z")
}

#[track_caller]
fn check(config: &Config, from: &str, to: &str, expected: &[(&str, &str)]) {
    let found = occurrences(config, from, to);
    let found: Vec<(&str, &str)> = found.iter().map(|(start, end)| (start.as_str(), end.as_str())).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn check_open(config: &Config, now: &str, until: &str) {
    let decision = ask(config, now);
    assert_eq!((&decision.verdict, decision.valid_until), (&Verdict::Allow, Some(at(until) * 1000)), "{decision:?}");
}

#[track_caller]
fn check_closed(config: &Config, now: &str, until: &str) {
    let decision = ask(config, now);
    assert_eq!(decision.verdict, Verdict::Wait(Some(at(until) * 1000)), "{decision:?}");
}

#[track_caller]
fn check_refused(json: &str, path: &str, message: &str) {
    let errors = validate(&config(json)).expect_err(json);
    assert!(errors.iter().any(|e| e.path == path && e.message.contains(message)), "{json}: {errors:?}");
}

#[test]
fn w02_local_hours_keep_to_the_clock() {
    let config = recurring("FREQ=WEEKLY;BYDAY=SU;BYHOUR=9", 480, "America/New_York", "");
    let sundays = [("2023-10-29T13:00Z", "2023-10-29T21:00Z"), ("2023-11-05T14:00Z", "2023-11-05T22:00Z")];
    check(&config, "2023-10-28T00:00Z", "2023-11-06T00:00Z", &sundays);
}

#[test]
fn w04_a_start_that_is_skipped_happens_once() {
    for rrule in ["FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "FREQ=HOURLY;BYHOUR=2;BYMINUTE=30"] {
        for more in ["", r#", "allowWindow": false"#] {
            let config = recurring(rrule, 60, "America/New_York", more);
            check(&config, "2026-03-08T05:00Z", "2026-03-09T04:00Z", &[("2026-03-08T07:30Z", "2026-03-08T08:30Z")]);
        }
    }
    let allow = recurring("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", 60, "America/New_York", "");
    check_closed(&allow, "2026-03-08T07:29:59Z", "2026-03-08T07:30:00Z");
    check_open(&allow, "2026-03-08T07:30:00Z", "2026-03-08T08:30:00Z");
}

#[test]
fn w06_midnight_that_is_skipped_or_repeated() {
    let daily = |zone| recurring("FREQ=DAILY;BYHOUR=0;BYMINUTE=30", 60, zone, "");
    check(
        &daily("Africa/Cairo"),
        "2026-04-23T00:00Z",
        "2026-04-25T00:00Z",
        &[("2026-04-23T22:30Z", "2026-04-23T23:30Z"), ("2026-04-24T21:30Z", "2026-04-24T22:30Z")],
    );
    check(
        &daily("America/Santiago"),
        "2026-09-06T00:00Z",
        "2026-09-07T00:00Z",
        &[("2026-09-06T04:30Z", "2026-09-06T05:30Z")],
    );
    let havana = daily("America/Havana");
    check(&havana, "2026-03-08T00:00Z", "2026-03-09T00:00Z", &[("2026-03-08T05:30Z", "2026-03-08T06:30Z")]);
    check(&havana, "2026-11-01T00:00Z", "2026-11-02T00:00Z", &[("2026-11-01T04:30Z", "2026-11-01T05:30Z")]);
}

#[test]
fn w08_hours_are_exact_over_a_change() {
    let config = recurring("FREQ=DAILY;BYHOUR=22", 480, "America/New_York", "");
    check_open(&config, "2026-03-08T10:30:00Z", "2026-03-08T11:00:00Z");
    assert_eq!(
        ask(&config, "2026-03-08T10:30:00Z").reason,
        "the window is open from Sat 2026-03-07 22:00 EST until Sun 2026-03-08 07:00 EDT (2026-03-08 11:00:00 UTC), \
         zone America/New_York"
    );
}

#[test]
fn w10_an_occurrence_reaches_over_midnight() {
    let config = recurring("FREQ=WEEKLY;BYDAY=FR;BYHOUR=22", 480, "UTC", "");
    check_open(&config, "2026-01-02T23:00:00Z", "2026-01-03T06:00:00Z");
    check_open(&config, "2026-01-03T05:59:59Z", "2026-01-03T06:00:00Z");
    let friday = ask(&config, "2026-01-02T23:00:00Z");
    assert_eq!(friday, ask(&config, "2026-01-03T05:59:59Z"));
    assert_eq!(friday.satisfied_at, Some(at("2026-01-02T22:00:00Z") * 1000));
    check_closed(&config, "2026-01-03T06:00:00Z", "2026-01-09T22:00:00Z");
    check_closed(&config, "2026-01-02T05:00:00Z", "2026-01-02T22:00:00Z");
    assert_eq!(
        ask(&config, "2026-01-02T05:00:00Z").reason,
        "the window is closed; it next opens Fri 2026-01-02 22:00 UTC until Sat 2026-01-03 06:00 UTC, zone UTC"
    );
}

#[test]
fn w12_each_window_answers_for_itself() {
    let week = recurring("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH;BYHOUR=9", 480, "UTC", "");
    let friday = recurring("FREQ=WEEKLY;BYDAY=FR;BYHOUR=9", 300, "UTC", "");
    check_open(&week, "2026-01-05T10:00:00Z", "2026-01-05T17:00:00Z");
    check_closed(&friday, "2026-01-05T10:00:00Z", "2026-01-09T09:00:00Z");
    check_closed(&week, "2026-01-09T15:00:00Z", "2026-01-12T09:00:00Z");
    check_closed(&friday, "2026-01-09T15:00:00Z", "2026-01-16T09:00:00Z");
}

#[test]
fn w14_w18_deny_windows_block_inside_only() {
    let noon = recurring("FREQ=DAILY;BYHOUR=13;BYMINUTE=2", 60, "UTC", r#", "allowWindow": false"#);
    check_open(&noon, "2026-01-05T15:00:00Z", "2026-01-06T13:02:00Z");
    assert_eq!(ask(&noon, "2026-01-05T15:00:00Z").satisfied_at, Some(at("2026-01-05T14:02:00Z") * 1000));
    check_closed(&noon, "2026-01-05T13:02:00Z", "2026-01-05T14:02:00Z");
    check_open(&noon, "2026-01-05T14:02:00Z", "2026-01-06T13:02:00Z");
    assert_eq!(
        ask(&noon, "2026-01-05T15:00:00Z").reason,
        "the closed period is not now; it next begins Tue 2026-01-06 13:02 UTC until Tue 2026-01-06 14:02 UTC, zone UTC"
    );
    let all_but_one = recurring("FREQ=DAILY;BYHOUR=17", 23 * 60, "UTC", r#", "allowWindow": false"#);
    check_closed(&all_but_one, "2026-01-05T15:30:00Z", "2026-01-05T16:00:00Z");
    check_open(&all_but_one, "2026-01-05T16:00:00Z", "2026-01-05T17:00:00Z");
}

#[test]
fn w20_what_touches_is_one() {
    let hourly = recurring("FREQ=HOURLY", 90, "UTC", "");
    let decision = ask(&hourly, "2026-01-05T15:30:00Z");
    assert_eq!((&decision.verdict, decision.valid_until), (&Verdict::Allow, None));
    assert_eq!(decision.reason, "the window is open with no next change, zone UTC");
    assert_eq!(decision, ask(&hourly, "2031-01-05T15:00:00Z"));
    let daily = recurring("FREQ=DAILY", 1440, "UTC", "");
    assert_eq!(ask(&daily, "2026-01-05T00:00:00Z").valid_until, None);
    assert_eq!(ask(&daily, "2026-01-04T23:59:59Z"), ask(&daily, "2026-01-05T00:00:00Z"));
    let local = recurring("FREQ=DAILY", 1440, "America/New_York", "");
    check_open(&local, "2026-11-02T03:59:59Z", "2026-11-02T04:00:00Z");
    check_closed(&local, "2026-11-02T04:00:00Z", "2026-11-02T05:00:00Z");
    check_open(&local, "2026-11-02T05:00:00Z", "2027-11-08T04:00:00Z");
    let nominal = config(r#"{"rrule": "FREQ=DAILY", "duration": "P1D", "timezone": "America/New_York"}"#);
    assert_eq!(
        ask(&nominal, "2026-11-02T04:30:00Z").reason,
        "the window is open with no next change, zone America/New_York"
    );
    let never = recurring("FREQ=HOURLY", 90, "UTC", r#", "allowWindow": false"#);
    assert_eq!(ask(&never, "2026-01-05T15:30:00Z").verdict, Verdict::Deny);
}

#[test]
fn w22_a_rule_that_is_over_says_so() {
    let over = recurring("FREQ=DAILY;BYHOUR=9;UNTIL=20200105T100000Z", 60, "Europe/Berlin", "");
    assert_eq!(validate(&over), Ok(()));
    let decision = ask(&over, "2026-01-05T15:30:00Z");
    assert_eq!(decision.verdict, Verdict::Deny);
    assert_eq!(
        decision.reason,
        "the window never opens again; it last ended Sun 2020-01-05 10:00 CET (2020-01-05 09:00:00 UTC), zone \
         Europe/Berlin; someone must change the rule"
    );
    let deny = Config { allow_window: false, ..over };
    let decision = ask(&deny, "2026-01-05T15:30:00Z");
    assert_eq!((&decision.verdict, decision.valid_until), (&Verdict::Allow, None));
}

#[test]
fn w24_w26_examples_of_the_standard() {
    let zone = "America/New_York";
    let days = |config: &Config, to: &str| -> Vec<String> {
        occurrences(config, "1997-01-01T00:00Z", to).into_iter().map(|(start, _)| start[..10].to_owned()).collect()
    };
    let weekday = r#", "dtstart": "1997-09-29T09:00:00""#;
    let rule = recurring("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", 60, zone, weekday);
    assert_eq!(
        days(&rule, "1998-04-01T00:00Z"),
        ["1997-09-29", "1997-10-30", "1997-11-27", "1997-12-30", "1998-01-29", "1998-02-26", "1998-03-30"]
    );
    let dtstart = r#", "dtstart": "1997-08-05T09:00:00""#;
    for (week_start, expected) in [
        ("MO", ["1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"]),
        ("SU", ["1997-08-05", "1997-08-17", "1997-08-19", "1997-08-31"]),
    ] {
        let rrule = format!("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST={week_start}");
        assert_eq!(days(&recurring(&rrule, 60, zone, dtstart), "2000-01-01T00:00Z"), expected);
    }
}

#[test]
fn w28_what_is_refused_at_save() {
    let refused = |rrule: &str, more: &str, path: &str, message: &str| {
        let begun = std::time::Instant::now();
        check_refused(&format!(r#"{{"rrule": "{rrule}", "durationMinutes": 60{more}}}"#), path, message);
        assert!(begun.elapsed().as_millis() < 1000, "{rrule} took {:?}", begun.elapsed());
    };
    for interval in ["0", "-1", ".007"] {
        refused(&format!("FREQ=DAILY;INTERVAL={interval}"), "", "/rrule", "whole number from 1");
    }
    let midnight = r#", "dtstart": "2026-01-01T00:00:00""#;
    refused("FREQ=HOURLY;INTERVAL=2;BYHOUR=1", midnight, "/rrule", "never opens");
    refused("FREQ=HOURLY;INTERVAL=2;BYHOUR=1", "", "/rrule", "never opens");
    refused("FREQ=MINUTELY;INTERVAL=1440;BYHOUR=1", "", "/rrule", "never opens");
    refused("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "", "/rrule", "never opens");
    refused("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=3", "", "/rrule", "never opens");
    refused("FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29", r#", "dtstart": "2025-01-01""#, "/rrule", "never opens");
    refused("FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29", "", "/rrule", "never opens");
    refused("FREQ=DAILY;INTERVAL=14;BYDAY=MO", "", "/rrule", "never opens");
    refused("FREQ=DAILY;UNTIL=20250101", r#", "dtstart": "2026-01-01""#, "/rrule", "never opens");
    refused("FREQ=DAILY", r#", "timezone": "US/Nowhere""#, "/timezone", "`US/Nowhere` is no known time zone");
    refused("FREQ=DAILY", r#", "dtstart": "tomorrow""#, "/dtstart", "`tomorrow` is wrong");
    refused("FREQ=DAILY", r#", "start": "2026-01-01""#, "/start", "window that comes once");
    refused("FREQ=DAILY", r#", "duration": "PT1H""#, "/duration", "besides `durationMinutes`");
    for (json, path, message) in [
        ("{}", "", "says no time"),
        (r#"{"rrule": "FREQ=DAILY"}"#, "", "says not how long"),
        (r#"{"rrule": "FREQ=DAILY", "durationMinutes": 0}"#, "/durationMinutes", "`0` is wrong"),
        (r#"{"rrule": "FREQ=DAILY", "duration": "1h"}"#, "/duration", "`1h` is wrong"),
        (r#"{"start": "2026-01-02", "end": "2026-01-02"}"#, "/end", "is not after `start`"),
        (r#"{"start": "2026-01-02", "durationMinutes": 5}"#, "/durationMinutes", "goes with `rrule`"),
        (r#"{"start": "2026-01-02", "timezone": "+02:00"}"#, "/timezone", "no known time zone"),
    ] {
        check_refused(json, path, message);
    }
    let unknown = serde_json::from_str::<Config>(r#"{"rule": "FREQ=DAILY"}"#).expect_err("unknown");
    assert!(unknown.to_string().contains("unknown field `rule`"));
    for rrule in ["FREQ=HOURLY;INTERVAL=5;BYHOUR=1", "FREQ=DAILY;INTERVAL=3;BYDAY=MO", "FREQ=YEARLY;INTERVAL=7"] {
        assert_eq!(validate(&recurring(rrule, 60, "UTC", "")), Ok(()), "{rrule}");
    }
}

#[test]
fn w30_what_is_not_said_is_the_beginning_of_the_period() {
    let first = |rrule: &str| {
        occurrences(&recurring(rrule, 60, "UTC", ""), "2026-01-01T00:30Z", "2027-02-01T00:00Z")[0].0.clone()
    };
    assert_eq!(first("FREQ=WEEKLY;BYDAY=WE"), "2026-01-07T00:00Z");
    assert_eq!(first("FREQ=WEEKLY"), "2026-01-05T00:00Z");
    assert_eq!(first("FREQ=WEEKLY;WKST=SU"), "2026-01-04T00:00Z");
    assert_eq!(first("FREQ=MONTHLY"), "2026-02-01T00:00Z");
    assert_eq!(first("FREQ=YEARLY"), "2027-01-01T00:00Z");
    assert_eq!(first("FREQ=HOURLY"), "2026-01-01T01:00Z");
    assert_eq!(
        ask(&recurring("FREQ=WEEKLY;BYDAY=WE", 60, "UTC", ""), "2026-01-06T12:00:00Z").reason,
        "the window is closed; it next opens Wed 2026-01-07 00:00 UTC until Wed 2026-01-07 01:00 UTC, zone UTC"
    );
}

#[test]
fn w32_w36_odd_zones() {
    let starts = |rrule: &str, zone: &str, day: &str| {
        let from = format!("{day}T00:00Z");
        let to = iso(at(&from) + 86_400);
        occurrences(&recurring(rrule, 60, zone, ""), &from, &to).remove(0).0
    };
    let nine = "FREQ=DAILY;BYHOUR=9";
    assert_eq!(starts(nine, "Australia/Lord_Howe", "2026-04-03"), "2026-04-03T22:00Z");
    assert_eq!(starts(nine, "Australia/Lord_Howe", "2026-04-05"), "2026-04-05T22:30Z");
    assert_eq!(starts(nine, "Australia/Lord_Howe", "2026-10-02"), "2026-10-02T22:30Z");
    assert_eq!(starts(nine, "Australia/Lord_Howe", "2026-10-04"), "2026-10-04T22:00Z");
    assert_eq!(starts("FREQ=DAILY", "Australia/Eucla", "2018-10-26"), "2018-10-26T15:15Z");
    assert_eq!(starts("FREQ=DAILY;BYHOUR=10", "Asia/Kathmandu", "2026-01-01"), "2026-01-01T04:15Z");
    let sydney =
        recurring("FREQ=WEEKLY;BYDAY=SU;BYHOUR=16", 60, "Australia/Sydney", r#", "dtstart": "2016-09-04T16:00:00""#);
    let found = occurrences(&sydney, "2016-08-01T00:00Z", "2016-10-10T00:00Z");
    let found: Vec<&str> = found.iter().map(|(start, _)| start.as_str()).collect();
    let (six, five) = (["09-04", "09-11", "09-18", "09-25"], ["10-02", "10-09"]);
    let expected: Vec<String> = (six.iter().map(|day| format!("2016-{day}T06:00Z")))
        .chain(five.iter().map(|day| format!("2016-{day}T05:00Z")))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_day_that_a_zone_skipped_does_not_vanish() {
    // Samoa had no 30 December 2011.
    let apia = config(r#"{"rrule": "FREQ=DAILY;BYHOUR=9", "duration": "P1D", "timezone": "Pacific/Apia"}"#);
    check(
        &apia,
        "2011-12-29T00:00Z",
        "2012-01-01T00:00Z",
        &[
            ("2011-12-29T19:00Z", "2011-12-30T19:00Z"),
            ("2011-12-30T19:00Z", "2011-12-31T19:00Z"),
            ("2011-12-31T19:00Z", "2012-01-01T19:00Z"),
        ],
    );
}

#[test]
fn once() {
    let allow =
        config(r#"{"start": "2026-03-08T02:30:00", "end": "2026-03-08T12:00:00Z", "timezone": "America/New_York"}"#);
    check_closed(&allow, "2026-03-08T07:29:59Z", "2026-03-08T07:30:00Z");
    check_open(&allow, "2026-03-08T07:30:00Z", "2026-03-08T12:00:00Z");
    let over = ask(&allow, "2026-03-08T12:00:00Z");
    assert_eq!(over.verdict, Verdict::Deny);
    assert!(
        over.reason.starts_with("the window never opens again; it last ended Sun 2026-03-08 08:00 EDT"),
        "{over:?}"
    );
    let deny = Config { allow_window: false, ..allow };
    check_open(&deny, "2026-03-08T07:29:59Z", "2026-03-08T07:30:00Z");
    check_closed(&deny, "2026-03-08T07:30:00Z", "2026-03-08T12:00:00Z");
    let open_ended = config(r#"{"start": "2026-03-08T02:30:00Z"}"#);
    assert_eq!(
        ask(&open_ended, "2030-01-01T00:00:00Z").reason,
        "the window is open from Sun 2026-03-08 02:30 UTC with no next change, zone UTC"
    );
    let frozen = config(r#"{"start": "2026-03-08T02:30:00Z", "allowWindow": false}"#);
    assert_eq!(ask(&frozen, "2030-01-01T00:00:00Z").verdict, Verdict::Deny);
}

#[test]
fn an_interval_or_a_count_begins_with_the_rule() {
    let every_second = recurring("FREQ=DAILY;INTERVAL=2;BYHOUR=9", 60, "UTC", "");
    check_closed(&every_second, "2000-01-01T12:00:00Z", "2000-01-03T09:00:00Z");
    let twice = recurring("FREQ=DAILY;COUNT=2;BYHOUR=9", 60, "UTC", "");
    check_closed(&twice, "2000-01-01T12:00:00Z", "2000-01-02T09:00:00Z");
    assert_eq!(ask(&twice, "2000-01-02T10:00:00Z").verdict, Verdict::Deny);
    let anchored = recurring("FREQ=DAILY;COUNT=2;BYHOUR=9", 60, "UTC", r#", "dtstart": "2026-01-01T10:30:00Z""#);
    check_closed(&anchored, "2025-01-01T12:00:00Z", "2026-01-02T09:30:00Z");
}

#[test]
fn an_approved_moment_counts_from_the_version_at_the_earliest() {
    let config = recurring("FREQ=DAILY;BYHOUR=9", 480, "UTC", "");
    let made = at("2026-01-05T10:00:00Z") * 1000;
    let version = Version {
        id: "v".into(),
        tag: "v1".into(),
        name: String::new(),
        created_at: made,
        received_at: made + 5000,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    };
    let decision = decide(&config, made + 60_000, 0, &version).expect("right");
    assert_eq!(decision.satisfied_at, Some(made));
    assert!(decide(&config, i64::MAX, 0, &version).is_err());
    assert!(decide(&config, 0, i64::MIN, &version).is_err());
}
