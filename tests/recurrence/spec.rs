//! Random rules: a rule as fields, the text that says the same, and where it is tried. Shares no code with the policy.

use std::fmt::Write as _;

use jiff::civil::DateTime;
use proptest::prelude::*;

/// Which period a rule steps by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Every {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// What a rule says, and from when on.
#[derive(Debug, Clone)]
pub struct Spec {
    pub every: Every,
    pub interval: i64,
    pub week_start: i8,
    pub months: Vec<i8>,
    pub week_numbers: Vec<i16>,
    pub year_days: Vec<i16>,
    pub month_days: Vec<i16>,
    /// Which (0: all), and the day from Monday.
    pub weekdays: Vec<(i16, i8)>,
    pub hours: Vec<i8>,
    pub minutes: Vec<i8>,
    pub positions: Vec<i16>,
    pub count: Option<usize>,
    pub until: Option<DateTime>,
    pub dtstart: Option<DateTime>,
    /// When the rule was made, on the clocks of its zone.
    pub created: DateTime,
}

/// A rule, where and when it is tried, and how long it stays open.
#[derive(Debug, Clone)]
pub struct Case {
    pub spec: Spec,
    pub zone: &'static str,
    pub year: i16,
    /// Of the year, where sub-daily rules are looked at.
    pub day: i64,
    pub days: i64,
    pub seconds: i64,
}

/// Gaps at two, one and midnight; half an hour and two hours; a day; northern and southern; two changes in a month.
const ZONES: [&str; 16] = [
    "America/New_York",
    "America/Havana",
    "America/Santiago",
    "America/Sao_Paulo",
    "Europe/London",
    "Europe/Dublin",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Tehran",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Australia/Eucla",
    "Pacific/Apia",
    "Antarctica/Troll",
    "Antarctica/Casey",
    "UTC",
];
const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

impl Spec {
    /// As a recurrence rule.
    pub fn text(&self) -> String {
        let every = match self.every {
            Every::Minute => "MINUTELY",
            Every::Hour => "HOURLY",
            Every::Day => "DAILY",
            Every::Week => "WEEKLY",
            Every::Month => "MONTHLY",
            Every::Year => "YEARLY",
        };
        let mut text = format!("FREQ={every};INTERVAL={};WKST={}", self.interval, DAYS[self.week_start as usize]);
        let lists = [
            ("BYMONTH", texts(&self.months)),
            ("BYWEEKNO", texts(&self.week_numbers)),
            ("BYYEARDAY", texts(&self.year_days)),
            ("BYMONTHDAY", texts(&self.month_days)),
            ("BYHOUR", texts(&self.hours)),
            ("BYMINUTE", texts(&self.minutes)),
            ("BYSETPOS", texts(&self.positions)),
        ];
        for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            write!(text, ";{name}={list}").expect("a string takes everything");
        }
        if !self.weekdays.is_empty() {
            let day = |(nth, day): &(i16, i8)| match nth {
                0 => DAYS[*day as usize].to_owned(),
                nth => format!("{nth}{}", DAYS[*day as usize]),
            };
            let days: Vec<String> = self.weekdays.iter().map(day).collect();
            write!(text, ";BYDAY={}", days.join(",")).expect("a string takes everything");
        }
        if let Some(count) = self.count {
            write!(text, ";COUNT={count}").expect("a string takes everything");
        }
        if let Some(until) = self.until {
            write!(text, ";UNTIL={}", until.strftime("%Y%m%dT%H%M%S")).expect("a string takes everything");
        }
        text
    }
}

impl Case {
    /// As a configuration.
    pub fn config(&self) -> window::Config {
        let duration = match (self.days, self.seconds) {
            (0, seconds) => format!("PT{seconds}S"),
            (days, 0) => format!("P{days}D"),
            (days, seconds) => format!("P{days}DT{seconds}S"),
        };
        window::Config {
            rrule: Some(self.spec.text()),
            duration_minutes: None,
            duration: Some(duration),
            timezone: self.zone.to_owned(),
            allow_window: true,
            dtstart: self.spec.dtstart.map(|at| at.to_string()),
            start: None,
            end: None,
        }
    }
}

