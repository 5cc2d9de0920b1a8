//! Instants and spans in whole milliseconds. Nothing here reads a clock.

use std::{fmt, str::FromStr};

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// Text that is not an RFC 3339 instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an instant (expected RFC 3339, such as 2026-03-02T08:00:00Z)")]
pub struct ParseTimestampError(pub String);

impl Timestamp {
    /// From milliseconds since the epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This instant moved by whole seconds; stops at the ends of the range.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// This instant moved by milliseconds; stops at the ends of the range.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this instant; negative when it is later.
    #[must_use]
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with exactly three decimals, so that text sorts as time does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(f, "{instant:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        text.parse::<jiff::Timestamp>()
            .map(|instant| Self(instant.as_millisecond()))
            .map_err(|_| ParseTimestampError(text.to_owned()))
    }
}

/// The earlier of two instants of which either may be missing.
#[must_use]
pub fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["2026-03-02T08:00:00.000Z", "1969-12-31T23:59:59.999Z"] {
            assert_eq!(text.parse::<Timestamp>().expect("valid").to_string(), text);
        }
        let offset: Timestamp = "2026-03-02T09:00:00+01:00".parse().expect("valid");
        assert_eq!(offset.to_string(), "2026-03-02T08:00:00.000Z");
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn the_ends_of_the_range_hold() {
        let last = Timestamp::from_millis(i64::MAX);
        assert_eq!(last.plus_seconds(1), last);
        assert_eq!(last.to_string(), format!("{}ms", i64::MAX));
    }
}
