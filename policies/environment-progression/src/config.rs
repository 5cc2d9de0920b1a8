//! The configuration of `environmentProgression`.

use condition::Cel;
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::{ConfigError, JobStatus};

use crate::percentage::Percentage;

/// Where a version must have done well, and how well, before it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// A condition in CEL over `environment`: in which other environments. One that satisfies all else is enough.
    #[schemars(length(min = 1))]
    pub depends_on_environment_selector: String,
    /// On which share of its targets the version must have succeeded, in percent.
    #[serde(default = "all")]
    pub minimum_success_percentage: Percentage,
    /// How long the most recent success must be past, minutes.
    #[serde(default)]
    pub minimum_soak_time_minutes: u32,
    /// How long the most recent success may be past, hours. Without it: any time.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub maximum_age_hours: Option<u32>,
    /// Which statuses of a job are a success.
    #[serde(default = "completed")]
    #[schemars(length(min = 1))]
    pub success_statuses: Vec<Status>,
    /// Count only jobs whose verification passed, or that have none.
    #[serde(default)]
    pub require_verification_passed: bool,
}

/// A job's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Made, not queued.
    Pending,
    /// Waits for an agent.
    Queued,
    /// Handed to an outside system.
    Triggered,
    /// An agent works on it.
    InProgress,
    /// Waits for a person.
    ActionRequired,
    /// Ended with success.
    Completed,
    /// Ended without success.
    Failed,
    /// Ended because somebody said so.
    Cancelled,
    /// Never started.
    Skipped,
    /// The agent is unfit or its configuration wrong.
    InvalidJobAgent,
    /// What the agent talks to is unfit.
    InvalidIntegration,
    /// The outside run vanished.
    ExternalRunNotFound,
}

impl From<JobStatus> for Status {
    fn from(status: JobStatus) -> Self {
        match status {
            JobStatus::Pending => Self::Pending,
            JobStatus::Queued => Self::Queued,
            JobStatus::Triggered => Self::Triggered,
            JobStatus::InProgress => Self::InProgress,
            JobStatus::ActionRequired => Self::ActionRequired,
            JobStatus::Completed => Self::Completed,
            JobStatus::Failed => Self::Failed,
            JobStatus::Cancelled => Self::Cancelled,
            JobStatus::Skipped => Self::Skipped,
            JobStatus::InvalidJobAgent => Self::InvalidJobAgent,
            JobStatus::InvalidIntegration => Self::InvalidIntegration,
            JobStatus::ExternalRunNotFound => Self::ExternalRunNotFound,
        }
    }
}

const fn all() -> Percentage {
    Percentage::ALL
}

fn completed() -> Vec<Status> {
    vec![Status::Completed]
}

impl Config {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// A selector that is no condition, no status at all, and times between which nothing can ever be.
    pub fn validate(&self, cel: &Cel) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        errors.extend(cel.problem("/dependsOnEnvironmentSelector", &self.depends_on_environment_selector));
        let mut error = |path: String, message: String| errors.push(ConfigError { path, message });
        if let Some(hours) = self.maximum_age_hours {
            let age_minutes = u64::from(hours) * 60;
            let soak_minutes = self.minimum_soak_time_minutes;
            if hours == 0 {
                error("/maximumAgeHours".to_owned(), "is 0 (expected at least 1, or none for any age)".to_owned());
            } else if age_minutes < u64::from(soak_minutes) {
                let message = format!("{hours} h are over before the soak time is ({soak_minutes} min)");
                error("/maximumAgeHours".to_owned(), message);
            }
        }
        if self.success_statuses.is_empty() {
            error("/successStatuses".to_owned(), "is empty, so nothing would ever be a success".to_owned());
        }
        for (index, status) in self.success_statuses.iter().enumerate() {
            if self.success_statuses[..index].contains(status) {
                error(format!("/successStatuses/{index}"), "is listed twice".to_owned());
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// In milliseconds.
    #[must_use]
    pub fn soak_millis(&self) -> i64 {
        i64::from(self.minimum_soak_time_minutes) * 60_000
    }

    /// In milliseconds.
    #[must_use]
    pub fn age_millis(&self) -> Option<i64> {
        self.maximum_age_hours.map(|hours| i64::from(hours) * 3_600_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: &str) -> Result<Config, String> {
        let json = format!("{{\"dependsOnEnvironmentSelector\": \"environment.name == 'staging'\"{rest}}}");
        serde_json::from_str(&json).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults() {
        let config = parse("").expect("valid");
        assert_eq!(config.minimum_success_percentage, Percentage::ALL);
        assert_eq!((config.soak_millis(), config.age_millis()), (0, None));
        assert_eq!(config.success_statuses, [Status::Completed]);
        assert!(!config.require_verification_passed);
    }

    #[test]
    fn what_is_refused() {
        for rest in [
            r#", "minimumSuccessPercentage": 101"#,
            r#", "minimumSuccessPercentage": -1"#,
            r#", "minimumSoakTimeMinutes": -1"#,
            r#", "maximumAgeHours": 0.5"#,
            r#", "successStatuses": ["done"]"#,
            r#", "requireVerification": true"#,
        ] {
            assert!(parse(rest).is_err(), "{rest}");
        }
        let cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
        let path = |config: Config| config.validate(&cel).expect_err("wrong on purpose").remove(0).path;
        let parsed = |rest: &str| parse(rest).expect("parses");
        assert_eq!(path(parsed(r#", "maximumAgeHours": 0"#)), "/maximumAgeHours");
        assert_eq!(path(parsed(r#", "maximumAgeHours": 1, "minimumSoakTimeMinutes": 61"#)), "/maximumAgeHours");
        assert_eq!(path(parsed(r#", "successStatuses": []"#)), "/successStatuses");
        assert_eq!(path(parsed(r#", "successStatuses": ["failed", "failed"]"#)), "/successStatuses/1");
        let broken = Config { depends_on_environment_selector: "environment.name =".into(), ..parsed("") };
        assert_eq!(path(broken), "/dependsOnEnvironmentSelector");
        assert_eq!(parsed(r#", "maximumAgeHours": 1, "minimumSoakTimeMinutes": 60"#).validate(&cel), Ok(()));
    }
}
