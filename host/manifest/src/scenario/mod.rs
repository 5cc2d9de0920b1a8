//! Scenario files: what is there, what happens when, and what must then be true.
//!
//! [`parse`] reads one and says of everything that is wrong with it where it is and what was meant. It looks nothing
//! up and runs nothing: `simulate` does.

mod agent;
mod duration;
mod expect;
mod person;
mod step;

use model::{Json, time::Timestamp, wanted::FieldError, wanted::Wanted};

use crate::{
    document::from_json,
    fields::{Fields, expected},
    yaml::{DocumentError, Positions, Tree, located, nearest_position, read},
};

pub use agent::{AgentRule, Match, Outcome};
pub use duration::parse_duration;
pub use expect::{Expectation, Expected, Targets};
pub use person::{By, Bypass, Bypassed, Cancelled, Deletable, Reach, RuleName};
pub use step::{Action, Measured, Report, Word};

/// A scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// When it begins.
    pub start: Timestamp,
    /// Makes the ids.
    pub seed: u64,
    /// What is there at the start.
    pub apply: Vec<Wanted>,
    /// How the simulated agent behaves: the first match counts.
    pub agent: Vec<AgentRule>,
    /// What happens and what must be true, in order of time; at one instant in the order of the file.
    pub steps: Vec<Step>,
    /// When it ends; what happens at that instant still counts.
    pub until: Timestamp,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// When.
    pub at: Timestamp,
    /// Where in the file, from 1.
    pub line: u64,
    /// What.
    pub action: Action,
}

/// Reads a scenario file.
///
/// # Errors
///
/// Everything that is wrong with it, each with line and column.
pub fn parse(file: &str, text: &str) -> Result<Scenario, Vec<DocumentError>> {
    let mut trees = read(file, text)?;
    let (Some(Tree { json, positions }), true) = (trees.pop(), trees.is_empty()) else {
        return Err(vec![DocumentError {
            file: file.to_owned(),
            line: 1,
            column: 1,
            pointer: String::new(),
            message: "expected one document with `start`, `apply` and `steps`".to_owned(),
        }]);
    };
    scenario(&json, &positions)
        .map_err(|errors| errors.into_iter().map(|error| located(file, &positions, error)).collect())
}

fn scenario(json: &Json, positions: &Positions) -> Result<Scenario, Vec<FieldError>> {
    let Some(object) = json.as_object() else {
        let message = expected("an object with `start`, `apply` and `steps`", json);
        return Err(vec![FieldError { pointer: String::new(), message }]);
    };
    let mut fields = Fields::new(object, "");
    let start = start(&mut fields);
    let seed = fields.integer("seed", 0, i64::MAX).unwrap_or(0);
    let apply = items(&mut fields, "apply", documents);
    let agent = items(&mut fields, "agent", agent::rule);
    let mut steps = items(&mut fields, "steps", |item, pointer| {
        let (at, action) = step::step(item, pointer, start)?;
        let (line, _) = nearest_position(positions, pointer);
        Ok(Step { at, line, action })
    });
    // Stable: steps of one instant keep the order of the file.
    steps.sort_by_key(|step| step.at);
    let last = steps.last().map_or(start, |step| step.at);
    let until = moment(&mut fields, "until", start).unwrap_or(last);
    if until < last {
        fields.error("until", format!("{until} is before the last step ({last}), which would not happen"));
    }
    let errors = fields.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Scenario { start, seed: u64::try_from(seed).unwrap_or(0), apply, agent, steps, until })
}

fn start(fields: &mut Fields<'_>) -> Timestamp {
    let missing = fields.take("start").is_none();
    match fields.string("start").map(str::parse) {
        Some(Ok(start)) => start,
        Some(Err(error)) => {
            let error: model::time::ParseTimestampError = error;
            fields.error("start", error.to_string());
            Timestamp::from_millis(0)
        }
        None => {
            if missing {
                fields.error("start", "is missing, expected an instant such as 2026-03-02T08:00:00Z");
            }
            Timestamp::from_millis(0)
        }
    }
}

/// An offset from `start`, such as `90s`, or an instant.
fn moment(fields: &mut Fields<'_>, field: &'static str, start: Timestamp) -> Option<Timestamp> {
    let text = fields.string(field)?;
    match parse_duration(text).map(|millis| start.plus_millis(millis)).or_else(|| text.parse().ok()) {
        Some(at) => Some(at),
        None => {
            fields.error(
                field,
                format!("`{text}` is neither a time from the start (90s, 5m, 2h, 1d) nor an instant (RFC 3339)"),
            );
            None
        }
    }
}

/// How long, such as `90s`, in milliseconds.
fn duration(fields: &mut Fields<'_>, field: &'static str) -> Option<i64> {
    let text = fields.string(field)?;
    let millis = parse_duration(text);
    if millis.is_none() {
        fields.error(field, format!("`{text}` is not a duration such as 90s, 5m, 2h or 1d"));
    }
    millis
}

fn documents(item: &Json, pointer: &str) -> Result<Wanted, Vec<FieldError>> {
    from_json(item).map_err(|errors| {
        let at = |error: FieldError| FieldError { pointer: format!("{pointer}{}", error.pointer), ..error };
        errors.into_iter().map(at).collect()
    })
}

/// Reads each item of a list; what is wrong with any is collected.
fn items<T>(
    fields: &mut Fields<'_>,
    field: &'static str,
    read: impl Fn(&Json, &str) -> Result<T, Vec<FieldError>>,
) -> Vec<T> {
    let Some(value) = fields.take(field) else { return Vec::new() };
    let Some(list) = value.as_array() else {
        fields.error(field, expected("a list", value));
        return Vec::new();
    };
    let pointer = fields.pointer_to(field);
    let mut found = Vec::with_capacity(list.len());
    for (index, item) in list.iter().enumerate() {
        match read(item, &format!("{pointer}/{index}")) {
            Ok(item) => found.push(item),
            Err(errors) => fields.extend(errors),
        }
    }
    found
}

/// The object behind a pointer, or what is wrong with it.
fn object<'a>(item: &'a Json, pointer: &str, what: &str) -> Result<&'a serde_json::Map<String, Json>, Vec<FieldError>> {
    item.as_object().ok_or_else(|| vec![FieldError { pointer: pointer.to_owned(), message: expected(what, item) }])
}

#[cfg(test)]
mod tests;
