//! What holds for every rule, zone and year, compared with the oracle.

use jiff::{
    Span, Timestamp,
    civil::{Date, date},
    tz::{TimeZone, TimeZoneDatabase},
};
use proptest::prelude::*;
use tidegate_policy::{Version, gate::Verdict};
use window::{
    rule,
    schedule::Schedule,
    stretch::Change,
    validate::validate,
    window::{Kind, Standing, Window},
};

use crate::{
    oracle,
    spec::{Case, Every, cases},
};

/// Days that the oracle looks at, and between which instants it knows all starts.
struct Range {
    from: Date,
    to: Date,
    known: (i64, i64),
}

fn zone(case: &Case) -> TimeZone {
    TimeZoneDatabase::bundled().get(case.zone).expect("a zone that is known")
}

fn range(case: &Case, zone: &TimeZone) -> Range {
    let around = |from: Date, to: Date, margin: i64| {
        let known = [from + Span::new().days(margin), to - Span::new().days(margin)];
        let [first, last] = known.map(|day| oracle::instant(zone, day.at(0, 0, 0, 0)));
        Range { from, to, known: (first, last) }
    };
    let year = case.year;
    if case.spec.every != Every::Minute {
        let margin = 35;
        return around(date(year - 1, 12, 1), date(year + 1, 2, 1), margin);
    }
    let day = match case.spec.count {
        Some(_) => case.spec.dtstart.unwrap_or(case.spec.created).date() + Span::new().days(2),
        None => {
            let day = date(year, 1, 1) + Span::new().days(case.day);
            let at = Timestamp::from_second(oracle::instant(zone, day.at(0, 0, 0, 0))).expect("an instant");
            // Where clocks change, if they do.
            let change = zone.following(at).next().map(|change| zone.to_datetime(change.timestamp()).date());
            change.filter(|change| change.year() <= year + 1).unwrap_or(day)
        }
    };
    around(day - Span::new().days(4), day + Span::new().days(5), 1)
}

fn schedule(case: &Case, zone: &TimeZone) -> Schedule {
    let created = oracle::instant(zone, case.spec.created);
    let window = Window::new(&case.config(), created).unwrap_or_else(|errors| panic!("{errors:?}"));
    match window.kind {
        Kind::Recurring(schedule) => *schedule,
        Kind::Once { .. } => panic!("not recurring"),
    }
}

fn check_starts(case: &Case) -> Result<(), TestCaseError> {
    let zone = zone(case);
    let Range { from, to, known: (first, last) } = range(case, &zone);
    let local = oracle::local_starts(&case.spec, from, to);
    let occurrences = oracle::occurrences(case, &zone, &local);
    let expected: Vec<(i64, i64)> = occurrences.into_iter().filter(|(at, _)| (first..last).contains(at)).collect();
    let schedule = schedule(case, &zone);

    let mut found = Vec::new();
    let mut next = schedule.next(first);
    while let Some(start) = next.filter(|start| start.at < last) {
        found.push((start.at, schedule.end(start)));
        next = schedule.next(start.at + 1);
        prop_assert!(next.is_none_or(|next| next.at > start.at), "not increasing: {start:?} {next:?}");
    }
    prop_assert_eq!(&found, &expected, "{} forward", case.spec.text());

    let mut back = Vec::new();
    let mut latest = schedule.latest(last - 1);
    while let Some(start) = latest.filter(|start| start.at >= first) {
        back.push((start.at, schedule.end(start)));
        latest = schedule.latest(start.at - 1);
        prop_assert!(latest.is_none_or(|latest| latest.at < start.at), "not decreasing: {start:?} {latest:?}");
    }
    back.reverse();
    prop_assert_eq!(&back, &expected, "{} backward", case.spec.text());
    Ok(())
}

/// Occurrences that overlap or touch, as one.
fn stretches(occurrences: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (start, end) in occurrences {
        match joined.last_mut() {
            Some((_, until)) if start <= until => *until = (*end).max(*until),
            Some(_) | None => joined.push((*start, *end)),
        }
    }
    joined
}

