//! The configuration of `versionCooldown`.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::ConfigError;

/// How long a target rests between versions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Seconds from the creation of the version that a target runs (or that is on its way there) until the next one
    /// may follow.
    #[schemars(range(min = 1))]
    pub interval_seconds: u32,
}

impl Config {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// An interval of nothing.
    pub fn validate(&self) -> Result<(), Vec<ConfigError>> {
        if self.interval_seconds == 0 {
            let message = "is 0, which holds nothing back (expected at least 1)".to_owned();
            return Err(vec![ConfigError { path: "/intervalSeconds".to_owned(), message }]);
        }
        Ok(())
    }

    /// In milliseconds.
    #[must_use]
    pub fn interval_millis(&self) -> i64 {
        i64::from(self.interval_seconds) * 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        let parse = |json: &str| serde_json::from_str::<Config>(json).map_err(|error| error.to_string());
        for json in ["{}", r#"{"intervalSeconds": -1}"#, r#"{"intervalSeconds": "1h"}"#, r#"{"intervalSeconds": 1.5}"#]
        {
            assert!(parse(json).is_err(), "{json}");
        }
        let unknown = parse(r#"{"intervalSeconds": 1, "interval": 1}"#).expect_err("unknown");
        assert!(unknown.contains("unknown field `interval`"), "{unknown}");
        let zero = parse(r#"{"intervalSeconds": 0}"#).expect("parses").validate().expect_err("nothing");
        assert_eq!(zero[0].path, "/intervalSeconds");
        assert_eq!(parse(r#"{"intervalSeconds": 1}"#).expect("parses").validate(), Ok(()));
    }
}
