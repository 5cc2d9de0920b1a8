//! Intervals of weeks, days, hours and minutes: they come round every so many days, and on each day of that cycle the
//! same units of time are taken. Knows no months and no years.

use super::calendar::DAY;

/// Which days of a cycle have starts, and in which units of the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// A cycle's length in days.
    days: i64,
    /// A day with which a cycle begins.
    origin: i64,
    /// Day of the cycle and where its units end in `units`, by day; days without units are left out.
    classes: Vec<(i64, usize)>,
    /// Seconds of the day at which units begin.
    units: Vec<i64>,
}

impl Cycle {
    /// Every day is the same.
    pub fn daily(units: Vec<i64>) -> Self {
        let classes = if units.is_empty() { Vec::new() } else { vec![(0, units.len())] };
        Self { days: 1, origin: 0, classes, units }
    }

    /// One day in so many, `of` among them.
    pub fn days(interval: i64, of: i64) -> Self {
        Self { days: interval, origin: of, classes: vec![(0, 1)], units: vec![0] }
    }

    /// One week in so many, that of `of` among them.
    pub fn weeks(interval: i64, of: i64, week_start: i64) -> Self {
        let origin = of - (super::calendar::weekday(of) - week_start).rem_euclid(7);
        let classes = (0..7).map(|day| (day, day as usize + 1)).collect();
        Self { days: 7 * interval, origin, classes, units: vec![0; 7] }
    }

    /// One hour or minute (`unit` seconds long) in so many, that of the local time `of` among them, and of those the
    /// ones in `units`.
    pub fn units(interval: i64, of: i64, unit: i64, units: &[i64]) -> Self {
        let per_day = DAY / unit;
        let of = of.div_euclid(unit);
        let shared = gcd(interval, per_day);
        let days = interval / shared;
        // Unit `x` of day `d` is taken when per_day * d + x = of (modulo interval): for one d modulo `days`.
        let inverse = i128::from(inverse(per_day / shared, days));
        let mut taken: Vec<(i64, i64)> = units
            .iter()
            .filter(|start| (of - *start / unit) % shared == 0)
            .map(|start| {
                let day = i128::from((of - start / unit) / shared) * inverse;
                (day.rem_euclid(i128::from(days)) as i64, *start)
            })
            .collect();
        taken.sort_unstable();
        let mut classes: Vec<(i64, usize)> = Vec::new();
        for (index, (day, _)) in taken.iter().enumerate() {
            match classes.last_mut() {
                Some((last, end)) if last == day => *end = index + 1,
                Some(_) | None => classes.push((*day, index + 1)),
            }
        }
        Self { days, origin: 0, classes, units: taken.into_iter().map(|(_, start)| start).collect() }
    }

    /// The longest time from one start to the next, when each unit has some from `first` to `last` seconds after its
    /// beginning.
    pub fn longest_gap(&self, first: i64, last: i64) -> i64 {
        let mut longest = 0;
        let mut before = None;
        let mut index = 0;
        for (day, end) in &self.classes {
            for unit in &self.units[index..*end] {
                let at = day * DAY + unit;
                longest = before.map_or(longest, |before: i64| longest.max(at - before));
                before = Some(at);
            }
            index = *end;
        }
        let around =
            self.classes.first().zip(before).map(|((day, _), last)| (self.days + day) * DAY + self.units[0] - last);
        around.map_or(i64::MAX, |around| longest.max(around) + first - last)
    }

    /// Whether every day is the same.
    pub const fn is_daily(&self) -> bool {
        self.days == 1
    }

    /// A cycle's length in days.
    pub const fn length(&self) -> i64 {
        self.days
    }

    /// How many units a cycle has.
    pub const fn units_in_all(&self) -> i64 {
        self.units.len() as i64
    }

    /// How many units each of its days has.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.days as usize];
        let mut start = 0;
        for (day, end) in &self.classes {
            counts[*day as usize] = (end - start) as u32;
            start = *end;
        }
        counts
    }

    /// Where in its cycle a day lies.
    pub const fn class(&self, day: i64) -> i64 {
        (day - self.origin).rem_euclid(self.days)
    }

    /// The first day with units from `day` on.
    pub fn next(&self, day: i64) -> Option<i64> {
        let (first, _) = self.classes.first()?;
        let class = self.class(day);
        let found = self.classes.partition_point(|(known, _)| *known < class);
        let ahead = self.classes.get(found).map_or(first + self.days, |(known, _)| *known) - class;
        Some(day + ahead)
    }

    /// The last day with units up to `day`.
    pub fn previous(&self, day: i64) -> Option<i64> {
        let (last, _) = self.classes.last()?;
        let class = self.class(day);
        let found = self.classes.partition_point(|(known, _)| *known <= class);
        let behind = class - found.checked_sub(1).map_or(last - self.days, |index| self.classes[index].0);
        Some(day - behind)
    }

    /// The units of a day, in order.
    pub fn of_day(&self, day: i64) -> &[i64] {
        let class = self.class(day);
        let found = self.classes.partition_point(|(known, _)| *known < class);
        match self.classes.get(found) {
            Some((known, end)) if *known == class => {
                let start = found.checked_sub(1).map_or(0, |before| self.classes[before].1);
                &self.units[start..*end]
            }
            Some(_) | None => &[],
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inverse of `a` modulo `m`, which share no factor.
fn inverse(a: i64, m: i64) -> i64 {
    let (mut old, mut new) = ((a.rem_euclid(m), 1_i64), (m, 0_i64));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old.1.rem_euclid(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units found one by one from the anchor.
    fn check(interval: i64, of: i64, unit: i64) {
        let all: Vec<i64> = (0..DAY / unit).map(|index| index * unit).collect();
        let cycle = Cycle::units(interval, of, unit, &all);
        let expected: Vec<i64> = (0..500).map(|step| (of.div_euclid(unit) + step * interval) * unit).collect();
        let mut found = Vec::new();
        let mut day = of.div_euclid(DAY);
        while found.len() < expected.len() {
            day = cycle.next(day).expect("every unit is taken at times");
            assert_eq!(cycle.previous(day), Some(day));
            found.extend(cycle.of_day(day).iter().map(|start| day * DAY + start).filter(|at| *at >= expected[0]));
            day += 1;
        }
        assert_eq!(found[..expected.len()], expected, "every {interval} units of {unit} s from {of}");
    }

    #[test]
    fn units_are_those_of_the_interval() {
        for interval in [1, 2, 5, 7, 23, 24, 25, 36, 48, 1000] {
            check(interval, -1_234_567, 3600);
            check(interval, 1_784_567_890, 3600);
        }
        for interval in [1, 7, 15, 90, 1440, 1441, 100_000] {
            check(interval, 1_784_567_890, 60);
        }
    }

    #[test]
    fn units_that_the_interval_never_meets() {
        assert_eq!(Cycle::units(2, 0, 3600, &[3600]).next(0), None);
        assert_eq!(Cycle::units(2, 0, 3600, &[3600, 7200]).of_day(5), [7200]);
    }

    #[test]
    fn weeks_and_days() {
        // 1970-01-01 was a Thursday.
        let weeks = Cycle::weeks(2, 0, 6);
        assert_eq!((weeks.previous(0), weeks.next(3), weeks.previous(-5)), (Some(0), Some(10), Some(-12)));
        let days = Cycle::days(3, 1);
        assert_eq!(
            (days.next(2), days.previous(0), days.of_day(4), days.of_day(5)),
            (Some(4), Some(-2), &[0][..], &[][..])
        );
    }
}
