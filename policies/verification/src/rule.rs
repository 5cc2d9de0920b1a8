//! What is to be measured, and whether what was measured is healthy. Pure: everything is an argument.

use condition::Cel;
use serde_json::Value;
use tidegate_policy::{
    Job, JobStatus, Timestamp,
    verify::{Assessment, Measurement, Probe},
};

use crate::{
    Config,
    config::TriggerOn,
    metric::{Standing, standing},
    trigger::{Start, start},
};

/// One probe for each metric.
#[must_use]
pub fn probes(config: &Config) -> Vec<Probe> {
    let probe = |metric: &crate::config::Metric| Probe {
        metric: metric.name.clone(),
        provider: metric.provider.name.to_owned(),
        config: Value::Object(metric.provider.config.clone()).to_string(),
    };
    config.metrics.iter().map(probe).collect()
}

/// Healthy when every metric has passed, unhealthy as soon as one has failed. Before it is set going there is nothing
/// to measure.
///
/// # Errors
/// The job ended in a way that never sets the verification going.
pub fn assess(
    config: &Config,
    cel: &Cel,
    now: Timestamp,
    job: &Job,
    measurements: &[Measurement],
) -> Result<Assessment, String> {
    let start_at = match start(config.trigger_on, job) {
        Start::At(start_at) => start_at,
        Start::Later => return Ok(Assessment::Measure(Vec::new())),
        Start::Never => return never(config.trigger_on, job.status),
    };
    let mut failed = Vec::new();
    let mut due = Vec::new();
    for metric in &config.metrics {
        match standing(metric, cel, start_at, now, measurements) {
            Standing::Passed => {}
            Standing::Failed(why) => failed.push(why),
            Standing::Measure(at) => due.push((metric.name.clone(), at)),
        }
    }
    Ok(if !failed.is_empty() {
        Assessment::Unhealthy(failed.join("; "))
    } else if due.is_empty() {
        Assessment::Healthy
    } else {
        Assessment::Measure(due)
    })
}

/// A success is nothing to look into for a verification of failures. A job without success is not verified by one
/// that begins with a success.
fn never(trigger: TriggerOn, status: JobStatus) -> Result<Assessment, String> {
    let begins = match trigger {
        TriggerOn::JobCreated => "is made",
        TriggerOn::JobStarted => "starts",
        TriggerOn::JobSuccess => "succeeds",
        TriggerOn::JobFailure if status == JobStatus::Completed => return Ok(Assessment::Healthy),
        TriggerOn::JobFailure => "fails",
    };
    Err(format!("nothing was measured: it begins when a job {begins}, and this one ended otherwise"))
}

#[cfg(test)]
mod tests;
