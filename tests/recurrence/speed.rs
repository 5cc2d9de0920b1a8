//! How long one evaluation takes, configuration read anew each time: under a millisecond for every rule that is
//! accepted, at every instant. Only an optimised build can tell.

use std::time::{Duration, Instant};

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use tidegate_policy::Version;
use window::{rule, validate::validate};

use crate::spec::{Every, cases};

const LIMIT: Duration = Duration::from_millis(1);
const ONE_YEAR: i64 = 31_556_952_000;

/// The best of a few runs: others use the machine too.
fn best(config: &window::Config, now: i64) -> Duration {
    let version = Version {
        id: "v".into(),
        tag: "v1".into(),
        name: String::new(),
        created_at: 0,
        received_at: 0,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    };
    let run = || {
        let begun = Instant::now();
        let decision = rule::decide(config, now, 946_684_800_000, &version);
        assert!(decision.is_ok(), "{decision:?}");
        begun.elapsed()
    };
    (0..5).map(|_| run()).min().expect("some runs")
}

/// The slowest instant of a rule, if the rule is accepted.
fn slowest(config: &window::Config) -> Option<(Duration, i64)> {
    validate(config).ok()?;
    let instants = [0, 10, 30, 56, 57, 60, 80, 130, 230, 430].map(|year| year * ONE_YEAR + 7_777_777_777);
    instants.into_iter().map(|now| (best(config, now), now)).max()
}

/// All of a table; names the slowest.
fn check(mut table: Vec<(Duration, String)>, least: usize) {
    assert!(table.len() >= least, "only {} rules were accepted", table.len());
    table.sort();
    let slow: Vec<String> = table.iter().rev().take(12).map(|(took, rule)| format!("{took:?} {rule}")).collect();
    assert!(table.iter().all(|(took, _)| *took < LIMIT), "too slow:\n{}", slow.join("\n"));
}

fn config(rrule: &str, duration: &str, zone: &str, dtstart: Option<&str>) -> window::Config {
    window::Config {
        rrule: Some(rrule.to_owned()),
        duration_minutes: None,
        duration: Some(duration.to_owned()),
        timezone: zone.to_owned(),
        allow_window: true,
        dtstart: dtstart.map(ToOwned::to_owned),
        start: None,
        end: None,
    }
}

fn list(to: i64) -> String {
    (0..to).map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times an optimised build")]
fn rules_that_are_hard_on_others() {
    let (minutes, seconds) = (list(60), list(60));
    let every_second = format!("FREQ=DAILY;BYHOUR={};BYMINUTE={minutes};BYSECOND={seconds}", list(24));
    let rules: Vec<(&str, &str)> = vec![
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "PT1H"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "P1D"),
        ("FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "PT1H"),
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU;BYMONTHDAY=3", "PT1H"),
        ("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,100", "PT1H"),
        ("FREQ=WEEKLY;INTERVAL=1000;BYDAY=WE", "PT1H"),
        ("FREQ=MONTHLY;INTERVAL=7;BYMONTHDAY=31", "PT1H"),
        ("FREQ=DAILY;INTERVAL=999", "PT1H"),
        ("FREQ=DAILY;COUNT=30000", "PT1H"),
        ("FREQ=DAILY;INTERVAL=2;COUNT=100000", "PT1H"),
        ("FREQ=HOURLY;COUNT=900000", "PT30M"),
        ("FREQ=HOURLY;INTERVAL=5;COUNT=900000;BYDAY=MO,TU", "PT30M"),
        ("FREQ=MINUTELY;COUNT=90000000", "PT30S"),
        ("FREQ=MINUTELY;INTERVAL=7;COUNT=9000000", "PT30S"),
        ("FREQ=MINUTELY;INTERVAL=1441;COUNT=100000", "PT30S"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE;BYSETPOS=1,-1;COUNT=20000", "PT1H"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=5000", "PT1H"),
        ("FREQ=MINUTELY", "PT1M"),
        ("FREQ=MINUTELY", "PT2H"),
        ("FREQ=MINUTELY", "P1D"),
        ("FREQ=MINUTELY;INTERVAL=7", "PT7M"),
        ("FREQ=MINUTELY;INTERVAL=1441", "PT1441M"),
        ("FREQ=MINUTELY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22", "PT1M"),
        ("FREQ=MINUTELY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11", "PT24H"),
        ("FREQ=MINUTELY;INTERVAL=100000", "PT1H"),
        ("FREQ=HOURLY;INTERVAL=36;BYHOUR=12;BYDAY=MO", "PT1H"),
        ("FREQ=DAILY;INTERVAL=2", "PT48H"),
        ("FREQ=DAILY", "P1Y"),
        ("FREQ=MONTHLY", "P1M"),
        (&every_second, "PT1S"),
        (&every_second, "PT0H1S"),
    ];
    let mut table = Vec::new();
    for zone in ["UTC", "America/New_York", "Africa/Casablanca"] {
        for dtstart in ["1990-01-01T00:00:00", "2000-02-29T00:00:00"] {
            for (rrule, duration) in &rules {
                let config = config(rrule, duration, zone, Some(dtstart));
                if let Some((took, now)) = slowest(&config) {
                    table.push((took, format!("{:.60} {duration} {zone} {dtstart} at {now}", rrule)));
                }
            }
        }
    }
    check(table, 150);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times an optimised build")]
fn random_rules() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let mut table = Vec::new();
    for every in [Every::Minute, Every::Hour, Every::Day, Every::Week, Every::Month, Every::Year] {
        for _ in 0..300 {
            let case = cases(every).new_tree(&mut runner).expect("a case").current();
            if let Some((took, now)) = slowest(&case.config()) {
                table.push((
                    took,
                    format!("{} P{}DT{}S {} at {now}", case.spec.text(), case.days, case.seconds, case.zone),
                ));
            }
        }
    }
    check(table, 600);
}
