//! How long an occurrence lasts: days and more by the local calendar, hours and less exactly.

use crate::{
    recurrence::calendar::{DAY, date, day_number, month_length},
    schedule::Start,
    zone::Zone,
};

/// A length of more than nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Calendar months.
    pub months: i64,
    /// Local days.
    pub days: i64,
    /// Exact seconds after those.
    pub seconds: i64,
}

/// An occurrence that lasts longer is an error of the one who wrote it.
const YEARS_MAX: i64 = 100;

impl Length {
    /// So many exact minutes.
    #[must_use]
    pub fn minutes(minutes: u32) -> Option<Self> {
        Self { months: 0, days: 0, seconds: i64::from(minutes) * 60 }.checked()
    }

    /// Reads ISO 8601: `P1D`, `P1W`, `P1M`, `P1DT12H`, `PT90M`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let iso = text.strip_prefix('P')?;
        let (date, time) = match iso.split_once('T') {
            Some((_, "")) => return None,
            Some(split) => split,
            None => (iso, ""),
        };
        let [years, months, weeks, days] = counts(date, ['Y', 'M', 'W', 'D'])?;
        let [hours, minutes, seconds] = counts(time, ['H', 'M', 'S'])?;
        let months = 12 * years + months;
        Self { months, days: 7 * weeks + days, seconds: 3600 * hours + 60 * minutes + seconds }.checked()
    }

    /// Whether it is the same number of seconds every time.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.months == 0 && self.days == 0
    }

    /// The least that it lasts by the local clock.
    #[must_use]
    pub const fn least(self) -> i64 {
        (28 * self.months + self.days) * DAY + self.seconds
    }

    /// When an occurrence ends.
    #[must_use]
    pub fn end(self, zone: &Zone, start: Start) -> i64 {
        if self.is_exact() {
            return start.at + self.seconds;
        }
        let end = |local: i64| zone.instant(self.local_end(local)) + self.seconds;
        let by_start = end(start.local);
        if by_start > start.at {
            return by_start;
        }
        // A gap of a day or more moved the start past its end: count from where it moved to.
        let moved = end(start.at + zone.segment(start.at).offset);
        if moved > start.at { moved } else { start.at + self.least() }
    }

    /// Where the local calendar days end that begin at a local time.
    #[must_use]
    pub fn local_end(self, local: i64) -> i64 {
        months_later(local, self.months) + self.days * DAY
    }

    /// Where calendar days begin that end at a local time; the first such where a short month has several.
    #[must_use]
    pub fn local_start(self, end: i64) -> i64 {
        months_later(end - self.days * DAY, -self.months)
    }

    fn checked(self) -> Option<Self> {
        let days_max = YEARS_MAX * 366;
        let fits = self.months <= YEARS_MAX * 12 && self.days <= days_max && self.seconds <= days_max * DAY;
        Some(self).filter(|length| length.least() > 0 && fits)
    }
}

/// The same day of another month, or its last.
fn months_later(local: i64, months: i64) -> i64 {
    let (year, month, day) = date(local.div_euclid(DAY));
    let months = 12 * year + month - 1 + months;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    day_number(year, month, day.min(month_length(year, month))) * DAY + local.rem_euclid(DAY)
}

/// Whole numbers with units, each unit at most once and in the given order.
fn counts<const N: usize>(mut text: &str, units: [char; N]) -> Option<[i64; N]> {
    let mut counts = [0; N];
    let mut from = 0;
    while !text.is_empty() {
        let end = text.find(|c: char| !c.is_ascii_digit()).filter(|end| (1..=9).contains(end))?;
        let unit = text[end..].chars().next()?;
        let index = from + units[from..].iter().position(|known| *known == unit)?;
        counts[index] = text[..end].parse().ok()?;
        from = index + 1;
        text = &text[end + unit.len_utf8()..];
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        for (text, expected) in [
            ("PT8H", Some((0, 0, 28_800))),
            ("PT90M", Some((0, 0, 5400))),
            ("P1D", Some((0, 1, 0))),
            ("P1W", Some((0, 7, 0))),
            ("P1Y2M3W4DT5H6M7S", Some((14, 25, 18_367))),
            ("PT24H", Some((0, 0, 86_400))),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("P0D", None),
            ("PT0S", None),
            ("-P1D", None),
            ("P-1D", None),
            ("P1H", None),
            ("PT1D", None),
            ("P1D1W", None),
            ("PT0.5H", None),
            ("p1d", None),
            ("P101Y", None),
            ("P9999999999D", None),
            ("P1é", None),
            ("1D", None),
        ] {
            let found = Length::parse(text).map(|length| (length.months, length.days, length.seconds));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn months_end_with_the_month() {
        let month = Length::parse("P1M").expect("parses");
        let local = |year, month, day| day_number(year, month, day) * DAY + 3600;
        assert_eq!(month.local_end(local(2026, 1, 31)), local(2026, 2, 28));
        assert_eq!(month.local_end(local(2027, 12, 5)), local(2028, 1, 5));
        let year = Length::parse("P1Y").expect("parses");
        assert_eq!(year.local_end(local(2028, 2, 29)), local(2029, 2, 28));
    }
}
