//! The `cel` import: the evaluator that selectors use, with its bounds.

use crate::{imports::GuestState, v1::bindings::tidegate::policy::cel::Host};

impl Host for GuestState {
    fn evaluate(&mut self, expression: String, variables: String) -> Result<String, String> {
        let variables: model::Json =
            serde_json::from_str(&variables).map_err(|error| format!("the variables are no JSON: {error}"))?;
        if !variables.is_object() {
            return Err("the variables are no JSON object".to_owned());
        }
        Ok(selectors::evaluate_json(&expression, &variables)?.to_string())
    }

    fn check(&mut self, expression: String) -> Result<(), String> {
        selectors::check(&expression)
    }
}
