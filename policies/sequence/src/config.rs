//! The configuration of `releaseSequencing`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use tidegate_policy::ConfigError;

/// How releases that are allowed to go share their turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Config {
    /// Whether versions go one after another or side by side.
    pub mode: Mode,
    /// What shares one limit. The host groups by it before it asks.
    pub scope: GroupScope,
    /// Jobs at once in the group: a number, or a percentage of its targets such as `20%` (rounded down, at least 1).
    /// Without it: one when `mode` is sequential, no limit when it is parallel.
    pub max_concurrent: Option<MaxConcurrent>,
    /// What becomes of an older version's job when a newer version may go to the same target.
    pub when_superseded: WhenSuperseded,
    /// Which of the waiting versions goes first.
    pub order: Order,
}

/// Whether versions go one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A target has one job at a time.
    #[default]
    Sequential,
    /// Several versions may be on their way to one target.
    Parallel,
}

/// What shares one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupScope {
    /// Each target by itself.
    #[default]
    Target,
    /// A deployment in an environment.
    Environment,
    /// A deployment.
    Deployment,
    /// A system.
    System,
}

/// What becomes of an older version's job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenSuperseded {
    /// It is cancelled if nobody works on it yet.
    #[default]
    CancelQueued,
    /// It is cancelled.
    CancelRunning,
    /// It stays.
    Keep,
}

/// Which of the waiting versions goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The newest.
    #[default]
    Newest,
    /// The oldest: all of them, in the order they came.
    Queue,
}

/// How many jobs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxConcurrent {
    /// So many; at least 1.
    Count(u32),
    /// Thousandths of a percent of the group's targets, more than 0.
    Percent(u32),
}

/// 100 %, in thousandths of a percent.
const WHOLE: u32 = 100_000;

impl MaxConcurrent {
    /// The limit in a group of that many targets. Whole numbers throughout: 29 % of 100 is 29.
    #[must_use]
    pub fn of(self, targets: u32) -> u32 {
        match self {
            Self::Count(count) => count.max(1),
            Self::Percent(thousandths) => {
                let share = u64::from(targets) * u64::from(thousandths) / u64::from(WHOLE);
                u32::try_from(share).unwrap_or(u32::MAX).max(1)
            }
        }
    }

    /// `20%`, `0.5%`, `33.333%`.
    fn parse(text: &str) -> Option<Self> {
        let number = text.strip_suffix('%')?.trim_end();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 3 {
            return None;
        }
        let fraction: u32 = format!("{fraction:0<3}").parse().ok()?;
        let thousandths = whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(fraction)?;
        (1..=WHOLE).contains(&thousandths).then_some(Self::Percent(thousandths))
    }
}

impl<'de> Deserialize<'de> for MaxConcurrent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = MaxConcurrent;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number of at least 1, or a percentage such as `20%`, more than 0% and at most 100%")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<MaxConcurrent, E> {
                let valid = u32::try_from(count).ok().filter(|count| *count > 0);
                valid.map(MaxConcurrent::Count).ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(count), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<MaxConcurrent, E> {
                MaxConcurrent::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for MaxConcurrent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MaxConcurrent".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": u32::MAX},
                {"type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,3})? *%$"}
            ]
        })
    }
}

impl Config {
    /// Jobs at once in a group of that many targets; `None` for as many as there are.
    #[must_use]
    pub fn limit(&self, targets: u32) -> Option<u32> {
        match (self.max_concurrent, self.mode) {
            (Some(max), _) => Some(max.of(targets)),
            (None, Mode::Sequential) => Some(1),
            (None, Mode::Parallel) => None,
        }
    }

    /// Checks what the schema cannot.
    ///
    /// # Errors
    /// Cancelling what is superseded, where nothing ever is.
    pub fn validate(&self) -> Result<(), Vec<ConfigError>> {
        let kept = self.order == Order::Queue || self.mode == Mode::Parallel;
        if kept && self.when_superseded == WhenSuperseded::CancelRunning {
            let message = "cancel-running has no effect where every version goes (order queue or mode parallel)";
            return Err(vec![ConfigError { path: "/whenSuperseded".to_owned(), message: message.to_owned() }]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    fn parse(json: &str) -> Result<Config, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn limits() {
        for (max, targets, limit) in [
            ("1", 0, 1),
            ("7", 3, 7),
            ("\"20%\"", 10, 2),
            ("\"20%\"", 4, 1),
            ("\"29%\"", 100, 29),
            ("\"33.3%\"", 1000, 333),
            ("\"0.001%\"", 10, 1),
            ("\"100 %\"", 5, 5),
            ("\"50%\"", 0, 1),
        ] {
            let config = parse(&format!("{{\"maxConcurrent\": {max}}}")).expect("valid");
            assert_eq!(config.limit(targets), Some(limit), "{max} of {targets}");
        }
        assert_eq!(parse("{}").expect("valid").limit(9), Some(1));
        assert_eq!(parse(r#"{"mode": "parallel"}"#).expect("valid").limit(9), None);
    }

    #[test]
    fn what_is_refused() {
        for max in ["0", "-1", "1.5", "\"0%\"", "\"101%\"", "\"%\"", "\"20\"", "\"-5%\"", "\"1e2%\"", "\"1.2345%\""] {
            assert!(parse(&format!("{{\"maxConcurrent\": {max}}}")).is_err(), "{max}");
        }
        assert!(parse(r#"{"concurrency": 1}"#).expect_err("unknown").contains("unknown field `concurrency`"));
        let useless = parse(r#"{"order": "queue", "whenSuperseded": "cancel-running"}"#).expect("parses");
        assert_eq!(useless.validate().expect_err("useless")[0].path, "/whenSuperseded");
    }

    proptest! {
        #[test]
        fn a_percentage_is_at_least_one_and_never_more_than_its_share(thousandths in 1_u32..=WHOLE, targets: u32) {
            let limit = MaxConcurrent::Percent(thousandths).of(targets);
            prop_assert!(limit >= 1 && limit <= targets.max(1));
            prop_assert!(limit == 1 || u64::from(limit) * u64::from(WHOLE) <= u64::from(targets) * u64::from(thousandths));
        }
    }
}
