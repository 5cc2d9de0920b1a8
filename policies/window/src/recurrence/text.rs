//! Reads a recurrence rule (RFC 5545, `FREQ=WEEKLY;BYDAY=MO,TU`). Never looks at dates: that is for its neighbours.

use std::fmt::Display;

use super::calendar::{DAY, day_number, month_length};

/// How often, the period that the other parts expand or limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Frequency {
    /// Every minute.
    Minutely,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week, from `WKST` on.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
}

/// The last moment at which a start counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// In the rule's zone. A bare date means the whole of it.
    Local(i64),
    /// Seconds since the epoch.
    Instant(i64),
}

/// A rule as it was written. Lists are sorted and have no duplicates; an empty one was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RRule {
    /// `FREQ`
    pub frequency: Frequency,
    /// `INTERVAL`, at least 1.
    pub interval: i64,
    /// `COUNT`, at least 1.
    pub count: Option<i64>,
    /// `UNTIL`
    pub until: Option<Until>,
    /// `WKST`; Monday is 0.
    pub week_start: i64,
    /// `BYMONTH`
    pub months: Vec<i64>,
    /// `BYWEEKNO`
    pub week_numbers: Vec<i64>,
    /// `BYYEARDAY`
    pub year_days: Vec<i64>,
    /// `BYMONTHDAY`
    pub month_days: Vec<i64>,
    /// `BYDAY`: which of them in its month or year (0: every one), and the day of the week.
    pub weekdays: Vec<(i64, i64)>,
    /// `BYHOUR`
    pub hours: Vec<i64>,
    /// `BYMINUTE`
    pub minutes: Vec<i64>,
    /// `BYSECOND`; a leap second is the second before it.
    pub seconds: Vec<i64>,
    /// `BYSETPOS`
    pub positions: Vec<i64>,
}

/// The most periods between two: more than all minutes of the years in question are of no use.
const INTERVAL_MAX: i64 = 1_000_000;
const COUNT_MAX: i64 = 1_000_000_000;
const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

impl RRule {
    /// Reads a rule, with or without `RRULE:` before it.
    ///
    /// # Errors
    /// The part that is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let upper = text.trim().to_ascii_uppercase();
        if upper.contains("DTSTART") {
            return Err("`DTSTART` is no part of a rule (expected it under the key `dtstart`)".to_owned());
        }
        let parts = upper.strip_prefix("RRULE:").unwrap_or(&upper);
        let mut rule = Self::every(Frequency::Daily);
        let mut seen: Vec<&str> = Vec::new();
        for part in parts.split(';') {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is no part of a rule (expected such as `FREQ=WEEKLY;BYDAY=MO`)"))?;
            if seen.contains(&name) {
                return Err(format!("`{name}` is given twice"));
            }
            seen.push(name);
            rule.set(name, value)?;
        }
        if !seen.contains(&"FREQ") {
            return Err("`FREQ` is missing (expected such as `FREQ=WEEKLY`)".to_owned());
        }
        rule.check()?;
        Ok(rule)
    }

    fn every(frequency: Frequency) -> Self {
        Self {
            frequency,
            interval: 1,
            count: None,
            until: None,
            week_start: 0,
            months: Vec::new(),
            week_numbers: Vec::new(),
            year_days: Vec::new(),
            month_days: Vec::new(),
            weekdays: Vec::new(),
            hours: Vec::new(),
            minutes: Vec::new(),
            seconds: Vec::new(),
            positions: Vec::new(),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "FREQ" => self.frequency = frequency(value)?,
            "INTERVAL" => self.interval = number(name, value, 1, INTERVAL_MAX)?,
            "COUNT" => self.count = Some(number(name, value, 1, COUNT_MAX)?),
            "UNTIL" => self.until = Some(until(value)?),
            "WKST" => self.week_start = weekday(name, value)?,
            "BYMONTH" => self.months = numbers(name, value, 1, 12)?,
            "BYWEEKNO" => self.week_numbers = signed(name, value, 53)?,
            "BYYEARDAY" => self.year_days = signed(name, value, 366)?,
            "BYMONTHDAY" => self.month_days = signed(name, value, 31)?,
            "BYDAY" => self.weekdays = sorted(value.split(',').map(nth_weekday).collect::<Result<_, _>>()?),
            "BYHOUR" => self.hours = numbers(name, value, 0, 23)?,
            "BYMINUTE" => self.minutes = numbers(name, value, 0, 59)?,
            "BYSECOND" => {
                let seconds = numbers(name, value, 0, 60)?;
                self.seconds = sorted(seconds.into_iter().map(|second| second.min(59)).collect());
            }
            "BYSETPOS" => self.positions = signed(name, value, 366)?,
            _ => {
                return Err(format!(
                    "`{name}` is no known part (expected FREQ, INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYWEEKNO, \
                     BYYEARDAY, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSECOND or BYSETPOS)"
                ));
            }
        }
        Ok(())
    }

    /// What RFC 5545 says must not stand together.
    fn check(&self) -> Result<(), String> {
        use Frequency::{Daily, Hourly, Minutely, Monthly, Weekly, Yearly};
        let frequency = self.frequency;
        if self.count.is_some() && self.until.is_some() {
            return Err("`COUNT` and `UNTIL` exclude each other (expected one of them)".to_owned());
        }
        if !self.week_numbers.is_empty() && frequency != Yearly {
            return Err("`BYWEEKNO` goes with `FREQ=YEARLY` only".to_owned());
        }
        if !self.year_days.is_empty() && matches!(frequency, Daily | Weekly | Monthly) {
            return Err("`BYYEARDAY` does not go with `FREQ=DAILY`, `WEEKLY` or `MONTHLY`".to_owned());
        }
        if !self.month_days.is_empty() && frequency == Weekly {
            return Err("`BYMONTHDAY` does not go with `FREQ=WEEKLY`".to_owned());
        }
        if let Some((nth, day)) = self.weekdays.iter().find(|(nth, _)| *nth != 0) {
            let name = format!("{nth}{}", WEEKDAYS[*day as usize]);
            if matches!(frequency, Weekly | Daily | Hourly | Minutely) {
                return Err(format!("`BYDAY={name}` goes with `FREQ=MONTHLY` or `YEARLY` only"));
            }
            if !self.week_numbers.is_empty() {
                return Err(format!("`BYDAY={name}` does not go with `BYWEEKNO`"));
            }
        }
        let parts = [&self.months, &self.week_numbers, &self.year_days, &self.month_days];
        let times = [&self.hours, &self.minutes, &self.seconds];
        let none = self.weekdays.is_empty() && parts.iter().chain(&times).all(|part| part.is_empty());
        if !self.positions.is_empty() && none {
            return Err("`BYSETPOS` picks from what another BY part gives (expected such as `BYDAY` too)".to_owned());
        }
        Ok(())
    }
}

