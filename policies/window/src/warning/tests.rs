//! `check` is the only code that asks for warnings.

use super::*;
use crate::moment::Moment;

fn warned(rrule: &str, length: &str, zone: &str, now: &str) -> Vec<Warning> {
    let json = format!(r#"{{"rrule": "{rrule}", {length}, "timezone": "{zone}"}}"#);
    let config: Config = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
    let Some(Moment::Instant(now)) = Moment::parse(now) else { panic!("{now} is no instant") };
    warnings(&config, now * 1000)
}

#[track_caller]
fn check(rrule: &str, length: &str, zone: &str, expected: &[(Surprise, &str)]) {
    let found = warned(rrule, length, zone, "2026-01-15T12:00:00Z");
    let found: Vec<(Surprise, &str)> = found.iter().map(|w| (w.surprise, w.message.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn holes() {
    let hole = "there is a hole from Sun 2026-11-01 23:00 EST (2026-11-02 04:00:00 UTC) until Mon 2026-11-02 00:00 EST \
                (2026-11-02 05:00:00 UTC), since clocks change";
    check("FREQ=DAILY", r#""durationMinutes": 1440"#, "America/New_York", &[(Surprise::Hole, hole)]);
    check("FREQ=DAILY", r#""durationMinutes": 1440"#, "UTC", &[]);
    check("FREQ=DAILY", r#""duration": "P1D""#, "America/New_York", &[]);
    let hole = "there is a hole from Sun 2026-11-01 01:00 EST (2026-11-01 06:00:00 UTC) until Sun 2026-11-01 02:00 EST \
                (2026-11-01 07:00:00 UTC), since clocks change";
    let found = warned("FREQ=HOURLY", r#""durationMinutes": 60"#, "America/New_York", "2026-01-15T12:00:00Z");
    assert!(found.iter().any(|w| w.surprise == Surprise::Hole && w.message == hole), "{found:?}");
}

#[test]
fn skipped_and_repeated_starts() {
    let skipped = "clocks in America/New_York skip the start at Sun 2026-03-08 02:30; it opens Sun 2026-03-08 03:30 EDT \
                   (2026-03-08 07:30:00 UTC)";
    let daily = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30";
    check(daily, r#""durationMinutes": 60"#, "America/New_York", &[(Surprise::SkippedStart, skipped)]);
    let repeated = "clocks in America/New_York show the start at Sun 2026-11-01 01:30 twice; it opens the first time, Sun \
                    2026-11-01 01:30 EDT (2026-11-01 05:30:00 UTC)";
    let daily = "FREQ=DAILY;BYHOUR=1;BYMINUTE=30";
    check(daily, r#""durationMinutes": 20"#, "America/New_York", &[(Surprise::RepeatedStart, repeated)]);
}

#[test]
fn ends_that_move() {
    let spring = "clocks change during the occurrence of Sat 2026-03-07 22:00 EST; it ends Sun 2026-03-08 07:00 EDT \
                  (2026-03-08 11:00:00 UTC) rather than at Sun 2026-03-08 06:00";
    let autumn = "clocks change during the occurrence of Sat 2026-10-31 22:00 EDT; it ends Sun 2026-11-01 05:00 EST \
                  (2026-11-01 10:00:00 UTC) rather than at Sun 2026-11-01 06:00";
    check(
        "FREQ=DAILY;BYHOUR=22",
        r#""durationMinutes": 480"#,
        "America/New_York",
        &[(Surprise::MovedEnd, spring), (Surprise::MovedEnd, autumn)],
    );
    check("FREQ=WEEKLY;BYDAY=MO;BYHOUR=22", r#""durationMinutes": 480"#, "America/New_York", &[]);
}

#[test]
fn months_and_years_without_a_start() {
    let missing = "it does not open in 2026-02, 2026-04, 2026-06, 2026-09, 2026-11, which lack the day";
    check("FREQ=MONTHLY;BYMONTHDAY=31", r#""durationMinutes": 60"#, "UTC", &[(Surprise::MissingMonths, missing)]);
    let leap = "it does not open before Tue 2028-02-29 00:00 UTC";
    check("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", r#""durationMinutes": 60"#, "UTC", &[(Surprise::LongClosed, leap)]);
    let over = "it never opens again";
    check("FREQ=DAILY;UNTIL=20250101", r#""durationMinutes": 60"#, "UTC", &[(Surprise::LongClosed, over)]);
}

#[test]
fn what_is_refused_or_comes_once_has_no_warnings() {
    assert_eq!(warned("FREQ=NEVER", r#""durationMinutes": 60"#, "UTC", "2026-01-15T12:00:00Z"), []);
    let once: Config = serde_json::from_str(r#"{"start": "2026-03-08T02:30:00Z"}"#).expect("parses");
    assert_eq!(warnings(&once, i64::MAX), []);
}
