//! What happens: one action at an instant.

use model::{
    Json, Labels,
    job_state::JobStatus,
    time::Timestamp,
    version::VersionStatus,
    wanted::{FieldError, Wanted, WantedFreeze},
};
use serde_json::Map;

use super::{By, Bypass, Cancelled, Deletable, documents, expect, expect::Expectation, items, moment, object, person};
use crate::fields::{Fields, expected, unknown};
use model::names::check_name;

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// What should be there is made so.
    Apply(Vec<Wanted>),
    /// What is there is taken away.
    Delete {
        /// What it is.
        what: Deletable,
        /// Its name.
        name: String,
    },
    /// CI reports a version.
    Version {
        /// Of which deployment.
        deployment: String,
        /// Its tag.
        tag: String,
        /// Its name; the tag when absent.
        name: Option<String>,
        /// Its configuration.
        config: Json,
        /// Its labels.
        metadata: Labels,
        /// How far it is.
        status: VersionStatus,
        /// When it was made; now when absent.
        created_at: Option<Timestamp>,
    },
    /// A version's status changes.
    VersionStatus {
        /// Of which deployment.
        deployment: String,
        /// Its tag.
        version: String,
        /// The new status.
        status: VersionStatus,
    },
    /// A person approves.
    Approve(Word),
    /// A person rejects.
    Reject(Word),
    /// A person withdraws what was said of a version in an environment.
    Revoke(Word),
    /// A person bypasses a rule or a freeze.
    Skip {
        /// What, for which version, where.
        bypass: Bypass,
        /// Who, and why.
        by: By,
        /// When it ends by itself.
        expires: Option<Timestamp>,
    },
    /// A person takes such a bypass back.
    Unskip {
        /// Which.
        bypass: Bypass,
        /// Who.
        by: By,
    },
    /// A person calls something off.
    Cancel {
        /// What.
        cancelled: Cancelled,
        /// Who, and why.
        by: By,
    },
    /// A person wants a version started again on a target.
    Redeploy {
        /// Which target.
        target: String,
        /// The version's tag; the one that came there last when absent.
        version: Option<String>,
        /// Who, and why.
        by: By,
    },
    /// A person goes back to an earlier version, and the target is held there.
    Rollback {
        /// Which target.
        target: String,
        /// The version's tag; the last good one before what runs there when absent.
        version: Option<String>,
        /// Who, and why.
        by: By,
    },
    /// A person ends a hold.
    Resume {
        /// Which target.
        target: String,
        /// Who, and why.
        by: By,
    },
    /// Nothing may start where the selector matches.
    Freeze {
        /// Where, when and why.
        freeze: WantedFreeze,
        /// Who.
        user: String,
    },
    /// A freeze is lifted.
    Unfreeze {
        /// Its name.
        name: String,
        /// Who, and why.
        by: By,
    },
    /// A metric of a target's latest job was measured.
    Measure(Measured),
    /// An agent reports on a target's latest job.
    Report(Report),
    /// The lease of a target's latest job runs out: its agent is not heard of until then.
    ExpireLease {
        /// Which target.
        target: String,
    },
    /// The process dies and starts again on the same database.
    Restart,
    /// This must be true now.
    Expect(Box<Expectation>),
}

/// What a person says of a version in an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Of which deployment.
    pub deployment: String,
    /// The version's tag.
    pub version: String,
    /// For which environment.
    pub environment: String,
    /// Who.
    pub user: String,
    /// Teams of the person.
    pub roles: Vec<String>,
    /// Why.
    pub reason: String,
}

/// What an agent reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// On which target's latest job.
    pub target: String,
    /// How it stands.
    pub status: JobStatus,
    /// What is said with it.
    pub message: String,
    /// Under which token; the job's own when absent. `stale` sends one that no longer holds.
    pub stale: bool,
}

/// A measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Of which target's latest job.
    pub target: String,
    /// Which metric.
    pub metric: String,
    /// What was seen, or why nothing could be.
    pub value: Result<Json, String>,
}

const ACTIONS: &[&str] = &[
    "apply",
    "delete",
    "version",
    "versionStatus",
    "approve",
    "reject",
    "revoke",
    "skip",
    "unskip",
    "report",
    "expireLease",
    "cancel",
    "redeploy",
    "rollback",
    "resume",
    "freeze",
    "unfreeze",
    "measure",
    "restart",
    "expect",
];

pub(super) fn step(item: &Json, pointer: &str, start: Timestamp) -> Result<(Timestamp, Action), Vec<FieldError>> {
    let object = object(item, pointer, "a step with `at` and an action")?;
    let mut fields = Fields::new(object, pointer);
    let at = moment(&mut fields, "at", start);
    if at.is_none() && !object.contains_key("at") {
        fields.error("at", "is missing, expected a time from the start (90s, 5m, 2h, 1d) or an instant");
    }
    if let Some(early) = at.filter(|at| *at < start) {
        fields.error("at", format!("{early} is before the start ({start})"));
    }
    let written: Vec<&str> = object.keys().map(String::as_str).filter(|key| *key != "at").collect();
    let action = match written.as_slice() {
        [name] => match ACTIONS.iter().find(|action| *action == name) {
            Some(name) => {
                // A restart has nothing to say: `restart:` and `restart: {}` are both right.
                let value = fields.take(name).cloned().unwrap_or(Json::Object(Map::new()));
                action(name, &value, &fields.pointer_to(name), start, at.unwrap_or(start))
            }
            None => {
                let message = unknown("action", name, ACTIONS);
                return Err(vec![FieldError { pointer: fields.pointer_to(name), message }]);
            }
        },
        [] => {
            let message = format!("has no action, expected one of {}", crate::fields::list(ACTIONS));
            return Err(vec![FieldError { pointer: pointer.to_owned(), message }]);
        }
        [first, second, ..] => {
            let message =
                format!("has both `{first}` and `{second}`, expected one (make it two steps at the same time)");
            return Err(vec![FieldError { pointer: pointer.to_owned(), message }]);
        }
    };
    match action {
        Ok(action) => {
            let errors = fields.finish();
            if errors.is_empty() { Ok((at.unwrap_or(start), action)) } else { Err(errors) }
        }
        Err(found) => {
            fields.extend(found);
            Err(fields.finish())
        }
    }
}

