//! RFC 5545 read literally: every minute of some time is asked whether the rule names it. Slow and plain; shares no
//! code with the policy, and leaves calendar and zones to jiff.

use std::collections::BTreeMap;

use jiff::{
    Span, Timestamp,
    civil::{Date, DateTime, Weekday},
    tz::TimeZone,
};

use crate::spec::{Case, Every, Spec};

/// Local starts from the midnight of one day to that of another. Where there are positions, periods that are cut off
/// by the ends are left out.
pub fn local_starts(spec: &Spec, from: Date, to: Date) -> Vec<DateTime> {
    let begins = spec.dtstart.or((spec.interval > 1 || spec.count.is_some()).then_some(spec.created));
    let anchor = spec.dtstart.unwrap_or(spec.created);
    let first = period(spec, anchor);
    let mut periods: BTreeMap<i64, Vec<DateTime>> = BTreeMap::new();
    let mut day = from;
    while day < to {
        if is_day(spec, day) {
            for minute in 0..1440 {
                let at = day.at((minute / 60) as i8, (minute % 60) as i8, 0, 0);
                if is_time(spec, at) {
                    let period = period(spec, at);
                    if (period - first).rem_euclid(spec.interval) == 0 {
                        periods.entry(period).or_default().push(at);
                    }
                }
            }
        }
        day = day.tomorrow().expect("years that are known");
    }
    let picked = periods.into_iter().flat_map(|(number, starts)| {
        let cut = number == period(spec, from.at(0, 0, 0, 0)) || number == period(spec, to.at(0, 0, 0, 0));
        pick(spec, starts, cut)
    });
    let begun = picked.filter(|at| begins.is_none_or(|begins| *at >= begins));
    let bounded = begun.filter(|at| spec.until.is_none_or(|until| *at <= until));
    bounded.take(spec.count.unwrap_or(usize::MAX)).collect()
}

/// Starts and ends as instants, in seconds: strictly increasing starts.
pub fn occurrences(case: &Case, zone: &TimeZone, local: &[DateTime]) -> Vec<(i64, i64)> {
    let mut found: BTreeMap<i64, i64> = BTreeMap::new();
    for at in local {
        let start = instant(zone, *at);
        let ends = |from: DateTime| instant(zone, from + Span::new().days(case.days)) + case.seconds;
        let end = if case.days == 0 {
            start + case.seconds
        } else if ends(*at) > start {
            ends(*at)
        } else {
            ends(zone.to_datetime(Timestamp::from_second(start).expect("an instant")))
        };
        let known = found.entry(start).or_insert(end);
        *known = end.max(*known);
    }
    found.into_iter().collect()
}

/// A skipped time with the offset before it; a repeated one the first time.
pub fn instant(zone: &TimeZone, at: DateTime) -> i64 {
    zone.to_ambiguous_timestamp(at).compatible().expect("an instant").as_second()
}

fn pick(spec: &Spec, starts: Vec<DateTime>, cut: bool) -> Vec<DateTime> {
    if spec.positions.is_empty() {
        return starts;
    }
    if cut {
        return Vec::new();
    }
    let count = starts.len() as i64;
    let named = |index: i64| {
        spec.positions.iter().any(|position| i64::from(*position) == index + 1 || i64::from(*position) == index - count)
    };
    (0..).zip(starts).filter(|(index, _)| named(*index)).map(|(_, at)| at).collect()
}

/// Which year, month, week, day, hour or minute it is in, counted from some beginning.
fn period(spec: &Spec, at: DateTime) -> i64 {
    let days = days_since_monday(at.date());
    let start = i64::from(spec.week_start);
    match spec.every {
        Every::Year => i64::from(at.year()),
        Every::Month => i64::from(at.year()) * 12 + i64::from(at.month()),
        Every::Week => (days - start).div_euclid(7),
        Every::Day => days,
        Every::Hour => days * 24 + i64::from(at.hour()),
        Every::Minute => (days * 24 + i64::from(at.hour())) * 60 + i64::from(at.minute()),
    }
}

