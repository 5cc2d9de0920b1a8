//! BYSETPOS of weeks, months and years: some of the starts of each period. Positions within a day, hour or minute
//! are in the times of day already.

use super::{
    Frequency, RRule,
    calendar::{CYCLE_YEARS, DAY, YEARS, date, day_number, month_length, weekday, year_of, year_start},
    pattern::Days,
    times::picked,
};

/// Which starts of each period.
#[derive(Debug)]
pub struct Positions {
    picks: Vec<i64>,
    period: Period,
}

#[derive(Debug, Clone, Copy)]
enum Period {
    Week { start: i64 },
    Month,
    Year,
}

impl Positions {
    pub fn new(rule: &RRule) -> Self {
        let period = match rule.frequency {
            Frequency::Yearly => Period::Year,
            Frequency::Monthly => Period::Month,
            Frequency::Weekly | Frequency::Daily | Frequency::Hourly | Frequency::Minutely => {
                Period::Week { start: rule.week_start }
            }
        };
        Self { picks: rule.positions.clone(), period }
    }

    /// The first start at `local` or after.
    pub fn next(&self, days: &Days, times: &[i64], local: i64) -> Option<i64> {
        let mut day = local.div_euclid(DAY);
        let last_year = if days.repeats() { year_of(day) + CYCLE_YEARS } else { *YEARS.end() };
        while year_of(day) <= last_year {
            let (_, end) = self.bounds(day);
            if let Some(found) = self.starts(days, times, day).into_iter().find(|start| *start >= local) {
                return Some(found);
            }
            day = days.next(end)?;
        }
        None
    }

    /// The last start at `local` or before.
    pub fn previous(&self, days: &Days, times: &[i64], local: i64) -> Option<i64> {
        let mut day = local.div_euclid(DAY);
        let first_year = if days.repeats() { year_of(day) - CYCLE_YEARS } else { *YEARS.start() };
        while year_of(day) >= first_year {
            let (start, _) = self.bounds(day);
            if let Some(found) = self.starts(days, times, day).into_iter().rfind(|start| *start <= local) {
                return Some(found);
            }
            day = days.previous(start - 1)?;
        }
        None
    }

    /// The starts in the period of a day.
    pub fn starts(&self, days: &Days, times: &[i64], day: i64) -> Vec<i64> {
        let (start, end) = self.bounds(day);
        let found: Vec<i64> = days.between(start, end).collect();
        let per_day = times.len() as i64;
        let start = |index: i64| found[(index / per_day) as usize] * DAY + times[(index % per_day) as usize];
        picked(&self.picks, found.len() as i64 * per_day).into_iter().map(start).collect()
    }

    /// The first day of the period of a day, and that of the next.
    pub fn bounds(&self, day: i64) -> (i64, i64) {
        match self.period {
            Period::Week { start } => {
                let first = day - (weekday(day) - start).rem_euclid(7);
                (first, first + 7)
            }
            Period::Month => {
                let (year, month, _) = date(day);
                let first = day_number(year, month, 1);
                (first, first + month_length(year, month))
            }
            Period::Year => (year_start(year_of(day)), year_start(year_of(day) + 1)),
        }
    }
}
