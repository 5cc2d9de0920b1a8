//! What must be true at an instant.

use model::{Json, event::EventKind, job_state::JobStatus, time::Timestamp, wanted::FieldError};

use super::object;
use crate::fields::{Fields, expected};

/// What must be true of some targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Of which.
    pub targets: Targets,
    /// Tag of the version that should run there.
    pub desired: Expected<String>,
    /// Tag of the version that runs there.
    pub current: Expected<String>,
    /// Status of its latest job.
    pub latest_job: Expected<JobStatus>,
    /// Jobs ever made; for several targets their sum.
    pub jobs: Option<u64>,
    /// Jobs that somebody works on now; for several targets their sum.
    pub running: Option<u64>,
    /// The first rule that does not let the newest ready version go.
    pub blocked_by: Expected<String>,
    /// Whether a rollback holds the target where it is.
    pub held: Option<bool>,
    /// A regular expression on why the target stands where it is.
    pub reason: Option<String>,
    /// When time alone may change something.
    pub next_evaluation: Expected<Timestamp>,
    /// Kinds of events of the targets, in this order, perhaps with others between.
    pub events: Option<Vec<EventKind>>,
}

/// Which targets an expectation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targets {
    /// One, as deployment/environment/identifier.
    One(String),
    /// All that the pattern matches, `*` standing for anything but a slash; at least one.
    Glob(String),
}

/// A value that must be so, must be absent, or may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected<T> {
    /// Nothing was said.
    Anything,
    /// It must be absent.
    Nothing,
    /// It must be this.
    Is(T),
}

pub(super) fn expectation(item: &Json, pointer: &str, start: Timestamp) -> Result<Expectation, Vec<FieldError>> {
    let object = object(item, pointer, "an object with `target` or `targets`")?;
    let mut fields = Fields::new(object, pointer);
    let one = fields.string("target").map(str::to_owned);
    let glob = fields.string("targets").map(str::to_owned);
    let targets = match (one, glob) {
        (Some(one), None) => Targets::One(one),
        (None, Some(glob)) => Targets::Glob(glob),
        (Some(_), Some(_)) => {
            fields.error("targets", "stands beside `target`, expected one of the two");
            Targets::One(String::new())
        }
        (None, None) => {
            fields.error("target", "is missing, expected deployment/environment/identifier (or `targets` with a glob)");
            Targets::One(String::new())
        }
    };
    let text = |text: &str| Some(text.to_owned());
    let expectation = Expectation {
        targets,
        desired: nullable(&mut fields, object, "desired", "a version's tag or null", text),
        current: nullable(&mut fields, object, "current", "a version's tag or null", text),
        latest_job: nullable(&mut fields, object, "latestJob", "a job's status or null", JobStatus::parse),
        jobs: count(&mut fields, "jobs"),
        running: count(&mut fields, "running"),
        blocked_by: nullable(&mut fields, object, "blockedBy", "a rule, a plugin's name or null", text),
        held: fields.boolean("held"),
        reason: fields.string("reason").map(str::to_owned),
        next_evaluation: nullable(
            &mut fields,
            object,
            "nextEvaluation",
            "an instant, a time from the start, or null",
            |text| super::parse_duration(text).map(|millis| start.plus_millis(millis)).or_else(|| text.parse().ok()),
        ),
        events: events(&mut fields),
    };
    let errors = fields.finish();
    if errors.is_empty() { Ok(expectation) } else { Err(errors) }
}

/// A field in which null says something.
fn nullable<T>(
    fields: &mut Fields<'_>,
    object: &serde_json::Map<String, Json>,
    field: &'static str,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Expected<T> {
    match (fields.take(field), object.get(field)) {
        (None, None) => Expected::Anything,
        (None, Some(_)) => Expected::Nothing,
        (Some(value), _) => match value.as_str().and_then(parse) {
            Some(value) => Expected::Is(value),
            None => {
                fields.error(field, expected(what, value));
                Expected::Anything
            }
        },
    }
}

fn count(fields: &mut Fields<'_>, field: &'static str) -> Option<u64> {
    fields.integer(field, 0, i64::MAX).and_then(|count| u64::try_from(count).ok())
}

fn events(fields: &mut Fields<'_>) -> Option<Vec<EventKind>> {
    fields.take("events")?;
    let names = fields.take("events").and_then(Json::as_array).cloned();
    let Some(names) = names else {
        fields.error("events", "expected a list of kinds of events");
        return None;
    };
    let mut kinds = Vec::new();
    for name in &names {
        match name.as_str().and_then(EventKind::parse) {
            Some(kind) => kinds.push(kind),
            None => fields.error("events", format!("{name} is not a kind of event")),
        }
    }
    Some(kinds)
}