/// 1900-01-01 was a Monday.
fn days_since_monday(day: Date) -> i64 {
    i64::from(jiff::civil::date(1900, 1, 1).until(day).expect("days").get_days())
}

fn is_time(spec: &Spec, at: DateTime) -> bool {
    let given = spec.dtstart.unwrap_or(jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0));
    let is = |list: &[i8], value: i8, left_open: Option<i8>| {
        if list.is_empty() { left_open.is_none_or(|open| open == value) } else { list.contains(&value) }
    };
    let hour = (!matches!(spec.every, Every::Hour | Every::Minute)).then_some(given.hour());
    let minute = (spec.every != Every::Minute).then_some(given.minute());
    is(&spec.hours, at.hour(), hour) && is(&spec.minutes, at.minute(), minute)
}

fn is_day(spec: &Spec, day: Date) -> bool {
    let length = i16::from(day.days_in_month());
    let of_month = i16::from(day.day());
    let year_length = day.days_in_year();
    let either = |list: &[i16], number: i16, count: i16| list.contains(&number) || list.contains(&(number - count - 1));
    let in_month = spec.months.is_empty() || spec.months.contains(&day.month());
    let of_week = spec.weekdays.is_empty() || spec.weekdays.iter().any(|wanted| is_weekday(spec, day, *wanted));
    in_month
        && of_week
        && (spec.month_days.is_empty() || either(&spec.month_days, of_month, length))
        && (spec.year_days.is_empty() || either(&spec.year_days, day.day_of_year(), year_length))
        && (spec.week_numbers.is_empty() || is_week(spec, day))
        && is_left_open(spec, day)
}

fn is_weekday(spec: &Spec, day: Date, (nth, weekday): (i16, i8)) -> bool {
    if day.weekday() != Weekday::from_monday_zero_offset(weekday).expect("a day of the week") {
        return false;
    }
    if nth == 0 {
        return true;
    }
    // Count the same days of the week on that side of it.
    let within = |other: Date| {
        if spec.every == Every::Month || !spec.months.is_empty() {
            (other.year(), other.month()) == (day.year(), day.month())
        } else {
            other.year() == day.year()
        }
    };
    let step = if nth > 0 { -7 } else { 7 };
    let mut count = 0;
    let mut other = day;
    while within(other) {
        count += 1;
        other += Span::new().days(step);
    }
    count == nth.abs()
}

/// A week is of the year that has at least four of its days.
fn is_week(spec: &Spec, day: Date) -> bool {
    let start = Weekday::from_monday_zero_offset(spec.week_start).expect("a day of the week");
    let first = |year: i16| {
        let mut first = jiff::civil::date(year, 1, 4);
        while first.weekday() != start {
            first = first.yesterday().expect("days");
        }
        first
    };
    let year =
        [day.year() + 1, day.year(), day.year() - 1].into_iter().find(|year| first(*year) <= day).expect("a year");
    let weeks = |from: Date, to: Date| (from.until(to).expect("days").get_days() / 7) as i16;
    let (number, count) = (weeks(first(year), day) + 1, weeks(first(year), first(year + 1)));
    spec.week_numbers.contains(&number) || spec.week_numbers.contains(&(number - count - 1))
}

/// The day that a rule without one means.
fn is_left_open(spec: &Spec, day: Date) -> bool {
    let named = !(spec.week_numbers.is_empty()
        && spec.year_days.is_empty()
        && spec.month_days.is_empty()
        && spec.weekdays.is_empty());
    let first = jiff::civil::date(2000, 1, 1);
    let given = spec.dtstart.map_or(first, DateTime::date);
    match spec.every {
        _ if named => true,
        Every::Year => day.day() == given.day() && (!spec.months.is_empty() || day.month() == given.month()),
        Every::Month => day.day() == given.day(),
        Every::Week => {
            let start = Weekday::from_monday_zero_offset(spec.week_start).expect("a day of the week");
            day.weekday() == spec.dtstart.map_or(start, |at| at.date().weekday())
        }
        Every::Day | Every::Hour | Every::Minute => true,
    }
}
