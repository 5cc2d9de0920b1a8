//! A percentage as an exact number: what is compared is never rounded, and what is shown is never rounded up.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

/// In millionths of a percent, from 0 to 100 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentage {
    millionths: u32,
}

const PERCENT: u32 = 1_000_000;

impl Percentage {
    /// All of them.
    pub const ALL: Self = Self { millionths: 100 * PERCENT };

    /// Whether `part` of `whole` is at least this much. Of nothing, everything is.
    #[must_use]
    pub fn reached(self, part: u64, whole: u32) -> bool {
        u128::from(part) * u128::from(Self::ALL.millionths) >= u128::from(whole) * u128::from(self.millionths)
    }

    /// How many of `whole` are at least this much.
    #[must_use]
    pub fn of(self, whole: u32) -> u32 {
        let needed = (u64::from(whole) * u64::from(self.millionths)).div_ceil(u64::from(Self::ALL.millionths));
        // At most `whole`, since no percentage exceeds 100.
        u32::try_from(needed).unwrap_or(whole)
    }

    /// A decimal fraction as JSON writes it: an optional fraction of up to six digits.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 6 {
            return None;
        }
        let fraction: u32 = format!("{fraction:0<6}").parse().ok()?;
        let millionths = whole.parse::<u32>().ok()?.checked_mul(PERCENT)?.checked_add(fraction)?;
        (millionths <= Self::ALL.millionths).then_some(Self { millionths })
    }
}

impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.millionths / PERCENT, format!("{:06}", self.millionths % PERCENT));
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{whole} %"),
            fraction => write!(f, "{whole}.{fraction} %"),
        }
    }
}

/// `99.5 %`, with one decimal, cut off: 1999 of 2000 is 99.9 %, and only all of them are 100 %.
#[must_use]
pub fn share_text(part: u64, whole: u32) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    match tenths % 10 {
        0 => format!("{} %", tenths / 10),
        tenth => format!("{}.{tenth} %", tenths / 10),
    }
}

impl<'de> Deserialize<'de> for Percentage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Percentage;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a percentage from 0 to 100 with at most six decimals")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Percentage, E> {
                Percentage::parse(&value.to_string())
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(value), &self))
            }
            // The shortest text of a float is what its author wrote.
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Percentage, E> {
                Percentage::parse(&value.to_string())
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Float(value), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Percentage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percentage".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "number", "minimum": 0, "maximum": 100})
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn parse(json: &str) -> Option<Percentage> {
        serde_json::from_str(json).ok()
    }

    #[test]
    fn from_json_and_to_text() {
        for (json, text) in [
            ("0", Some("0 %")),
            ("100", Some("100 %")),
            ("100.0", Some("100 %")),
            ("66.67", Some("66.67 %")),
            ("0.1", Some("0.1 %")),
            ("33.333333", Some("33.333333 %")),
            ("33.3333333", None),
            ("101", None),
            ("100.000001", None),
            ("-1", None),
            ("1e300", None),
            ("\"50\"", None),
            ("null", None),
        ] {
            assert_eq!(parse(json).map(|percentage| percentage.to_string()).as_deref(), text, "{json}");
        }
    }

    #[test]
    fn shares_are_never_rounded_up() {
        for (part, whole, text) in [
            (199, 200, "99.5 %"),
            (1999, 2000, "99.9 %"),
            (4_294_967_294, u32::MAX, "99.9 %"),
            (200, 200, "100 %"),
            (1, 3, "33.3 %"),
            (2, 3, "66.6 %"),
            (0, 7, "0 %"),
        ] {
            assert_eq!(share_text(part, whole), text);
        }
    }

    #[test]
    fn compared_exactly() {
        let reached = |percentage: &str, part, whole| parse(percentage).expect("valid").reached(part, whole);
        assert!(!reached("100", 199, 200) && reached("100", 200, 200));
        assert!(reached("33", 1, 3) && !reached("33.333334", 1, 3) && reached("33.333333", 1, 3));
        assert!(!reached("66.67", 2, 3) && reached("66.66", 2, 3));
        assert!(reached("29", 29, 100) && !reached("29", 28, 100));
        assert!(reached("0", 0, 5) && reached("100", 0, 0));
    }

    proptest! {
        /// The number needed reaches the percentage and one fewer does not.
        #[test]
        fn the_number_needed_is_the_least_that_reaches(millionths in 0..=100 * PERCENT, whole in any::<u32>()) {
            let percentage = Percentage { millionths };
            let needed = percentage.of(whole);
            prop_assert!(needed <= whole);
            prop_assert!(percentage.reached(needed.into(), whole));
            prop_assert!(needed == 0 || !percentage.reached(u64::from(needed) - 1, whole));
        }

        /// What is shown as 100 % is all of them.
        #[test]
        fn only_all_are_a_hundred(whole in 1_u32.., draw in any::<u32>()) {
            let part = draw % whole;
            prop_assert!(share_text(part.into(), whole) != "100 %");
            prop_assert_eq!(share_text(whole.into(), whole), "100 %");
        }

        #[test]
        fn text_reads_back(millionths in 0..=100 * PERCENT) {
            let percentage = Percentage { millionths };
            prop_assert_eq!(Percentage::parse(percentage.to_string().trim_end_matches(" %")), Some(percentage));
            // As a JSON number it goes through a float, and comes out the same.
            prop_assert_eq!(parse(percentage.to_string().trim_end_matches(" %")), Some(percentage));
        }
    }
}
