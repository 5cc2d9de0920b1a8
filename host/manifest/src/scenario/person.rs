//! What people do besides saying yes or no: bypass a rule, call off, go back, freeze.

use model::{
    Json,
    names::check_name,
    time::Timestamp,
    wanted::{FieldError, WantedFreeze},
};
use selectors::Place;

use super::{Action, duration, moment, object};
use crate::{
    document::{TYPES, check_span},
    fields::{Fields, expected, list, unknown},
};

/// Who does what nobody is named for.
const SOMEBODY: &str = "scenario";

/// Who, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// Who.
    pub user: String,
    /// Why; may be empty.
    pub reason: String,
}

/// What a skip is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bypass {
    /// What is bypassed.
    pub bypassed: Bypassed,
    /// Name of the deployment.
    pub deployment: String,
    /// The version's tag; the newest ready version when absent.
    pub version: Option<String>,
    /// Where.
    pub reach: Reach,
}

/// What is bypassed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bypassed {
    /// A rule.
    Rule {
        /// Name of its policy.
        policy: String,
        /// Which of the policy's rules.
        rule: RuleName,
    },
    /// A freeze, by name.
    Freeze(String),
}

/// A rule of a policy, as people name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleName {
    /// By its key, or its plugin's name: the only one of that name.
    Label(String),
    /// By its position, from 0.
    Position(usize),
}

/// Where a skip holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// On one target.
    Target(String),
    /// On the targets of an environment.
    Environment(String),
    /// Wherever the deployment goes.
    Deployment,
}

/// What is cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancelled {
    /// The latest job of a target.
    LatestJob {
        /// Which target.
        target: String,
    },
    /// A version on a target, for good.
    Release {
        /// Which target.
        target: String,
        /// The version's tag.
        version: String,
    },
}

/// What a scenario can delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletable {
    /// A policy.
    Policy,
    /// A freeze.
    Freeze,
}

impl Deletable {
    const NAMES: &[&str] = &["Policy", "Freeze"];

    fn parse(name: &str) -> Option<Self> {
        match name {
            "Policy" => Some(Self::Policy),
            "Freeze" => Some(Self::Freeze),
            _ => None,
        }
    }
}

pub(super) fn delete(fields: &mut Fields<'_>) -> Action {
    let written = fields.string("type");
    let what = written.and_then(Deletable::parse);
    let message = match written {
        None if fields.take("type").is_none() => Some("is missing, expected what is deleted".to_owned()),
        Some(name) if what.is_none() && TYPES.contains(&name) => {
            Some(format!("a {name} cannot be deleted in a scenario, expected one of {}", list(Deletable::NAMES)))
        }
        Some(name) if what.is_none() => Some(unknown("type", name, Deletable::NAMES)),
        None | Some(_) => None,
    };
    if let Some(message) = message {
        fields.error("type", message);
    }
    Action::Delete { what: what.unwrap_or(Deletable::Policy), name: fields.name("name", check_name) }
}

pub(super) fn skip(fields: &mut Fields<'_>, start: Timestamp) -> Action {
    Action::Skip { bypass: bypass(fields), by: by(fields), expires: moment(fields, "expires", start) }
}

pub(super) fn unskip(fields: &mut Fields<'_>) -> Action {
    Action::Unskip { bypass: bypass(fields), by: by(fields) }
}

fn bypass(fields: &mut Fields<'_>) -> Bypass {
    let bypassed = match fields.optional_name("freeze") {
        Some(freeze) => {
            for field in ["policy", "rule"] {
                if fields.take(field).is_some() {
                    fields.error(field, "stands beside `freeze`, expected a rule of a policy or a freeze");
                }
            }
            Bypassed::Freeze(freeze)
        }
        None => Bypassed::Rule { policy: fields.name("policy", check_name), rule: rule_name(fields) },
    };
    let (target, environment) = (fields.optional_name("target"), fields.optional_name("environment"));
    if target.is_some() && environment.is_some() {
        fields.error("environment", "stands beside `target`, expected one of the two (or neither, for all targets)");
    }
    // The first part of a target's path says which deployment.
    let of_target = target.as_deref().and_then(|path| path.split('/').next()).unwrap_or_default().to_owned();
    let deployment = match &target {
        None => fields.name("deployment", check_name),
        Some(path) => {
            if let Some(other) = fields.optional_name("deployment").filter(|other| *other != of_target) {
                fields.error("deployment", format!("`{other}` is not the deployment of the target `{path}`"));
            }
            of_target
        }
    };
    let reach = match (target, environment) {
        (Some(target), _) => Reach::Target(target),
        (None, Some(environment)) => Reach::Environment(environment),
        (None, None) => Reach::Deployment,
    };
    Bypass { bypassed, deployment, version: fields.optional_name("version"), reach }
}

