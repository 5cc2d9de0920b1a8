//! The configuration of `retry`.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::{ConfigError, JobStatus};

/// How often a failed job is tried again, and how long to wait before each attempt.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Attempts after the first one.
    pub max_retries: u32,
    /// Wait before the first of them, seconds.
    #[serde(default)]
    pub backoff_seconds: u32,
    /// Whether the wait stays the same or doubles each time.
    #[serde(default)]
    pub backoff_strategy: Strategy,
    /// The wait never exceeds this, seconds; nor does it ever exceed 24 hours.
    #[serde(default)]
    pub max_backoff_seconds: Option<u32>,
    /// Share of the wait, 0 to 1, by which it is spread, so that many failed jobs do not come back at once.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub jitter: f64,
    /// Which ends are tried again. A cancelled job never is.
    #[serde(default = "default_statuses")]
    pub retry_on_statuses: Vec<Status>,
}

/// How the wait grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// `backoffSeconds` each time, as in Ctrlplane.
    #[default]
    Linear,
    /// `backoffSeconds`, doubled for each retry after the first.
    Exponential,
}

/// An end that can be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ended without success.
    #[serde(alias = "failure")]
    Failed,
    /// The agent is unfit or its configuration wrong.
    #[serde(alias = "invalidJobAgent")]
    InvalidJobAgent,
    /// What the agent talks to is unfit.
    #[serde(alias = "invalidIntegration")]
    InvalidIntegration,
    /// The outside run vanished.
    #[serde(alias = "externalRunNotFound")]
    ExternalRunNotFound,
}

fn default_statuses() -> Vec<Status> {
    vec![Status::Failed, Status::InvalidJobAgent, Status::InvalidIntegration]
}

impl Config {
    /// Checks what the schema cannot.
    ///
    /// # Errors
    /// A jitter that is no share, a cap below the first wait, no status at all.
    pub fn validate(&self) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        let mut error = |path: &str, message: String| errors.push(ConfigError { path: path.to_owned(), message });
        if !(0.0..=1.0).contains(&self.jitter) {
            error("/jitter", format!("{} is no share (expected 0 to 1)", self.jitter));
        }
        if let Some(max) = self.max_backoff_seconds
            && max < self.backoff_seconds
        {
            error("/maxBackoffSeconds", format!("{max} is less than backoffSeconds ({})", self.backoff_seconds));
        }
        if self.retry_on_statuses.is_empty() {
            error("/retryOnStatuses", "is empty, so nothing would ever be tried again".to_owned());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Whether an end is tried again.
    #[must_use]
    pub fn retries(&self, status: JobStatus) -> bool {
        let status = match status {
            JobStatus::Failed => Status::Failed,
            JobStatus::InvalidJobAgent => Status::InvalidJobAgent,
            JobStatus::InvalidIntegration => Status::InvalidIntegration,
            JobStatus::ExternalRunNotFound => Status::ExternalRunNotFound,
            JobStatus::Pending
            | JobStatus::Queued
            | JobStatus::Triggered
            | JobStatus::InProgress
            | JobStatus::ActionRequired
            | JobStatus::Completed
            | JobStatus::Cancelled
            | JobStatus::Skipped => return false,
        };
        self.retry_on_statuses.contains(&status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_configurations_say_where() {
        let errors = |json: &str| {
            let config: Config = serde_json::from_str(json).expect("parses");
            config.validate().expect_err("wrong on purpose").remove(0).path
        };
        assert_eq!(errors(r#"{"maxRetries": 1, "jitter": 1.5}"#), "/jitter");
        assert_eq!(errors(r#"{"maxRetries": 1, "backoffSeconds": 60, "maxBackoffSeconds": 30}"#), "/maxBackoffSeconds");
        assert_eq!(errors(r#"{"maxRetries": 1, "retryOnStatuses": []}"#), "/retryOnStatuses");
        for refused in [
            r#"{}"#,
            r#"{"maxRetries": -1}"#,
            r#"{"maxRetries": 1, "backoff": 1}"#,
            r#"{"maxRetries": 1, "retryOnStatuses": ["cancelled"]}"#,
            r#"{"maxRetries": 1, "backoffStrategy": "quadratic"}"#,
        ] {
            assert!(serde_json::from_str::<Config>(refused).is_err(), "{refused}");
        }
    }
}
