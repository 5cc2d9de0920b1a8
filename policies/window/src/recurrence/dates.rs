//! Which days of a year a rule names: one bit a day, computed once for each kind of year. Knows no times of day.

use std::cell::OnceCell;

use super::calendar::{CYCLE_YEARS, YEARS, is_leap, month_starts, weekday, year_length, year_of, year_start};

/// A bit for each day of a year.
type YearDays = [u64; 6];

/// The days that the BY parts allow, and which months or years of the interval they may lie in.
#[derive(Debug)]
pub struct Dates {
    filter: Filter,
    periods: Periods,
    /// By [`kind`]: years of one kind have the same days.
    by_kind: [OnceCell<YearDays>; 28],
}

/// What is asked of a day, by its date alone.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Bit 1 is January; 0 means any.
    pub months: u16,
    /// Counted from the first (positive) or the last (negative) of the month.
    pub month_days: Vec<i64>,
    /// Counted from the first or the last of the year.
    pub year_days: Vec<i64>,
    /// Weeks of the year, counted from the first or the last.
    pub week_numbers: Vec<i64>,
    /// Bit 0 is Monday.
    pub weekdays: u8,
    /// Which of that day of the week, from the first or the last of its month or year.
    pub nth_weekdays: Vec<(i64, i64)>,
    /// Whether those count within the month.
    pub nth_in_month: bool,
    /// On which day of the week a week begins; Monday is 0.
    pub week_start: i64,
}

/// Which years or months an interval takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Periods {
    /// All.
    Every,
    /// One year in so many, this one among them.
    Years { interval: i64, of: i64 },
    /// One month in so many, this one (since January of year 0) among them.
    Months { interval: i64, of: i64 },
}

impl Dates {
    pub fn new(filter: Filter, periods: Periods) -> Self {
        Self { filter, periods, by_kind: Default::default() }
    }

    /// Whether every day is allowed.
    pub fn unrestricted(&self) -> bool {
        let week_start = self.filter.week_start;
        self.periods == Periods::Every && self.filter == Filter { week_start, ..Filter::default() }
    }

    /// The first allowed day from `day` on.
    pub fn next(&self, day: i64) -> Option<i64> {
        let mut year = year_of(day).max(*YEARS.start());
        let mut from = (day - year_start(year)).max(0);
        let last = if self.every_period() { (year + CYCLE_YEARS).min(*YEARS.end()) } else { *YEARS.end() };
        while year <= last {
            if let Some(bit) = first_bit(&self.days(year), from, false) {
                return Some(year_start(year) + bit);
            }
            from = 0;
            year = match self.periods {
                Periods::Every => year + 1,
                Periods::Years { interval, of } => year + 1 + (of - year - 1).rem_euclid(interval),
                Periods::Months { interval, of } => {
                    let month = 12 * (year + 1);
                    (month + (of - month).rem_euclid(interval)) / 12
                }
            };
        }
        None
    }

    /// The last allowed day up to `day`.
    pub fn previous(&self, day: i64) -> Option<i64> {
        let mut year = year_of(day).min(*YEARS.end());
        let mut from = (day - year_start(year)).min(year_length(year) - 1);
        let first = if self.every_period() { (year - CYCLE_YEARS).max(*YEARS.start()) } else { *YEARS.start() };
        while year >= first {
            if let Some(bit) = last_bit(&self.days(year), from, false) {
                return Some(year_start(year) + bit);
            }
            year = match self.periods {
                Periods::Every => year - 1,
                Periods::Years { interval, of } => year - 1 - (year - 1 - of).rem_euclid(interval),
                Periods::Months { interval, of } => {
                    let month = 12 * year - 1;
                    (month - (month - of).rem_euclid(interval)).div_euclid(12)
                }
            };
            from = year_length(year) - 1;
        }
        None
    }

    /// The first day from `day` on that is not allowed.
    pub fn next_outside(&self, day: i64) -> Option<i64> {
        if self.unrestricted() {
            return None;
        }
        let mut year = year_of(day);
        let mut from = day - year_start(year);
        for _ in 0..=CYCLE_YEARS {
            let found = first_bit(&self.days(year), from, true).filter(|bit| *bit < year_length(year));
            if let Some(bit) = found {
                return Some(year_start(year) + bit);
            }
            (year, from) = (year + 1, 0);
        }
        None
    }

    /// The last day up to `day` that is not allowed.
    pub fn previous_outside(&self, day: i64) -> Option<i64> {
        if self.unrestricted() {
            return None;
        }
        let mut year = year_of(day);
        let mut from = day - year_start(year);
        for _ in 0..=CYCLE_YEARS {
            if let Some(bit) = last_bit(&self.days(year), from, true) {
                return Some(year_start(year) + bit);
            }
            year -= 1;
            from = year_length(year) - 1;
        }
        None
    }

    /// The allowed days from `from` on and before `to`.
    pub fn between(&self, from: i64, to: i64) -> impl Iterator<Item = i64> {
        (year_of(from)..=year_of(to - 1)).flat_map(move |year| {
            let (days, start) = (self.days(year), year_start(year));
            days.into_iter().zip((start..).step_by(64)).flat_map(move |(word, first)| {
                let mut word = word & ones(from - first, to - first);
                std::iter::from_fn(move || {
                    let bit = (word != 0).then(|| i64::from(word.trailing_zeros()))?;
                    word &= word - 1;
                    Some(first + bit)
                })
            })
        })
    }

