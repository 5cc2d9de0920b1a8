//! Times of a day: units (the whole day, hours or minutes) and what is taken of each unit. Knows no dates.

use super::{Frequency, RRule, calendar::DAY, cycle::Cycle};

/// What is taken of each unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// How long a unit is.
    pub unit: i64,
    /// The units that the BY parts allow, by the second of the day at which they begin.
    pub units: Vec<i64>,
    /// Seconds from the beginning of a unit, in order; never empty unless positions leave nothing.
    pub inner: Vec<i64>,
    /// The longest time from one to the next within a unit.
    inner_gap: i64,
}

impl Times {
    /// Of a rule; `left_open` is the time of day for what it does not say.
    pub fn new(rule: &RRule, left_open: i64) -> Self {
        let or = |given: &[i64], open: i64| if given.is_empty() { vec![open] } else { given.to_vec() };
        let hours = || or(&rule.hours, left_open / 3600);
        let minutes = || or(&rule.minutes, left_open / 60 % 60);
        let seconds = or(&rule.seconds, left_open % 60);
        let every = |given: &[i64], count: i64| if given.is_empty() { (0..count).collect() } else { given.to_vec() };
        let joined = |coarse: &[i64], size: i64, fine: &[i64]| -> Vec<i64> {
            coarse.iter().flat_map(|coarse| fine.iter().map(move |fine| coarse * size + fine)).collect()
        };
        let (unit, units, inner) = match rule.frequency {
            Frequency::Minutely => {
                let minutes = joined(&every(&rule.hours, 24), 60, &every(&rule.minutes, 60));
                (60, minutes.into_iter().map(|minute| minute * 60).collect(), seconds)
            }
            Frequency::Hourly => {
                let units = every(&rule.hours, 24).into_iter().map(|hour| hour * 3600).collect();
                (3600, units, joined(&minutes(), 60, &seconds))
            }
            Frequency::Daily | Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => {
                (DAY, vec![0], joined(&joined(&hours(), 60, &minutes()), 60, &seconds))
            }
        };
        Self { unit, units, inner_gap: inner_gap(&inner), inner }
    }

    /// Only what these positions pick of each unit.
    pub fn pick(&mut self, positions: &[i64]) {
        let count = self.inner.len() as i64;
        self.inner = picked(positions, count).into_iter().map(|index| self.inner[index as usize]).collect();
        self.inner_gap = inner_gap(&self.inner);
    }

    /// The first time at `second` or after, in a day with these units.
    pub fn next(&self, units: &[i64], second: i64) -> Option<i64> {
        let begun = units.partition_point(|unit| *unit <= second);
        let within = begun.checked_sub(1).and_then(|index| {
            let left = second - units[index];
            self.inner.get(self.inner.partition_point(|inner| *inner < left)).map(|inner| units[index] + inner)
        });
        within.or_else(|| Some(units.get(begun)? + self.inner.first()?))
    }

    /// The last time at `second` or before, in a day with these units.
    pub fn previous(&self, units: &[i64], second: i64) -> Option<i64> {
        let begun = units.partition_point(|unit| *unit <= second).checked_sub(1)?;
        let left = second - units[begun];
        match self.inner.partition_point(|inner| *inner <= left).checked_sub(1) {
            Some(index) => Some(units[begun] + self.inner[index]),
            None => Some(units[begun.checked_sub(1)?] + self.inner.last()?),
        }
    }

    /// The longest time from one to the next when days have the units of a cycle.
    pub fn longest_gap(&self, cycle: &Cycle) -> i64 {
        let (Some(first), Some(last)) = (self.inner.first(), self.inner.last()) else { return i64::MAX };
        cycle.longest_gap(*first, *last).max(self.inner_gap)
    }

    /// From the time `second` of a day on, the last one before a gap of more than `gap`.
    pub fn run_end(&self, units: &[i64], second: i64, gap: i64) -> i64 {
        let (Some(first), Some(last)) = (self.inner.first(), self.inner.last()) else { return second };
        let Some(mut unit) = units.partition_point(|unit| *unit <= second).checked_sub(1) else { return second };
        let mut from = second - units[unit];
        loop {
            if self.inner_gap > gap {
                let index = self.inner.partition_point(|inner| *inner <= from);
                let mut reached = from;
                for inner in &self.inner[index..] {
                    if inner - reached > gap {
                        return units[unit] + reached;
                    }
                    reached = *inner;
                }
            }
            match units.get(unit + 1) {
                Some(next) if next + first - units[unit] - last <= gap => (unit, from) = (unit + 1, *first),
                Some(_) | None => return units[unit] + last,
            }
        }
    }

    /// From the time `second` of a day back, the first one after a gap of more than `gap`.
    pub fn run_start(&self, units: &[i64], second: i64, gap: i64) -> i64 {
        let (Some(first), Some(last)) = (self.inner.first(), self.inner.last()) else { return second };
        let Some(mut unit) = units.partition_point(|unit| *unit <= second).checked_sub(1) else { return second };
        let mut from = second - units[unit];
        loop {
            if self.inner_gap > gap {
                let index = self.inner.partition_point(|inner| *inner < from);
                let mut reached = from;
                for inner in self.inner[..index].iter().rev() {
                    if reached - inner > gap {
                        return units[unit] + reached;
                    }
                    reached = *inner;
                }
            }
            match unit.checked_sub(1).map(|before| (before, units[before])) {
                Some((before, start)) if units[unit] + first - start - last <= gap => (unit, from) = (before, *last),
                Some(_) | None => return units[unit] + first,
            }
        }
    }
}

fn inner_gap(inner: &[i64]) -> i64 {
    inner.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

/// Indices that positions (from 1, or from the end when negative) pick of so many, in order.
pub fn picked(positions: &[i64], count: i64) -> Vec<i64> {
    let index = |position: &i64| if *position > 0 { position - 1 } else { count + position };
    let mut picked: Vec<i64> = positions.iter().map(index).filter(|index| (0..count).contains(index)).collect();
    picked.sort_unstable();
    picked.dedup();
    picked
}
