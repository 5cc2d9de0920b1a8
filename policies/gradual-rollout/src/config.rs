//! The configuration of `gradualRollout`.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::ConfigError;

/// How a version spreads over the targets of a deployment in an environment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// What the interval is: between two starts, or of the whole rollout.
    #[serde(default)]
    pub rollout_type: RolloutType,
    /// Seconds between two starts (linear), or from the first start to the end of the rollout (linear-normalized).
    pub time_scale_interval: u32,
    /// Hold the next target until the job of the last one has succeeded and is verified.
    #[serde(default)]
    pub wait_for_verification: bool,
}

/// What the interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RolloutType {
    /// Between one start and the next.
    #[default]
    Linear,
    /// Of the whole rollout, however many targets it has.
    LinearNormalized,
}

impl Config {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// An interval of nothing, unless verification alone is to space the starts.
    pub fn validate(&self) -> Result<(), Vec<ConfigError>> {
        if self.time_scale_interval == 0 && !self.wait_for_verification {
            let message = "is 0, so all targets would start at once (expected at least 1, or waitForVerification)";
            let path = "/timeScaleInterval".to_owned();
            return Err(vec![ConfigError { path, message: message.to_owned() }]);
        }
        Ok(())
    }

    /// Seconds from the start of the rollout to the turn of the target at `index` of `total`, both exact: no turn is
    /// computed from another. `total` is not 0.
    #[must_use]
    pub fn turn_seconds(&self, index: u32, total: u32) -> u64 {
        let whole = u64::from(index) * u64::from(self.time_scale_interval);
        match self.rollout_type {
            RolloutType::Linear => whole,
            RolloutType::LinearNormalized => whole / u64::from(total),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn parse(json: &str) -> Result<Config, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn turns(rollout_type: RolloutType, seconds: u32, total: u32) -> Vec<u64> {
        let config = Config { rollout_type, time_scale_interval: seconds, wait_for_verification: false };
        (0..total).map(|index| config.turn_seconds(index, total)).collect()
    }

    #[test]
    fn turns_are_exact() {
        use RolloutType::{Linear, LinearNormalized};
        assert_eq!(turns(LinearNormalized, 600, 5), [0, 120, 240, 360, 480]);
        assert_eq!(turns(LinearNormalized, 600, 7), [0, 85, 171, 257, 342, 428, 514]);
        assert_eq!(turns(LinearNormalized, 600, 1), [0]);
        assert_eq!(turns(LinearNormalized, 600, 0), [0_u64; 0]);
        assert_eq!(turns(LinearNormalized, 3, 5), [0, 0, 1, 1, 2]);
        assert_eq!(turns(Linear, 300, 4), [0, 300, 600, 900]);
    }

    #[test]
    fn what_is_refused() {
        for json in [
            "{}",
            r#"{"timeScaleInterval": -1}"#,
            r#"{"timeScaleInterval": 60, "rolloutType": "exponential"}"#,
            r#"{"timeScaleInterval": 60, "waitForVerification": "yes"}"#,
        ] {
            assert!(parse(json).is_err(), "{json}");
        }
        let unknown = parse(r#"{"timeScaleInterval": 60, "interval": 1}"#).expect_err("unknown");
        assert!(unknown.contains("unknown field `interval`"), "{unknown}");
        let zero = parse(r#"{"timeScaleInterval": 0}"#).expect("parses");
        assert_eq!(zero.validate().expect_err("all at once")[0].path, "/timeScaleInterval");
        let one_by_one = parse(r#"{"timeScaleInterval": 0, "waitForVerification": true}"#).expect("parses");
        assert_eq!(one_by_one.validate(), Ok(()));
        let normalized = parse(r#"{"timeScaleInterval": 60, "rolloutType": "linear-normalized"}"#).expect("parses");
        assert_eq!(normalized.rollout_type, RolloutType::LinearNormalized);
    }

    proptest! {
        /// Floor of the exact quotient: no more than the share, and less than a second below it; in order; within
        /// the interval.
        #[test]
        fn a_normalized_turn_is_the_floor_of_its_share(
            time_scale_interval in any::<u32>(), total in 1_u32.., draw in any::<u32>(),
        ) {
            let index = draw % total;
            let rollout_type = RolloutType::LinearNormalized;
            let config = Config { rollout_type, time_scale_interval, wait_for_verification: false };
            let turn = config.turn_seconds(index, total);
            let share = u128::from(index) * u128::from(time_scale_interval);
            prop_assert!(u128::from(turn) * u128::from(total) <= share);
            prop_assert!((u128::from(turn) + 1) * u128::from(total) > share);
            prop_assert!(turn <= u64::from(time_scale_interval));
            prop_assert_eq!(config.turn_seconds(0, total), 0);
            prop_assert!(index + 1 == total || turn <= config.turn_seconds(index + 1, total));
        }
    }
}