    /// Years with the same key have the same allowed days, and so have the weeks at their ends.
    pub fn year_key(&self, year: i64) -> (usize, i64) {
        let place = match self.periods {
            Periods::Every => 0,
            Periods::Years { interval, of } => i64::from((year - of).rem_euclid(interval) == 0),
            Periods::Months { interval, of } => (of - 12 * year).rem_euclid(interval),
        };
        (kind(year, true), place)
    }

    /// Whether months or years are left out.
    pub fn every_period(&self) -> bool {
        self.periods == Periods::Every
    }

    fn days(&self, year: i64) -> YearDays {
        match self.periods {
            Periods::Every => *self.of_kind(year),
            Periods::Years { interval, of } if (year - of).rem_euclid(interval) == 0 => *self.of_kind(year),
            Periods::Years { .. } => [0; 6],
            Periods::Months { interval, of } => {
                let all = self.of_kind(year);
                let starts = month_starts(is_leap(year));
                let mut kept = [0; 6];
                let mut month = (of - 12 * year).rem_euclid(interval);
                while month < 12 {
                    let (from, to) = (starts[month as usize], starts[month as usize + 1]);
                    for (word, kept) in kept.iter_mut().enumerate() {
                        let low = word as i64 * 64;
                        *kept |= all[word] & ones(from - low, to - low);
                    }
                    month += interval;
                }
                kept
            }
        }
    }

    fn of_kind(&self, year: i64) -> &YearDays {
        let kind = kind(year, !self.filter.week_numbers.is_empty());
        self.by_kind[kind].get_or_init(|| self.filter.year(year))
    }
}

/// Years of one kind are alike: by the day of the week that they begin with and by their length; `around`, by their
/// neighbours' too.
fn kind(year: i64, around: bool) -> usize {
    let leap = match (is_leap(year), around) {
        (true, _) => 1,
        (false, true) if is_leap(year - 1) => 2,
        (false, true) if is_leap(year + 1) => 3,
        (false, _) => 0,
    };
    weekday(year_start(year)) as usize * 4 + leap
}

impl Filter {
    fn year(&self, year: i64) -> YearDays {
        let mut days = [0; 6];
        let (start, length, starts) = (year_start(year), year_length(year), month_starts(is_leap(year)));
        let mut month_days = (0_u32, 0_u32);
        for day in &self.month_days {
            if *day > 0 {
                month_days.0 |= 1 << day;
            } else {
                month_days.1 |= 1 << -day;
            }
        }
        for month in 1..=12_usize {
            if self.months != 0 && self.months >> month & 1 == 0 {
                continue;
            }
            let month_length = starts[month] - starts[month - 1];
            for of_month in 1..=month_length {
                let of_year = starts[month - 1] + of_month;
                let from_end = month_length - of_month + 1;
                let named =
                    self.month_days.is_empty() || (month_days.0 >> of_month | month_days.1 >> from_end) & 1 == 1;
                let place = if self.nth_in_month { (of_month, month_length) } else { (of_year, length) };
                if named
                    && self.is_weekday(weekday(start + of_year - 1), place)
                    && (self.year_days.is_empty()
                        || self.year_days.contains(&of_year)
                        || self.year_days.contains(&(of_year - length - 1)))
                    && (self.week_numbers.is_empty() || self.is_week(start + of_year - 1))
                {
                    set(&mut days, of_year - 1);
                }
            }
        }
        days
    }

    fn is_weekday(&self, weekday: i64, (day, length): (i64, i64)) -> bool {
        if self.weekdays == 0 && self.nth_weekdays.is_empty() || self.weekdays >> weekday & 1 == 1 {
            return true;
        }
        let (from_first, from_last) = ((day - 1) / 7 + 1, -((length - day) / 7 + 1));
        self.nth_weekdays.iter().any(|(nth, day)| *day == weekday && (*nth == from_first || *nth == from_last))
    }

    /// A week belongs to the year that has its fourth day, and so most of it.
    fn is_week(&self, day: i64) -> bool {
        let middle = day - (weekday(day) - self.week_start).rem_euclid(7) + 3;
        let year = year_of(middle);
        let before = middle - year_start(year);
        let number = before / 7 + 1;
        let weeks = number + (year_length(year) - 1 - before) / 7;
        self.week_numbers.contains(&number) || self.week_numbers.contains(&(number - weeks - 1))
    }
}

/// Bits `from..to`, as far as a word has them.
fn ones(from: i64, to: i64) -> u64 {
    let below = |end: i64| match end {
        ..=0 => 0,
        1..=63 => (1 << end) - 1,
        64.. => u64::MAX,
    };
    below(to) & !below(from)
}

fn set(days: &mut YearDays, bit: i64) {
    days[bit as usize / 64] |= 1 << (bit % 64);
}

fn first_bit(days: &YearDays, from: i64, clear: bool) -> Option<i64> {
    (from / 64..6).find_map(|word| {
        let bits = if clear { !days[word as usize] } else { days[word as usize] };
        let bits = bits & ones(from - word * 64, 64);
        (bits != 0).then(|| word * 64 + i64::from(bits.trailing_zeros()))
    })
}

fn last_bit(days: &YearDays, from: i64, clear: bool) -> Option<i64> {
    (0..=(from / 64).min(5)).rev().find_map(|word| {
        let bits = if clear { !days[word as usize] } else { days[word as usize] };
        let bits = bits & ones(0, from - word * 64 + 1);
        (bits != 0).then(|| word * 64 + 63 - i64::from(bits.leading_zeros()))
    })
}
