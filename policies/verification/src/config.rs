//! The configuration of `verification`.

use condition::Cel;
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::ConfigError;

use crate::provider::Provider;

/// So many measurements of one metric at most: all of them are judged in every question, which has its time limit.
pub const COUNT_MAX: u32 = 1000;

/// An agent that reports nothing is waited for so long, unless `timeoutSeconds` says otherwise.
pub const JOB_TIMEOUT_SECONDS: u32 = 86_400;

/// What is measured of a job, and when. All metrics must pass.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// What is measured.
    #[schemars(length(min = 1))]
    pub metrics: Vec<Metric>,
    /// What sets it going.
    #[serde(default)]
    pub trigger_on: TriggerOn,
}

/// One thing that is measured.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metric {
    /// Its name, different from the others'.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What measures it: http, prometheus, datadog, sleep, terraform-cloud-run or job, as `type` beside that
    /// provider's own configuration.
    pub provider: Provider,
    /// Seconds from one measurement to the next.
    #[serde(default = "minute")]
    #[schemars(range(min = 1))]
    pub interval_seconds: u32,
    /// How many measurements are taken.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub count: u32,
    /// A condition in CEL over `result`: a measurement passes if it holds (and `failureCondition` does not).
    #[serde(default)]
    pub success_condition: Option<String>,
    /// A condition in CEL over `result`: a measurement fails if it holds. Where it is set, a measurement of which
    /// neither condition holds is inconclusive; else it fails.
    #[serde(default)]
    pub failure_condition: Option<String>,
    /// So many passes in a row end it early, as passed.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub success_threshold: Option<u32>,
    /// More failures than this, in all, end it as failed.
    #[serde(default)]
    pub failure_threshold: u32,
    /// Seconds from the start after which it has failed if it has not passed. Without it there is no such time, but
    /// for the provider `job`, which has a day.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u32>,
}

/// What sets a verification going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TriggerOn {
    /// The job was made.
    JobCreated,
    /// An agent began.
    JobStarted,
    /// It ended with success.
    #[default]
    JobSuccess,
    /// It ended without.
    JobFailure,
}

const fn minute() -> u32 {
    60
}

const fn one() -> u32 {
    1
}

impl Config {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// Nothing to measure, conditions that are none, numbers of nothing, and metrics that could never pass.
    pub fn validate(&self, cel: &Cel) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        if self.metrics.is_empty() {
            let message = "is empty, so there would be nothing to verify".to_owned();
            errors.push(ConfigError { path: "/metrics".to_owned(), message });
        }
        for (index, metric) in self.metrics.iter().enumerate() {
            if self.metrics[..index].iter().any(|other| other.name == metric.name) {
                let message = format!("`{}` is the name of another metric", metric.name);
                errors.push(ConfigError { path: format!("/metrics/{index}/name"), message });
            }
            errors.extend(metric.problems(index, cel));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

impl Metric {
    /// How long it may take.
    #[must_use]
    pub fn timeout_seconds(&self) -> Option<u32> {
        self.timeout_seconds.or_else(|| self.provider.is_job().then_some(JOB_TIMEOUT_SECONDS))
    }

    fn problems(&self, index: usize, cel: &Cel) -> Vec<ConfigError> {
        let mut errors = Vec::new();
        let path = |key: &str| format!("/metrics/{index}/{key}");
        for (key, condition) in
            [("successCondition", &self.success_condition), ("failureCondition", &self.failure_condition)]
        {
            errors.extend(condition.as_ref().and_then(|condition| cel.problem(&path(key), condition)));
        }
        let mut error = |key: &str, message: String| errors.push(ConfigError { path: path(key), message });
        if self.name.trim().is_empty() {
            error("name", "is empty (expected a name)".to_owned());
        }
        if self.success_condition.is_none() && self.failure_condition.is_none() && !self.provider.is_sleep() {
            error("successCondition", "is missing: no condition says what a good result is".to_owned());
        }
        let numbers = [
            ("intervalSeconds", Some(self.interval_seconds)),
            ("count", Some(self.count)),
            ("successThreshold", self.success_threshold),
            ("timeoutSeconds", self.timeout_seconds),
        ];
        for (key, _) in numbers.iter().filter(|(_, number)| *number == Some(0)) {
            error(key, "is 0 (expected at least 1)".to_owned());
        }
        if self.count > COUNT_MAX {
            error("count", format!("is {} (expected at most {COUNT_MAX})", self.count));
        }
        if let Some(threshold) = self.success_threshold
            && threshold > self.count
        {
            error("successThreshold", format!("{threshold} can never be reached in {} measurements", self.count));
        }
        let fewest = self.success_threshold.unwrap_or(self.count).min(self.count);
        let seconds = u64::from(fewest.saturating_sub(1)) * u64::from(self.interval_seconds);
        if let Some(timeout) = self.timeout_seconds()
            && u64::from(timeout) < seconds
        {
            let message = format!("{timeout} s are over before it can pass ({fewest} measurements take {seconds} s)");
            error("timeoutSeconds", message);
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A metric that is fine but for what `rest` changes; `;` removes the condition.
    fn parse(rest: &str) -> Result<Config, String> {
        let (condition, rest) = match rest.strip_prefix(';') {
            Some(rest) => ("", rest),
            None => (r#", "successCondition": "result.ok""#, rest),
        };
        let json = format!("{{\"metrics\": [{{\"name\": \"m\", \"provider\": \"http\"{condition}{rest}}}]}}");
        serde_json::from_str(&json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_refused() {
        let cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
        let check = |rest: &str, expect: &str| {
            let errors = parse(rest).expect("parses").validate(&cel).err().unwrap_or_default();
            let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
            assert_eq!(paths.join(" "), expect, "{rest}: {errors:?}");
        };
        check("", "");
        check(r#";, "failureCondition": "result.rate > 0.1""#, "");
        check(";", "/metrics/0/successCondition");
        check(r#";, "successCondition": "result.ok =""#, "/metrics/0/successCondition");
        check(r#", "failureCondition": "'x'""#, "/metrics/0/failureCondition");
        check(r#", "intervalSeconds": 0"#, "/metrics/0/intervalSeconds");
        check(r#", "count": 0"#, "/metrics/0/count");
        check(r#", "count": 1001"#, "/metrics/0/count");
        check(r#", "successThreshold": 0"#, "/metrics/0/successThreshold");
        check(r#", "count": 3, "successThreshold": 4"#, "/metrics/0/successThreshold");
        check(r#", "timeoutSeconds": 0"#, "/metrics/0/timeoutSeconds");
        check(r#", "count": 3, "timeoutSeconds": 119"#, "/metrics/0/timeoutSeconds");
        check(r#", "count": 3, "timeoutSeconds": 120"#, "");
        check(r#", "count": 3, "successThreshold": 2, "timeoutSeconds": 60"#, "");
        check(r#"}, {"name": "m", "provider": {"type": "sleep"}"#, "/metrics/1/name");
        let none: Config = serde_json::from_str(r#"{"metrics": []}"#).expect("parses");
        assert_eq!(none.validate(&cel).expect_err("nothing")[0].path, "/metrics");
        for rest in [
            r#", "count": -1"#,
            r#", "failureThreshold": -1"#,
            r#", "consecutive": 1"#,
            r#", "provider": "nagios""#,
            r#", "intervalSeconds": "1m""#,
        ] {
            assert!(parse(rest).is_err(), "{rest}");
        }
        assert!(serde_json::from_str::<Config>(r#"{"metrics": [], "triggerOn": "always"}"#).is_err());
        assert!(serde_json::from_str::<Config>("{}").is_err());
    }
}
