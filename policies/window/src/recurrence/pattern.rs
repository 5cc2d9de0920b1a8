//! A rule without its bounds: dates, cycle, times and positions put together.

use std::cell::OnceCell;

use super::{
    Anchor, Frequency, RRule,
    calendar::{CYCLE_YEARS, DAY, YEARS, date, weekday, year_of, year_start},
    cycle::Cycle,
    dates::{Dates, Filter, Periods},
    positions::Positions,
    times::Times,
};

/// All starts, from the first year to the last.
#[derive(Debug)]
pub struct Pattern {
    pub days: Days,
    pub times: Times,
    /// Of the starts in a week, month or year. Positions within a day or less are in `times` already.
    pub positions: Option<Positions>,
    gap: OnceCell<i64>,
}

/// The days that have starts (before positions pick some).
#[derive(Debug)]
pub struct Days {
    pub dates: Dates,
    pub cycle: Cycle,
}

impl Pattern {
    pub fn new(rule: &RRule, anchor: Anchor) -> Self {
        let (of, given) = match anchor {
            Anchor::Given(at) => (at, Some(at)),
            Anchor::Default(at) => (at, None),
        };
        let mut times = Times::new(rule, given.map_or(0, |at| at.rem_euclid(DAY)));
        let positions = match rule.frequency {
            _ if rule.positions.is_empty() => None,
            Frequency::Minutely | Frequency::Hourly | Frequency::Daily => {
                times.pick(&rule.positions);
                None
            }
            Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => Some(Positions::new(rule)),
        };
        let day = of.div_euclid(DAY);
        let (year, month, _) = date(day);
        let interval = rule.interval;
        let periods = match rule.frequency {
            _ if interval == 1 => Periods::Every,
            Frequency::Yearly => Periods::Years { interval, of: year },
            Frequency::Monthly => Periods::Months { interval, of: 12 * year + month - 1 },
            Frequency::Weekly | Frequency::Daily | Frequency::Hourly | Frequency::Minutely => Periods::Every,
        };
        let cycle = match rule.frequency {
            _ if times.inner.is_empty() => Cycle::daily(Vec::new()),
            _ if interval == 1 => Cycle::daily(times.units.clone()),
            Frequency::Yearly | Frequency::Monthly => Cycle::daily(times.units.clone()),
            Frequency::Weekly => Cycle::weeks(interval, day, rule.week_start),
            Frequency::Daily => Cycle::days(interval, day),
            Frequency::Hourly | Frequency::Minutely => Cycle::units(interval, of, times.unit, &times.units),
        };
        let dates = Dates::new(filter(rule, given.map(|at| at.div_euclid(DAY))), periods);
        Self { days: Days { dates, cycle }, times, positions, gap: OnceCell::new() }
    }

    /// The first start at `local` or after.
    pub fn next(&self, local: i64) -> Option<i64> {
        if let Some(positions) = &self.positions {
            return positions.next(&self.days, &self.times.inner, local);
        }
        let day = local.div_euclid(DAY);
        let found = self.days.next(day)?;
        if found == day
            && let Some(second) = self.times.next(self.days.cycle.of_day(day), local.rem_euclid(DAY))
        {
            return Some(day * DAY + second);
        }
        let found = if found == day { self.days.next(day + 1)? } else { found };
        Some(found * DAY + self.times.next(self.days.cycle.of_day(found), 0)?)
    }

    /// The last start at `local` or before.
    pub fn previous(&self, local: i64) -> Option<i64> {
        if let Some(positions) = &self.positions {
            return positions.previous(&self.days, &self.times.inner, local);
        }
        let day = local.div_euclid(DAY);
        let found = self.days.previous(day)?;
        if found == day
            && let Some(second) = self.times.previous(self.days.cycle.of_day(day), local.rem_euclid(DAY))
        {
            return Some(day * DAY + second);
        }
        let found = if found == day { self.days.previous(day - 1)? } else { found };
        Some(found * DAY + self.times.previous(self.days.cycle.of_day(found), DAY - 1)?)
    }

    /// The last start that is reached from `start` without a gap of more than `gap` between two, or one on the way
    /// there; at most the one before `end`.
    pub fn run_end(&self, start: i64, gap: i64, end: i64) -> Option<i64> {
        if self.positions.is_some() {
            return Some(start);
        }
        let Days { dates, cycle } = &self.days;
        let day = start.div_euclid(DAY);
        if gap >= self.longest_gap() && dates.every_period() {
            let outside = dates.next_outside(day).map_or(end, |outside| outside * DAY);
            return self.previous(end.min(outside) - 1);
        }
        let reached = day * DAY + self.times.run_end(cycle.of_day(day), start.rem_euclid(DAY), gap);
        if reached < end { Some(reached) } else { self.previous(end - 1) }
    }

