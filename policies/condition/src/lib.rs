//! Conditions in CEL that stand in a rule's configuration: whether one can be saved, and whether it holds.
//!
//! The evaluator is an argument, so that a rule is plain Rust: inside Wasm it is the host's ([`Cel::HOST`]), in tests
//! the library that the host uses. Nothing here decides what an answer means for a release.
#![warn(missing_docs)]

pub mod variables;

use serde_json::{Value, json};
use tidegate_policy::{ConfigError, cel};

/// Who evaluates.
#[derive(Debug, Clone, Copy)]
pub struct Cel {
    /// The value of an expression over the members of a JSON object.
    pub evaluate: fn(&str, &Value) -> Result<Value, String>,
    /// Whether an expression parses within the limits.
    pub check: fn(&str) -> Result<(), String>,
}

impl Cel {
    /// The host. Outside Wasm there is none, and both fail.
    pub const HOST: Self = Self { evaluate: cel::evaluate, check: cel::check };

    /// Whether the condition holds.
    ///
    /// # Errors
    /// It has no answer for these variables, or one that is neither true nor false.
    pub fn holds(&self, condition: &str, variables: &Value) -> Result<bool, String> {
        match (self.evaluate)(condition, variables)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(format!("`{}` gives {}, expected true or false", shortened(condition), kind(&other))),
        }
    }

    /// What keeps the condition at `path` from being saved.
    #[must_use]
    pub fn problem(&self, path: &str, condition: &str) -> Option<ConfigError> {
        let error = |message: String| Some(ConfigError { path: path.to_owned(), message });
        if condition.trim().is_empty() {
            return error("is empty (expected a condition in CEL)".to_owned());
        }
        if let Err(message) = (self.check)(condition) {
            return error(message);
        }
        // What has a value without any variable has it always.
        match (self.evaluate)(condition, &json!({})) {
            Ok(Value::Bool(_)) | Err(_) => None,
            Ok(other) => error(format!("is always {}, expected a condition that is true or false", kind(&other))),
        }
    }
}

/// Enough of a text to recognise it.
#[must_use]
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CEL: Cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };

    #[test]
    fn conditions_hold_or_not_or_have_no_answer() {
        let variables = json!({"n": 3, "m": {}});
        let holds = |text| CEL.holds(text, &variables);
        assert_eq!(holds("n > 2"), Ok(true));
        assert_eq!(holds("n > 3"), Ok(false));
        assert_eq!(holds("n + 1"), Err("`n + 1` gives a number, expected true or false".to_owned()));
        assert_eq!(holds("m.gone"), Err("`m.gone`: there is no `gone`".to_owned()));
        assert!(holds("1 / 0 == 1").is_err());
        assert!(holds("9223372036854775807 + 1 > 0").is_err());
    }

    #[test]
    fn what_cannot_be_saved() {
        let check = |text: &str, message: Option<&str>| {
            let problem = CEL.problem("/selector", text);
            assert!(problem.iter().all(|problem| problem.path == "/selector"));
            let found = problem.map(|problem| problem.message);
            assert_eq!(found.is_some(), message.is_some(), "{text}: {found:?}");
            assert!(found.unwrap_or_default().contains(message.unwrap_or_default()), "{text}");
        };
        check("n > 2", None);
        check("true", None);
        check("1/0 == 1", None);
        check(" ", Some("is empty"));
        check("1 +", Some("line 1, column 4"));
        check("a() || mispelt()", Some("unknown function"));
        check("'v1'", Some("is always a string"));
        check("[1, 2]", Some("is always a list"));
    }

    #[test]
    fn outside_wasm_there_is_no_host() {
        assert!(Cel::HOST.holds("true", &json!({})).is_err());
        assert!(Cel::HOST.problem("", "true").is_some());
    }
}