fn texts<T: ToString>(list: &[T]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Often nothing, else a few.
fn some<T: Clone + std::fmt::Debug + 'static>(share: f64, pool: Vec<T>, most: usize) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![
        ((1.0 - share) * 100.0) as u32 => Just(Vec::new()),
        (share * 100.0) as u32 => proptest::sample::subsequence(pool, 1..=most),
    ]
}

fn either_end(highest: i16) -> Vec<i16> {
    (-highest..=highest).filter(|number| *number != 0).collect()
}

fn spec(every: Every) -> impl Strategy<Value = (Spec, i16)> {
    let dates = (
        some(0.25, (1..=12).collect(), 5),
        some(if every == Every::Year { 0.2 } else { 0.0 }, either_end(53), 6),
        some(if matches!(every, Every::Year | Every::Hour | Every::Minute) { 0.15 } else { 0.0 }, either_end(366), 30),
        some(if every == Every::Week { 0.0 } else { 0.25 }, either_end(31), 8),
        some(0.35, (0..7).collect(), 5),
        some(if matches!(every, Every::Month | Every::Year) { 0.3 } else { 0.0 }, either_end(5), 4),
    );
    // Where clocks change.
    let hours = prop_oneof![some(0.6, vec![0, 1, 2, 3, 4, 23], 4), some(0.6, (0..24).collect(), 6)];
    let minutes = prop_oneof![some(0.5, vec![0, 15, 30, 45], 3), some(0.5, (0..60).collect(), 8)];
    let times = (hours, minutes, some(0.2, either_end(12), 4));
    let bounds = (
        prop_oneof![4 => Just(1), 4 => 1_i64..8, 1 => 8_i64..100],
        0_i8..7,
        prop_oneof![3 => Just(None), 1 => (1_usize..80).prop_map(Some)],
        prop_oneof![3 => Just(None), 1 => (0_i64..500_000).prop_map(Some)],
        prop_oneof![1 => Just(None), 2 => (0_i64..500_000).prop_map(Some)],
        0_i64..500_000,
        1970_i16..2060,
    );
    (dates, times, bounds).prop_map(move |(dates, times, bounds)| {
        let (months, week_numbers, year_days, month_days, days, nth) = dates;
        let (hours, minutes, positions) = times;
        let (interval, week_start, count, until, dtstart, created, year) = bounds;
        let nth = if week_numbers.is_empty() { nth } else { Vec::new() };
        let weekdays: Vec<(i16, i8)> =
            days.iter().enumerate().map(|(index, day)| (nth.get(index).copied().unwrap_or(0), *day)).collect();
        let none = months.is_empty()
            && week_numbers.is_empty()
            && year_days.is_empty()
            && month_days.is_empty()
            && weekdays.is_empty()
            && hours.is_empty()
            && minutes.is_empty();
        let at = |minute: i64| jiff::civil::date(year, 1, 1).at(0, 0, 0, 0) + jiff::Span::new().minutes(minute);
        // What a count leaves is looked at from its beginning: late in the year.
        let spec = Spec {
            every,
            interval,
            week_start,
            months,
            week_numbers,
            year_days,
            month_days,
            weekdays,
            hours,
            minutes,
            positions: if none { Vec::new() } else { positions },
            count,
            until: if count.is_some() { None } else { until.map(at) },
            dtstart: dtstart.map(at),
            created: at(created),
        };
        (spec, year)
    })
}

/// Rules of a kind in a year and a zone.
pub fn cases(every: Every) -> impl Strategy<Value = Case> {
    let days = prop_oneof![3 => Just(0_i64), 1 => 1_i64..3];
    let seconds = prop_oneof![
        1_i64..120,
        (1_i64..200).prop_map(|minutes| minutes * 60),
        (1_i64..48).prop_map(|hours| hours * 3600)
    ];
    (spec(every), proptest::sample::select(ZONES.to_vec()), 0_i64..365, days, seconds, any::<bool>()).prop_map(
        |((spec, year), zone, day, days, seconds, whole)| {
            let seconds = if whole && days > 0 { 0 } else { seconds };
            Case { spec, zone, year, day, days, seconds }
        },
    )
}
