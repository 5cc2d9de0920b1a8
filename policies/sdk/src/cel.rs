//! CEL, evaluated by the host with the limits that selectors have.

#[cfg(target_arch = "wasm32")]
use crate::bindings::plugin::tidegate::policy::cel as host;

/// The value of `expression` over the members of `variables`, a JSON object.
///
/// # Errors
/// The expression does not parse, exceeds the limits, or fails on these variables.
#[cfg(target_arch = "wasm32")]
pub fn evaluate(expression: &str, variables: &serde_json::Value) -> Result<serde_json::Value, String> {
    let value = host::evaluate(expression, &variables.to_string())?;
    serde_json::from_str(&value).map_err(|error| format!("the host's answer is no JSON: {error}"))
}

/// Whether `expression` parses within the limits: what a policy calls on an expression in its configuration.
///
/// # Errors
/// What is wrong, with its position.
#[cfg(target_arch = "wasm32")]
pub fn check(expression: &str) -> Result<(), String> {
    host::check(expression)
}

/// Text variables by name.
#[must_use]
pub fn variables(texts: &[(&str, &str)]) -> serde_json::Value {
    let members = texts.iter().map(|(name, text)| ((*name).to_owned(), serde_json::Value::from(*text)));
    serde_json::Value::Object(members.collect())
}

/// Outside Wasm there is no host to ask.
///
/// # Errors
/// Always.
#[cfg(not(target_arch = "wasm32"))]
pub fn evaluate(_expression: &str, _variables: &serde_json::Value) -> Result<serde_json::Value, String> {
    Err(NO_HOST.to_owned())
}

/// Outside Wasm there is no host to ask.
///
/// # Errors
/// Always.
#[cfg(not(target_arch = "wasm32"))]
pub fn check(_expression: &str) -> Result<(), String> {
    Err(NO_HOST.to_owned())
}

#[cfg(not(target_arch = "wasm32"))]
const NO_HOST: &str = "CEL is evaluated by the host; natively, pass the result to your rule as an argument";
