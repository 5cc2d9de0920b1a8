//! Points in time as people write them in a configuration.

use crate::{
    recurrence::calendar::{DAY, day_number, month_length},
    zone::Zone,
};

/// What would be right.
pub const EXPECTED: &str =
    "a local time such as `2026-01-05T09:00:00`, or one with an offset such as `2026-01-05T09:00:00Z`";

/// A local time, or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// In the zone of the configuration.
    Local(i64),
    /// Seconds since the epoch.
    Instant(i64),
}

impl Moment {
    /// Reads `2026-01-05`, `2026-01-05T09:00`, with seconds, and with `Z` or `+02:00`. A bare date is its midnight.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if !text.is_ascii() {
            return None;
        }
        let (date, time) = text.split_at_checked(10)?;
        let [year, month, day] = fields(date, '-', [4, 2, 2])?;
        if year == 0 || !(1..=12).contains(&month) || !(1..=month_length(year, month)).contains(&day) {
            return None;
        }
        let midnight = day_number(year, month, day) * DAY;
        if time.is_empty() {
            return Some(Self::Local(midnight));
        }
        let time = time.strip_prefix(['T', 't', ' '])?;
        let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
        let (clock, zone) = time.split_at(zone_at);
        let [hour, minute, second] = match clock.len() {
            5 => fields(clock, ':', [2, 2]).map(|[hour, minute]| [hour, minute, 0])?,
            _ => fields(whole_seconds(clock)?, ':', [2, 2, 2])?,
        };
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let local = midnight + hour * 3600 + minute * 60 + second;
        match zone {
            "" => Some(Self::Local(local)),
            "Z" | "z" => Some(Self::Instant(local)),
            offset => {
                let [hours, minutes] = fields(&offset[1..], ':', [2, 2])?;
                let seconds = hours * 3600 + minutes * 60;
                let fits = hours <= 23 && minutes <= 59;
                fits.then_some(Self::Instant(if offset.starts_with('-') { local + seconds } else { local - seconds }))
            }
        }
    }

    /// What clocks in the zone show.
    #[must_use]
    pub fn local(self, zone: &Zone) -> i64 {
        match self {
            Self::Local(local) => local,
            Self::Instant(at) => at + zone.segment(at).offset,
        }
    }

    /// When it is.
    #[must_use]
    pub fn instant(self, zone: &Zone) -> i64 {
        match self {
            Self::Local(local) => zone.instant(local),
            Self::Instant(at) => at,
        }
    }
}

/// A fraction of nothing is fine: some write `.000`.
fn whole_seconds(clock: &str) -> Option<&str> {
    match clock.split_once('.') {
        None => Some(clock),
        Some((whole, fraction)) => (!fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0')).then_some(whole),
    }
}

/// Numbers of so many digits each.
fn fields<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut fields = [0; N];
    for (field, digits) in fields.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *field = Some(part).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
    }
    parts.next().is_none().then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        for (text, expected) in [
            ("1970-01-02", Some(Moment::Local(86_400))),
            ("1970-01-01T01:00", Some(Moment::Local(3600))),
            ("1970-01-01T01:00:01", Some(Moment::Local(3601))),
            ("1970-01-01T01:00:01.000Z", Some(Moment::Instant(3601))),
            ("1970-01-01t01:00:00+01:30", Some(Moment::Instant(-1800))),
            ("1970-01-01 01:00:00-01:00", Some(Moment::Instant(7200))),
            ("1970-02-29", None),
            ("1970-13-01", None),
            ("1970-1-1", None),
            ("0000-01-01", None),
            ("1970-01-01T", None),
            ("1970-01-01T24:00:00", None),
            ("1970-01-01T01:00:00.5Z", None),
            ("1970-01-01T01:00:00+0100", None),
            ("1970-01-01T01:00:00+25:00", None),
            ("1970-01-01T01:00:00Zulu", None),
            ("19700101T010000", None),
            ("1970-01-0é", None),
            ("", None),
        ] {
            assert_eq!(Moment::parse(text), expected, "{text}");
        }
    }
}