fn frequency(value: &str) -> Result<Frequency, String> {
    match value {
        "YEARLY" => Ok(Frequency::Yearly),
        "MONTHLY" => Ok(Frequency::Monthly),
        "WEEKLY" => Ok(Frequency::Weekly),
        "DAILY" => Ok(Frequency::Daily),
        "HOURLY" => Ok(Frequency::Hourly),
        "MINUTELY" => Ok(Frequency::Minutely),
        _ => Err(wrong("FREQ", value, "YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY or MINUTELY")),
    }
}

/// A whole number without a sign, as the RFC writes them.
fn number(name: &str, value: &str, min: i64, max: i64) -> Result<i64, String> {
    Some(value)
        .filter(|value| !value.is_empty() && value.len() <= 10 && value.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|value| value.parse().ok())
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| wrong(name, value, format_args!("a whole number from {min} to {max}")))
}

fn numbers(name: &str, value: &str, min: i64, max: i64) -> Result<Vec<i64>, String> {
    value.split(',').map(|item| number(name, item, min, max)).collect::<Result<_, _>>().map(sorted)
}

/// Numbers that count from the end when they are negative.
fn signed(name: &str, value: &str, max: i64) -> Result<Vec<i64>, String> {
    let read = |item: &str| {
        let (sign, digits) = split_sign(item);
        let wrong = |_| wrong(name, item, format_args!("1 to {max}, or -1 to -{max} to count from the end"));
        number(name, digits, 1, max).map(|number| sign * number).map_err(wrong)
    };
    value.split(',').map(read).collect::<Result<_, _>>().map(sorted)
}

fn split_sign(item: &str) -> (i64, &str) {
    match item.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, item.strip_prefix('+').unwrap_or(item)),
    }
}

fn weekday(name: &str, value: &str) -> Result<i64, String> {
    WEEKDAYS
        .iter()
        .zip(0..)
        .find(|(day, _)| **day == value)
        .map(|(_, number)| number)
        .ok_or_else(|| wrong(name, value, "MO, TU, WE, TH, FR, SA or SU"))
}

fn nth_weekday(item: &str) -> Result<(i64, i64), String> {
    let wrong = || wrong("BYDAY", item, "such as `MO`, or `1MO` and `-1MO` for the first and last of a month or year");
    let split = item.len().checked_sub(2).filter(|split| item.is_char_boundary(*split)).ok_or_else(wrong)?;
    let (nth, day) = item.split_at(split);
    let day = weekday("BYDAY", day).map_err(|_| wrong())?;
    if nth.is_empty() {
        return Ok((0, day));
    }
    let (sign, digits) = split_sign(nth);
    number("BYDAY", digits, 1, 53).map(|nth| (sign * nth, day)).map_err(|_| wrong())
}

