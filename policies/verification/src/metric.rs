//! What the measurements of one metric mean. Pure: everything is an argument.
//!
//! They are read one by one in order of time, and the first that decides does so for good: what comes later changes
//! nothing.

use condition::{Cel, shortened};
use serde_json::{Value, json};
use tidegate_policy::{Timestamp, duration_text, verify::Measurement};

use crate::config::Metric;

/// How a metric stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It passed.
    Passed,
    /// It failed, and why.
    Failed(String),
    /// It is to be measured, no sooner than then.
    Measure(Timestamp),
}

/// What one measurement says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    Inconclusive(String),
}

/// How a metric stands that was set going at `start_at`.
#[must_use]
pub fn standing(
    metric: &Metric,
    cel: &Cel,
    start_at: Timestamp,
    now: Timestamp,
    measurements: &[Measurement],
) -> Standing {
    let timeout = metric.timeout_seconds();
    let deadline = timeout.map(|seconds| start_at.saturating_add(i64::from(seconds) * 1000));
    let in_time = |measurement: &&Measurement| deadline.is_none_or(|deadline| measurement.at <= deadline);
    let mut taken: Vec<&Measurement> =
        measurements.iter().filter(|taken| taken.metric == metric.name).filter(in_time).collect();
    taken.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| text(a).cmp(&text(b))));

    let mut tally = Tally::default();
    for measurement in &taken {
        if let Some(standing) = tally.count(metric, cel, measurement) {
            return standing;
        }
    }
    let interval = i64::from(metric.interval_seconds) * 1000;
    let next_at = taken.last().map_or(start_at, |last| last.at.saturating_add(interval));
    match (timeout, deadline) {
        // With no time for another measurement, waiting for the deadline would change nothing.
        (Some(timeout), Some(deadline)) if now >= deadline || next_at > deadline => {
            let (taken, count, timeout) = (tally.taken, metric.count, duration_text(timeout.into()));
            Standing::Failed(format!(
                "{} had not passed after {timeout}, with {taken} of {count} measurements",
                metric.name
            ))
        }
        _ => Standing::Measure(next_at),
    }
}

#[derive(Debug, Default)]
struct Tally {
    taken: u32,
    failures: u32,
    passes_in_a_row: u32,
    not_taken: u32,
}

impl Tally {
    /// The metric's end, if this measurement is it.
    fn count(&mut self, metric: &Metric, cel: &Cel, measurement: &Measurement) -> Option<Standing> {
        self.taken = self.taken.saturating_add(1);
        if measurement.value.is_err() {
            self.not_taken = self.not_taken.saturating_add(1);
        }
        let (name, threshold, outcome) = (&metric.name, metric.failure_threshold, outcome(metric, cel, measurement));
        let why = match outcome {
            Outcome::Passed => {
                self.passes_in_a_row = self.passes_in_a_row.saturating_add(1);
                if metric.success_threshold.is_some_and(|needed| self.passes_in_a_row >= needed) {
                    return Some(Standing::Passed);
                }
                None
            }
            Outcome::Failed(why) => {
                self.passes_in_a_row = 0;
                self.failures = self.failures.saturating_add(1);
                if self.failures > threshold {
                    let (failures, taken) = (self.failures, self.taken);
                    return Some(Standing::Failed(format!(
                        "{name} failed in {failures} of {taken} measurements (failureThreshold {threshold}); the last: {why}"
                    )));
                }
                Some(why)
            }
            Outcome::Inconclusive(why) => {
                self.passes_in_a_row = 0;
                Some(why)
            }
        };
        if self.taken < metric.count {
            return None;
        }
        Some(match why {
            // The thresholds let it through, but nobody ever saw a result.
            Some(why) if self.not_taken == self.taken => {
                Standing::Failed(format!("{name} could not be measured in {} attempts; the last: {why}", self.taken))
            }
            Some(_) | None => Standing::Passed,
        })
    }
}

/// A measurement that could not be taken or judged is one of which neither condition holds.
fn outcome(metric: &Metric, cel: &Cel, measurement: &Measurement) -> Outcome {
    let neither = |why: String| match metric.failure_condition {
        Some(_) => Outcome::Inconclusive(why),
        None => Outcome::Failed(why),
    };
    let result = match &measurement.value {
        Ok(json) => json,
        Err(error) => return neither(format!("no measurement ({})", shortened(error))),
    };
    let variables = match serde_json::from_str::<Value>(result) {
        Ok(value) => json!({"result": value}),
        Err(error) => return neither(format!("the result is no JSON ({error})")),
    };
    let holds = |condition: &Option<String>| match condition {
        Some(condition) => cel.holds(condition, &variables).map(Some),
        None => Ok(None),
    };
    let shown = |condition: &Option<String>, verb: &str| {
        let condition = condition.as_deref().unwrap_or_default();
        format!("`{}` {verb} {}", shortened(condition), shortened(result))
    };
    match (holds(&metric.failure_condition), holds(&metric.success_condition)) {
        (Err(error), _) | (Ok(None | Some(false)), Err(error)) => neither(error),
        (Ok(Some(true)), _) => Outcome::Failed(shown(&metric.failure_condition, "is true of")),
        (Ok(None | Some(false)), Ok(Some(true))) => Outcome::Passed,
        (Ok(None | Some(false)), Ok(Some(false))) => neither(shown(&metric.success_condition, "is false of")),
        // Not failing is all that was asked of it, or (for one that sleeps) not even that.
        (Ok(Some(false)), Ok(None)) => Outcome::Inconclusive(shown(&metric.failure_condition, "is false of")),
        (Ok(None), Ok(None)) => Outcome::Passed,
    }
}

fn text(measurement: &Measurement) -> (bool, &str) {
    match &measurement.value {
        Ok(text) => (true, text),
        Err(text) => (false, text),
    }
}