fn action(
    name: &str,
    value: &Json,
    pointer: &str,
    start: Timestamp,
    now: Timestamp,
) -> Result<Action, Vec<FieldError>> {
    match name {
        "apply" => apply(value, pointer),
        "expect" => expect::expectation(value, pointer, start).map(|found| Action::Expect(Box::new(found))),
        _ => {
            let mut fields = Fields::new(object(value, pointer, "an object")?, pointer);
            let action = match name {
                "version" => version(&mut fields, start),
                "versionStatus" => version_status(&mut fields),
                "approve" => Action::Approve(word(&mut fields)),
                "reject" => Action::Reject(word(&mut fields)),
                "revoke" => Action::Revoke(word(&mut fields)),
                "delete" => person::delete(&mut fields),
                "skip" => person::skip(&mut fields, start),
                "unskip" => person::unskip(&mut fields),
                "cancel" => person::cancel(&mut fields)?,
                "redeploy" => person::redeploy(&mut fields),
                "rollback" => person::rollback(&mut fields),
                "resume" => person::resume(&mut fields),
                "freeze" => person::freeze(&mut fields, start, now),
                "unfreeze" => person::unfreeze(&mut fields),
                "measure" => measure(&mut fields, value),
                "report" => report(&mut fields),
                "expireLease" => Action::ExpireLease { target: fields.name("target", check_name) },
                _ => Action::Restart,
            };
            let errors = fields.finish();
            if errors.is_empty() { Ok(action) } else { Err(errors) }
        }
    }
}

fn apply(value: &Json, pointer: &str) -> Result<Action, Vec<FieldError>> {
    let wrapped = Map::from_iter([("apply".to_owned(), value.clone())]);
    let base = pointer.strip_suffix("/apply").unwrap_or(pointer);
    let mut fields = Fields::new(&wrapped, base);
    if !value.is_array() {
        fields.error("apply", expected("a list of documents", value));
    }
    let wanted = if value.is_array() { items(&mut fields, "apply", documents) } else { Vec::new() };
    fields.take("apply");
    let errors = fields.finish();
    if errors.is_empty() { Ok(Action::Apply(wanted)) } else { Err(errors) }
}

fn version(fields: &mut Fields<'_>, start: Timestamp) -> Action {
    Action::Version {
        deployment: fields.name("deployment", check_name),
        tag: fields.name("tag", check_name),
        name: fields.optional_name("name"),
        config: fields.config("config"),
        metadata: fields.labels("metadata"),
        status: status(fields).unwrap_or(VersionStatus::Ready),
        created_at: moment(fields, "createdAt", start),
    }
}

fn version_status(fields: &mut Fields<'_>) -> Action {
    let (deployment, version) = (fields.name("deployment", check_name), fields.name("version", check_name));
    let status = status(fields).unwrap_or_else(|| {
        fields.error("status", "is missing, expected the version's new status");
        VersionStatus::Unspecified
    });
    Action::VersionStatus { deployment, version, status }
}

fn status(fields: &mut Fields<'_>) -> Option<VersionStatus> {
    let words = VersionStatus::ALL.map(VersionStatus::name);
    fields.word("status", VersionStatus::parse, &words)
}

fn word(fields: &mut Fields<'_>) -> Word {
    Word {
        deployment: fields.name("deployment", check_name),
        version: fields.name("version", check_name),
        environment: fields.name("environment", check_name),
        user: fields.name("user", check_name),
        roles: fields.names("roles"),
        reason: fields.text("reason"),
    }
}

fn report(fields: &mut Fields<'_>) -> Action {
    let words: Vec<&'static str> = JobStatus::ALL.iter().map(|status| status.name()).collect();
    let target = fields.name("target", check_name);
    let status = fields.word("status", JobStatus::parse, &words).unwrap_or_else(|| {
        fields.error("status", "is missing, expected the job's status");
        JobStatus::Completed
    });
    let message = fields.text("message");
    let stale = match fields.string("token") {
        None => false,
        Some("stale") => true,
        Some(other) => {
            fields.error("token", unknown("token", other, &["stale"]));
            false
        }
    };
    Action::Report(Report { target, status, message, stale })
}

fn measure(fields: &mut Fields<'_>, written: &Json) -> Action {
    let (target, metric) = (fields.name("target", check_name), fields.name("metric", check_name));
    fields.take("value");
    // Null is a value that can be measured.
    let value = written.get("value").cloned();
    let error = fields.string("error").map(str::to_owned);
    let value = match (value, error) {
        (Some(value), None) => Ok(value),
        (None, Some(error)) => Err(error),
        (Some(_), Some(_)) => {
            fields.error("error", "stands beside `value`, expected one of the two");
            Ok(Json::Null)
        }
        (None, None) => {
            if fields.take("error").is_none() {
                fields.error("value", "is missing, expected what was measured (or `error`: why nothing could be)");
            }
            Ok(Json::Null)
        }
    };
    Action::Measure(Measured { target, metric, value })
}