fn check_standing(case: &Case) -> Result<(), TestCaseError> {
    // What never opens was compared already, and is slow to ask: it is looked for in all years.
    if validate(&case.config()).is_err() {
        return Ok(());
    }
    let zone = zone(case);
    let Range { from, to, known: (first, last) } = range(case, &zone);
    let local = oracle::local_starts(&case.spec, from, to);
    let occurrences = oracle::occurrences(case, &zone, &local);
    let known: Vec<(i64, i64)> = occurrences.into_iter().filter(|(at, _)| (first..last).contains(at)).collect();
    let joined = stretches(&known);
    // What began before is not known.
    let longest = (case.days + 1) * 86_400 + case.seconds;
    let from = first + longest;
    let created = oracle::instant(&zone, case.spec.created);
    let window = Window::new(&case.config(), created).unwrap_or_else(|errors| panic!("{errors:?}"));
    let bounds = joined.iter().step_by(joined.len() / 40 + 1).flat_map(|(start, end)| [*start, *end]);
    let steps = (0..40).map(|step| first + (last - first) / 40 * step);
    for now in bounds.flat_map(|bound| [bound - 1, bound, bound + 1]).chain(steps) {
        if !(from..last).contains(&now) {
            continue;
        }
        let index = joined.partition_point(|(start, _)| *start <= now);
        let inside = index.checked_sub(1).map(|index| joined[index]).filter(|(_, end)| *end > now);
        match (window.standing(now), inside) {
            (Standing::Inside { since, until }, Some((start, end))) => {
                match until {
                    Change::At(at) if end < last => prop_assert_eq!(at, end, "ends, at {}", now),
                    Change::At(at) => prop_assert!(at >= last, "ends {} at {}", at, now),
                    Change::NotBefore(at) => {
                        let starts = known.iter().filter(|(start, _)| (now..=at).contains(start)).count();
                        prop_assert!(at > now && (end >= last || at <= end), "{at} at {now}");
                        prop_assert!(at >= last || starts > 120, "{at} at {now}, after {starts} starts");
                    }
                    Change::Never => prop_assert!(end >= last, "never ends, at {}", now),
                }
                let starts = known.iter().filter(|(at, _)| (start..=now).contains(at)).count();
                if start > from && (since.is_some() || starts < 120) {
                    prop_assert_eq!(since, Some(start), "since, at {}", now);
                }
            }
            (Standing::Outside { ended, next }, None) => {
                match joined.get(index) {
                    Some((start, _)) => prop_assert_eq!(next.map(|(at, _)| at), Some(*start), "next, at {}", now),
                    None => prop_assert!(next.is_none_or(|(at, _)| at >= last), "{:?} at {}", next, now),
                }
                if let Some(before) = index.checked_sub(1).map(|index| joined[index]) {
                    prop_assert_eq!(ended, Some(before.1), "ended, at {}", now);
                }
            }
            (standing, inside) => prop_assert!(false, "{standing:?} at {now}, expected {inside:?}"),
        }
        if !matches!(window.standing(now), Standing::Inside { until: Change::NotBefore(_), .. }) {
            check_wait(case, created, now)?;
        }
    }
    Ok(())
}

/// Asked at the time that a wait names, the answer no longer names it; what an allow says of its end holds too.
fn check_wait(case: &Case, created: i64, now: i64) -> Result<(), TestCaseError> {
    for allow_window in [true, false] {
        let config = window::Config { allow_window, ..case.config() };
        let ask = |at: i64| {
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
            rule::decide(&config, at, created * 1000, &version).unwrap_or_else(|error| panic!("{error}"))
        };
        let decision = ask(now * 1000 + 999);
        match decision.verdict {
            Verdict::Wait(at) => {
                let at = at.expect("a window always knows when");
                prop_assert!(at > now * 1000 + 999);
                let then = ask(at);
                prop_assert!(then.verdict != Verdict::Wait(Some(at)), "{then:?}");
                prop_assert_eq!(ask(at - 1).verdict, Verdict::Wait(Some(at)));
            }
            Verdict::Allow => {
                prop_assert!(decision.satisfied_at.is_some_and(|at| at <= now * 1000 + 999));
                if let Some(at) = decision.valid_until {
                    prop_assert!(at > now * 1000 + 999);
                    prop_assert_eq!(ask(at - 1).verdict, Verdict::Allow);
                    prop_assert!(ask(at).valid_until != Some(at));
                }
            }
            Verdict::Deny => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases_wanted(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yearly(case in cases(Every::Year)) { check_starts(&case)?; check_standing(&case)?; }

    #[test]
    fn monthly(case in cases(Every::Month)) { check_starts(&case)?; check_standing(&case)?; }

    #[test]
    fn weekly(case in cases(Every::Week)) { check_starts(&case)?; check_standing(&case)?; }

    #[test]
    fn daily(case in cases(Every::Day)) { check_starts(&case)?; check_standing(&case)?; }

    #[test]
    fn hourly(case in cases(Every::Hour)) { check_starts(&case)?; check_standing(&case)?; }

    #[test]
    fn minutely(case in cases(Every::Minute)) { check_starts(&case)?; check_standing(&case)?; }
}

/// Of each kind; `PROPTEST_CASES` asks for more.
fn cases_wanted() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|wanted| wanted.parse().ok()).unwrap_or(60)
}
