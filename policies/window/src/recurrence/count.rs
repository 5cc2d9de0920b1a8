//! COUNT: which start is the last of so many. Counts whole years at a time, only as far as anybody asks, and goes on
//! from there.

use std::{cell::OnceCell, collections::BTreeMap};

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
    /// Units of each day of a cycle, unless it is too long.
    units: OnceCell<Vec<u32>>,
}

/// The longest cycle whose days are laid out one by one.
const CYCLE_MAX: i64 = 1 << 16;

impl Counter {
    /// So many starts, from the local time `from` on.
    pub const fn new(count: i64, from: i64) -> Self {
        Self { left: count, upto: from, last: None, years: BTreeMap::new(), units: OnceCell::new() }
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
        self.skip_cycles(pattern);
        if self.last.is_some() {
            return;
        }
        let day = self.upto.div_euclid(DAY);
        let year = year_of(day) - i64::from(day < first_day(pattern, year_of(day)));
        if year > *YEARS.end() {
            self.last = Some(i64::MAX);
            return;
        }
        let end = first_day(pattern, year + 1) * DAY;
        if self.upto == first_day(pattern, year) * DAY {
            let key = pattern.days.year_key(year);
            let known = self.years.get(&key).copied();
            let starts = known.unwrap_or_else(|| self.batches(pattern, year).map(|batch| batch.starts).sum());
            self.years.insert(key, starts);
            if starts < self.left {
                (self.left, self.upto) = (self.left - starts, end);
                return;
            }
        }
        let mut left = self.left;
        let last = self.batches(pattern, year).find_map(|batch| {
            if left > batch.starts {
                left -= batch.starts;
                return None;
            }
            Some(batch.start(pattern, left - 1))
        });
        (self.left, self.upto, self.last) = (left, end, last);
    }

    /// Where no date is left out, every cycle has as many starts as the next.
    fn skip_cycles(&mut self, pattern: &Pattern) {
        let cycle = &pattern.days.cycle;
        let starts = cycle.units_in_all() * pattern.times.inner.len() as i64;
        if starts == 0 || pattern.positions.is_some() || !pattern.days.dates.unrestricted() {
            return;
        }
        let cycles = (self.left - 1) / starts;
        let days_left = year_start(*YEARS.end() + 1) - self.upto.div_euclid(DAY);
        if cycles > days_left / cycle.length() {
            self.last = Some(i64::MAX);
            return;
        }
        (self.left, self.upto) = (self.left - cycles * starts, self.upto + cycles * cycle.length() * DAY);
    }

    /// Starts of a year from `upto` on, a day or a period at a time.
    fn batches<'a>(&'a self, pattern: &'a Pattern, year: i64) -> Box<dyn Iterator<Item = Batch> + 'a> {
        let (from, end) = (self.upto, first_day(pattern, year + 1));
        let Some(positions) = &pattern.positions else {
            let per_unit = pattern.times.inner.len() as i64;
            let days = pattern.days.dates.between(from.div_euclid(DAY), end);
            return Box::new(days.map(move |day| {
                let skipped = if day == from.div_euclid(DAY) { before(pattern, from) } else { 0 };
                Batch { day, skipped, starts: self.units(pattern, day) * per_unit - skipped }
            }));
        };
        let mut next = from.div_euclid(DAY);
        Box::new(std::iter::from_fn(move || {
            let day = if next == from.div_euclid(DAY) { next } else { pattern.days.next(next)? };
            let (_, after) = positions.bounds(day);
            next = after;
            let starts = positions.starts(&pattern.days, &pattern.times.inner, day);
            let skipped = starts.iter().filter(|start| **start < from).count() as i64;
            (day < end).then_some(Batch { day, skipped, starts: starts.len() as i64 - skipped })
        }))
    }

    fn units(&self, pattern: &Pattern, day: i64) -> i64 {
        let cycle = &pattern.days.cycle;
        if cycle.length() > CYCLE_MAX {
            return cycle.of_day(day).len() as i64;
        }
        let units = self.units.get_or_init(|| cycle.counts());
        i64::from(units[cycle.class(day) as usize])
    }
}

/// Starts that are counted together.
struct Batch {
    /// Theirs, or one of their period's.
    day: i64,
    /// Those of the day or period that were counted before.
    skipped: i64,
    /// How many others there are.
    starts: i64,
}

impl Batch {
    /// One of them, from 0.
    fn start(&self, pattern: &Pattern, index: i64) -> i64 {
        let index = index + self.skipped;
        match &pattern.positions {
            Some(positions) => positions.starts(&pattern.days, &pattern.times.inner, self.day)[index as usize],
            None => {
                let per_unit = pattern.times.inner.len() as i64;
                let unit = pattern.days.cycle.of_day(self.day)[(index / per_unit) as usize];
                self.day * DAY + unit + pattern.times.inner[(index % per_unit) as usize]
            }
        }
    }
}

/// How many times of its day lie before a local time.
fn before(pattern: &Pattern, local: i64) -> i64 {
    let second = local.rem_euclid(DAY);
    let units = pattern.days.cycle.of_day(local.div_euclid(DAY));
    let inner = &pattern.times.inner;
    let Some(unit) = units.partition_point(|unit| *unit <= second).checked_sub(1) else { return 0 };
    (unit * inner.len() + inner.partition_point(|inner| units[unit] + inner < second)) as i64
}

/// With which day counting a year begins: positions count whole periods, and a week may reach into the next year.
fn first_day(pattern: &Pattern, year: i64) -> i64 {
    let day = year_start(year);
    match pattern.positions.as_ref().map(|positions| positions.bounds(day)) {
        Some((first, after)) if first < day => after,
        Some(_) | None => day,
    }
}
