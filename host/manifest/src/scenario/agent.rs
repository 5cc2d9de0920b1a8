//! How the simulated agent behaves.

use model::{Json, job::JobKind, job_state::JobStatus, wanted::FieldError};

use super::{duration, object};
use crate::fields::{Fields, unknown};

/// What becomes of the jobs that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRule {
    /// Which jobs.
    pub matches: Match,
    /// How long they take, milliseconds.
    pub takes: i64,
    /// How they end.
    pub outcome: Outcome,
    /// What the agent says with it.
    pub message: String,
}

/// Which jobs; what is absent matches all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Match {
    /// Name of the deployment.
    pub deployment: Option<String>,
    /// Name of the environment.
    pub environment: Option<String>,
    /// Identifier of the resource.
    pub resource: Option<String>,
    /// Tag of the version.
    pub version: Option<String>,
    /// Number of the attempt.
    pub attempt: Option<u32>,
    /// What the job does.
    pub kind: Option<JobKind>,
}

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The agent reports this final status.
    Ends(JobStatus),
    /// The agent takes the job and is never heard of again.
    Vanishes,
}

pub(super) fn rule(item: &Json, pointer: &str) -> Result<AgentRule, Vec<FieldError>> {
    let mut fields = Fields::new(object(item, pointer, "an object with `result`")?, pointer);
    let matches = match fields.take("match") {
        None => Match::default(),
        Some(found) => match matching(found, &fields.pointer_to("match")) {
            Ok(found) => found,
            Err(errors) => {
                fields.extend(errors);
                Match::default()
            }
        },
    };
    let takes = duration(&mut fields, "takes").unwrap_or(0);
    let outcome = outcome(&mut fields);
    let message = fields.text("message");
    let errors = fields.finish();
    if errors.is_empty() { Ok(AgentRule { matches, takes, outcome, message }) } else { Err(errors) }
}

fn matching(item: &Json, pointer: &str) -> Result<Match, Vec<FieldError>> {
    let mut fields = Fields::new(object(item, pointer, "an object")?, pointer);
    let mut text = |field| fields.string(field).map(str::to_owned);
    let (deployment, environment) = (text("deployment"), text("environment"));
    let (resource, version) = (text("resource"), text("version"));
    let attempt = fields.integer("attempt", 1, i64::from(u32::MAX)).and_then(|attempt| u32::try_from(attempt).ok());
    let kind = fields.word("kind", JobKind::parse, &["deploy", "drain", "teardown"]);
    let errors = fields.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Match { deployment, environment, resource, version, attempt, kind })
}

fn outcome(fields: &mut Fields<'_>) -> Outcome {
    const WORDS: &[&str] = &[
        "completed",
        "failed",
        "cancelled",
        "invalid_job_agent",
        "invalid_integration",
        "external_run_not_found",
        "vanishes",
    ];
    let completed = Outcome::Ends(JobStatus::Completed);
    let Some(word) = fields.string("result") else { return completed };
    match word {
        "vanishes" => Outcome::Vanishes,
        _ => match JobStatus::parse(word).filter(|status| status.is_final() && *status != JobStatus::Skipped) {
            Some(status) => Outcome::Ends(status),
            None => {
                fields.error("result", unknown("result", word, WORDS));
                completed
            }
        },
    }
}