    /// The first start from which `start` is reached without a gap of more than `gap` between two, or one on the way;
    /// at least the first from `from` on.
    pub fn run_start(&self, start: i64, gap: i64, from: i64) -> Option<i64> {
        if self.positions.is_some() {
            return Some(start);
        }
        let Days { dates, cycle } = &self.days;
        let day = start.div_euclid(DAY);
        if gap >= self.longest_gap() && dates.every_period() {
            let inside = dates.previous_outside(day).map_or(from, |outside| (outside + 1) * DAY);
            return self.next(from.max(inside));
        }
        let reached = day * DAY + self.times.run_start(cycle.of_day(day), start.rem_euclid(DAY), gap);
        if reached >= from { Some(reached) } else { self.next(from) }
    }

    /// The longest time between two starts as long as dates leave no day out.
    pub fn longest_gap(&self) -> i64 {
        *self.gap.get_or_init(|| match self.positions {
            Some(_) => i64::MAX,
            None => self.times.longest_gap(&self.days.cycle),
        })
    }
}

impl Days {
    /// The first from `day` on. Dates and cycle take turns in jumping ahead.
    pub fn next(&self, day: i64) -> Option<i64> {
        let mut day = self.dates.next(day)?;
        let last_year = if self.repeats() { year_of(day) + CYCLE_YEARS } else { *YEARS.end() };
        loop {
            let found = self.cycle.next(day)?;
            if found == day {
                return Some(day);
            }
            day = self.dates.next(found)?;
            if year_of(day) > last_year {
                return None;
            }
        }
    }

    /// The last up to `day`.
    pub fn previous(&self, day: i64) -> Option<i64> {
        let mut day = self.dates.previous(day)?;
        let first_year = if self.repeats() { year_of(day) - CYCLE_YEARS } else { *YEARS.start() };
        loop {
            let found = self.cycle.previous(day)?;
            if found == day {
                return Some(day);
            }
            day = self.dates.previous(found)?;
            if year_of(day) < first_year {
                return None;
            }
        }
    }

    /// Those from `from` on and before `to`.
    pub fn between(&self, from: i64, to: i64) -> impl Iterator<Item = i64> {
        self.dates.between(from, to).filter(|day| self.cycle.is_daily() || !self.cycle.of_day(*day).is_empty())
    }

    /// Years with the same key have the same starts, each in its place; so have the weeks that begin in them.
    pub fn year_key(&self, year: i64) -> (usize, i64) {
        // Months and years have an interval, or cycles are longer than a day; never both.
        let (kind, place) = self.dates.year_key(year);
        (kind, place + self.cycle.class(year_start(year)))
    }

    /// Whether what is not found in one cycle of the calendar is never found.
    pub fn repeats(&self) -> bool {
        self.cycle.is_daily() && self.dates.every_period()
    }
}

/// What is asked of a date; a rule that names no day means the given one, or the first of its period.
fn filter(rule: &RRule, given: Option<i64>) -> Filter {
    let mut filter = Filter {
        months: rule.months.iter().fold(0, |months, month| months | 1 << month),
        month_days: rule.month_days.clone(),
        year_days: rule.year_days.clone(),
        week_numbers: rule.week_numbers.clone(),
        weekdays: rule.weekdays.iter().filter(|(nth, _)| *nth == 0).fold(0, |days, (_, day)| days | 1 << day),
        nth_weekdays: rule.weekdays.iter().copied().filter(|(nth, _)| *nth != 0).collect(),
        nth_in_month: rule.frequency == Frequency::Monthly || !rule.months.is_empty(),
        week_start: rule.week_start,
    };
    let names_days = !(rule.month_days.is_empty()
        && rule.year_days.is_empty()
        && rule.week_numbers.is_empty()
        && rule.weekdays.is_empty());
    if names_days {
        return filter;
    }
    let (_, month, of_month) = given.map_or((1, 1, 1), date);
    match rule.frequency {
        Frequency::Yearly => {
            if rule.months.is_empty() {
                filter.months = 1 << month;
            }
            filter.month_days = vec![of_month];
        }
        Frequency::Monthly => filter.month_days = vec![of_month],
        Frequency::Weekly => filter.weekdays = 1 << given.map_or(rule.week_start, weekday),
        Frequency::Daily | Frequency::Hourly | Frequency::Minutely => {}
    }
    filter
}