/// `20261231`, `20261231T170000` or `20261231T170000Z`.
fn until(value: &str) -> Result<Until, String> {
    let wrong = || wrong("UNTIL", value, "such as `20261231`, `20261231T170000` or, in UTC, `20261231T170000Z`");
    let digits = |text: &str| number("UNTIL", text, 0, i64::MAX).map_err(|_| wrong());
    if !value.is_ascii() || value.len() < 8 {
        return Err(wrong());
    }
    let (date, time) = value.split_at(8);
    let (year, month, day) = (digits(&date[..4])?, digits(&date[4..6])?, digits(&date[6..])?);
    if year == 0 || !(1..=12).contains(&month) || day == 0 || day > month_length(year, month) {
        return Err(wrong());
    }
    let midnight = day_number(year, month, day) * DAY;
    if time.is_empty() {
        return Ok(Until::Local(midnight + DAY - 1));
    }
    let (clock, utc) = match time.strip_suffix('Z') {
        Some(clock) => (clock, true),
        None => (time, false),
    };
    let clock = clock.strip_prefix('T').filter(|clock| clock.len() == 6).ok_or_else(wrong)?;
    let (hour, minute, second) = (digits(&clock[..2])?, digits(&clock[2..4])?, digits(&clock[4..])?);
    if hour > 23 || minute > 59 || second > 60 {
        return Err(wrong());
    }
    let at = midnight + hour * 3600 + minute * 60 + second.min(59);
    Ok(if utc { Until::Instant(at) } else { Until::Local(at) })
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

fn wrong(name: &str, value: &str, expected: impl Display) -> String {
    format!("`{name}={value}` is wrong (expected {expected})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_with_every_part() {
        let rule = RRule::parse(
            "rrule:freq=yearly;interval=2;until=20301231T235960Z;wkst=su;bymonth=3,1,3;byyearday=+1,-1;\
             bymonthday=-31,31;byday=mo,-1fr;byhour=9,0;byminute=30;bysecond=60,59;bysetpos=-1",
        )
        .expect("parses");
        assert_eq!((rule.frequency, rule.interval, rule.week_start), (Frequency::Yearly, 2, 6));
        assert_eq!(rule.until, Some(Until::Instant(1_924_991_999)));
        assert_eq!((rule.months, rule.year_days, rule.month_days), (vec![1, 3], vec![-1, 1], vec![-31, 31]));
        assert_eq!((rule.weekdays, rule.hours), (vec![(-1, 4), (0, 0)], vec![0, 9]));
        assert_eq!((rule.minutes, rule.seconds, rule.positions), (vec![30], vec![59], vec![-1]));
        let day = RRule::parse("FREQ=DAILY;UNTIL=19700102").expect("parses");
        assert_eq!(day.until, Some(Until::Local(2 * DAY - 1)));
    }

    #[test]
    fn what_is_refused() {
        for (text, part) in [
            ("", "`` is no part"),
            ("FREQ=DAILY;", "`` is no part"),
            ("INTERVAL=2", "`FREQ` is missing"),
            ("FREQ=DAILY;FREQ=DAILY", "`FREQ` is given twice"),
            ("FREQ=SECONDLY", "`FREQ=SECONDLY` is wrong"),
            ("FREQ=DAILY;INTERVAL=0", "`INTERVAL=0` is wrong (expected a whole number from 1"),
            ("FREQ=DAILY;INTERVAL=-1", "`INTERVAL=-1` is wrong"),
            ("FREQ=DAILY;INTERVAL=.007", "`INTERVAL=.007` is wrong"),
            ("FREQ=DAILY;INTERVAL=99999999999999999999", "is wrong"),
            ("FREQ=DAILY;COUNT=0", "`COUNT=0` is wrong"),
            ("FREQ=DAILY;COUNT=1;UNTIL=20260101", "exclude each other"),
            ("FREQ=DAILY;UNTIL=20260230", "`UNTIL=20260230` is wrong"),
            ("FREQ=DAILY;UNTIL=20260101T240000", "is wrong"),
            ("FREQ=DAILY;UNTIL=2026-01-01", "is wrong"),
            ("FREQ=DAILY;BYHOUR=24", "`BYHOUR=24` is wrong (expected a whole number from 0 to 23)"),
            ("FREQ=DAILY;BYHOUR=", "`BYHOUR=` is wrong"),
            ("FREQ=DAILY;BYMONTHDAY=0", "`BYMONTHDAY=0` is wrong (expected 1 to 31, or -1 to -31"),
            ("FREQ=DAILY;BYDAY=XX", "`BYDAY=XX` is wrong"),
            ("FREQ=DAILY;BYDAY=é", "is wrong"),
            ("FREQ=DAILY;BYDAY=1MO", "`BYDAY=1MO` goes with"),
            ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", "does not go with `BYWEEKNO`"),
            ("FREQ=MONTHLY;BYWEEKNO=1", "`BYWEEKNO` goes with"),
            ("FREQ=MONTHLY;BYYEARDAY=1", "`BYYEARDAY` does not go with"),
            ("FREQ=WEEKLY;BYMONTHDAY=1", "`BYMONTHDAY` does not go with"),
            ("FREQ=DAILY;BYSETPOS=1", "`BYSETPOS` picks"),
            ("FREQ=DAILY;BYEASTER=1", "`BYEASTER` is no known part"),
            ("DTSTART:20260101T000000\nRRULE:FREQ=DAILY", "under the key `dtstart`"),
        ] {
            let error = RRule::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
