//! COUNT: which start is the last of so many. Counts whole years at a time, only as far as anybody asks, and goes on
//! from there.

use std::collections::BTreeMap;

use super::{
    calendar::{DAY, YEARS, year_of, year_start},
    pattern::Pattern,
};

/// How far it has counted.
#[derive(Debug)]
pub struct Counter {
    /// Starts still to come from `upto` on.
    left: i64,
    /// Everything before is counted.
    upto: i64,
    last: Option<i64>,
    /// Starts in a year, by what tells years apart.
    years: BTreeMap<(usize, i64), i64>,
}

impl Counter {
    /// So many starts, from the local time `from` on.
    pub const fn new(count: i64, from: i64) -> Self {
        Self { left: count, upto: from, last: None, years: BTreeMap::new() }
    }

    /// The last start of all, if it lies before `local`; else some time from `local` on.
    pub fn last(&mut self, pattern: &Pattern, local: i64) -> i64 {
        loop {
            if let Some(last) = self.last {
                return last;
            }
            if self.upto > local {
                return i64::MAX;
            }
            self.advance(pattern);
        }
    }

    /// Counts on to the end of the year.
    fn advance(&mut self, pattern: &Pattern) {
        let year = year_of(self.upto.div_euclid(DAY));
        if year > *YEARS.end() {
            self.last = Some(i64::MAX);
            return;
        }
        let end = year_start(year + 1) * DAY;
        if self.upto == year_start(year) * DAY {
            let starts = self.in_year(pattern, year);
            if starts < self.left {
                (self.left, self.upto) = (self.left - starts, end);
                return;
            }
        }
        while let Some(start) = pattern.next(self.upto).filter(|start| *start < end) {
            let starts = starts_in_rest_of_day(pattern, start);
            if starts >= self.left {
                self.last = later_in_day(pattern, start, self.left - 1);
                return;
            }
            (self.left, self.upto) = (self.left - starts, after(pattern, start));
        }
        self.upto = end;
    }

    fn in_year(&mut self, pattern: &Pattern, year: i64) -> i64 {
        let days = &pattern.days;
        let per_unit = pattern.times.inner.len() as i64;
        if let (None, true) = (&pattern.positions, days.cycle.is_daily()) {
            return days.dates.count_in(year) * days.cycle.of_day(0).len() as i64 * per_unit;
        }
        let (first, end) = (year_start(year), year_start(year + 1));
        let count = || {
            let (mut sum, mut from) = (0, first * DAY);
            while let Some(start) = pattern.next(from).filter(|start| *start < end * DAY) {
                sum += starts_in_rest_of_day(pattern, start);
                from = after(pattern, start);
            }
            sum
        };
        // Weeks with positions reach over the ends of a year; few rules have them, and few periods.
        if pattern.positions.is_some() || !days.dates.every_period() {
            return count();
        }
        *self.years.entry((days.dates.kind(year), days.cycle.class(first))).or_insert_with(count)
    }
}

/// Starts of a day from `start`, one of them, on. With positions it counts one by one.
fn starts_in_rest_of_day(pattern: &Pattern, start: i64) -> i64 {
    if pattern.positions.is_some() {
        return 1;
    }
    let units = pattern.days.cycle.of_day(start.div_euclid(DAY));
    units.len() as i64 * pattern.times.inner.len() as i64 - index_in_day(pattern, start)
}

fn index_in_day(pattern: &Pattern, start: i64) -> i64 {
    let second = start.rem_euclid(DAY);
    let units = pattern.days.cycle.of_day(start.div_euclid(DAY));
    let unit = units.partition_point(|unit| *unit <= second).saturating_sub(1);
    let inner = pattern.times.inner.partition_point(|inner| units[unit] + inner < second);
    unit as i64 * pattern.times.inner.len() as i64 + inner as i64
}

/// The start so many after `start` in the same day.
fn later_in_day(pattern: &Pattern, start: i64, later: i64) -> Option<i64> {
    if pattern.positions.is_some() {
        return Some(start);
    }
    let day = start.div_euclid(DAY);
    let index = index_in_day(pattern, start) + later;
    let per_unit = pattern.times.inner.len() as i64;
    let unit = pattern.days.cycle.of_day(day).get((index / per_unit) as usize)?;
    Some(day * DAY + unit + pattern.times.inner.get((index % per_unit) as usize)?)
}

/// Where to count on.
fn after(pattern: &Pattern, start: i64) -> i64 {
    if pattern.positions.is_some() { start + 1 } else { (start.div_euclid(DAY) + 1) * DAY }
}