fn rule_name(fields: &mut Fields<'_>) -> RuleName {
    const WHAT: &str = "a rule's key, its plugin's name, or its position in the policy from 0";
    let position = |value: &Json| value.as_u64().and_then(|position| usize::try_from(position).ok());
    let (message, found) = match fields.take("rule") {
        None => (Some(format!("is missing, expected {WHAT}")), None),
        Some(Json::String(label)) => (check_name(label).err(), Some(RuleName::Label(label.clone()))),
        Some(value) => match position(value) {
            Some(position) => (None, Some(RuleName::Position(position))),
            None => (Some(expected(WHAT, value)), None),
        },
    };
    if let Some(message) = message {
        fields.error("rule", message);
    }
    found.unwrap_or(RuleName::Position(0))
}

pub(super) fn cancel(fields: &mut Fields<'_>) -> Result<Action, Vec<FieldError>> {
    let pointer = fields.pointer_to("release");
    let cancelled = match fields.take("release") {
        None => Cancelled::LatestJob { target: fields.name("target", check_name) },
        Some(found) => {
            if fields.take("target").is_some() {
                fields.error("release", "stands beside `target`, expected one of the two");
            }
            let mut inner = Fields::new(object(found, &pointer, "an object with `target` and `version`")?, &pointer);
            let (target, version) = (inner.name("target", check_name), inner.name("version", check_name));
            fields.extend(inner.finish());
            Cancelled::Release { target, version }
        }
    };
    Ok(Action::Cancel { cancelled, by: by(fields) })
}

pub(super) fn redeploy(fields: &mut Fields<'_>) -> Action {
    let (target, version) = target_and_version(fields);
    Action::Redeploy { target, version, by: by(fields) }
}

pub(super) fn rollback(fields: &mut Fields<'_>) -> Action {
    let (target, version) = target_and_version(fields);
    Action::Rollback { target, version, by: by(fields) }
}

fn target_and_version(fields: &mut Fields<'_>) -> (String, Option<String>) {
    (fields.name("target", check_name), fields.optional_name("version"))
}

pub(super) fn resume(fields: &mut Fields<'_>) -> Action {
    Action::Resume { target: fields.name("target", check_name), by: by(fields) }
}

pub(super) fn freeze(fields: &mut Fields<'_>, start: Timestamp, now: Timestamp) -> Action {
    let (name, selector) = (fields.name("name", check_name), fields.selector("selector", Place::Policy));
    let begin = moment(fields, "start", start);
    let mut end = moment(fields, "end", start);
    if let Some(millis) = duration(fields, "for") {
        if end.is_some() {
            fields.error("for", "stands beside `end`, expected one of the two");
        } else if millis == 0 {
            fields.error("for", "is no time at all, expected how long it lasts (90s, 5m, 2h, 1d)");
        } else {
            end = Some(begin.unwrap_or(now).plus_millis(millis));
        }
    }
    check_span(fields, begin, end);
    let by = by(fields);
    let reason = if by.reason.trim().is_empty() { "the scenario freezes".to_owned() } else { by.reason };
    Action::Freeze { freeze: WantedFreeze { name, selector, start: begin, end, reason }, user: by.user }
}

pub(super) fn unfreeze(fields: &mut Fields<'_>) -> Action {
    Action::Unfreeze { name: fields.name("name", check_name), by: by(fields) }
}

fn by(fields: &mut Fields<'_>) -> By {
    let user = fields.optional_name("user").unwrap_or_else(|| SOMEBODY.to_owned());
    By { user, reason: fields.text("reason") }
}
