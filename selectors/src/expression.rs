//! Expressions of any type over variables given as JSON: what a policy plugin may have the host evaluate.

use cel::{common::value::CowVal, context::VariableResolver};
use serde_json::Value as Json;

use crate::{
    check::Names,
    error::{EvalError, SelectorError},
    eval,
    json::to_json,
    parse::{Tree, parse},
    view::json,
};

/// An expression, parsed once and evaluated many times.
#[derive(Debug)]
pub struct Expression {
    text: String,
    tree: Tree,
}

impl Expression {
    /// Parses `text`. Which variables there are shows when it is evaluated.
    ///
    /// # Errors
    /// When it exceeds a bound, is no CEL, or calls a function that CEL does not have; with the position.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let tree = parse(text, &Names { variables: None, condition: false })?;
        Ok(Self { text: text.to_owned(), tree })
    }

    /// Evaluates it over the members of a JSON object.
    ///
    /// # Errors
    /// When `variables` is no object, or the expression has no answer that JSON can hold.
    pub fn evaluate(&self, variables: &Json) -> Result<Json, EvalError> {
        let failed = |message: String| EvalError::Failed { expression: eval::shortened(&self.text), message };
        let Json::Object(members) = variables else {
            return Err(failed("the variables are not a JSON object".to_owned()));
        };
        let answer = eval::value(&self.tree, &self.text, &Members(members))?;
        to_json(&answer).map_err(failed)
    }
}

struct Members<'a>(&'a serde_json::Map<String, Json>);

impl VariableResolver for Members<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        self.0.get(variable).map(|value| CowVal::Owned(json(value)))
    }
}

/// Parses and evaluates in one go.
///
/// # Errors
/// In words for a person, when the expression is refused or has no answer.
pub fn evaluate_json(expression: &str, variables: &Json) -> Result<Json, String> {
    let parsed = Expression::parse(expression).map_err(|error| error.to_string())?;
    parsed.evaluate(variables).map_err(|error| error.to_string())
}

/// Whether [`evaluate_json`] would take the expression.
///
/// # Errors
/// In words for a person, when it would not.
pub fn check(expression: &str) -> Result<(), String> {
    Expression::parse(expression).map(drop).map_err(|error| error.to_string())
}
