//! The `cel` import: the evaluator that selectors use, with its bounds.

use std::collections::HashMap;

use selectors::Expression;

use crate::{imports::GuestState, v1::bindings::tidegate::policy::cel::Host};

/// Expressions that are kept of one instance. A rule has a few, and evaluates each over many things.
const EXPRESSIONS_MAX: usize = 64;

/// What an instance had parsed: parsing costs a hundred times what evaluating does.
#[derive(Debug, Default)]
pub(crate) struct Expressions(HashMap<String, Expression>);

impl Expressions {
    /// The expression of that text. One that is refused is not kept: who asks for it again pays again.
    fn parsed(&mut self, text: String) -> Result<&Expression, String> {
        // A guest that has more than fit begins anew, and is as slow as if none were kept.
        if self.0.len() >= EXPRESSIONS_MAX && !self.0.contains_key(&text) {
            self.0.clear();
        }
        match self.0.entry(text) {
            std::collections::hash_map::Entry::Occupied(kept) => Ok(kept.into_mut()),
            std::collections::hash_map::Entry::Vacant(place) => {
                let parsed = Expression::parse(place.key()).map_err(|error| error.to_string())?;
                Ok(place.insert(parsed))
            }
        }
    }
}

impl Host for GuestState {
    fn evaluate(&mut self, expression: String, variables: String) -> Result<String, String> {
        let variables: model::Json =
            serde_json::from_str(&variables).map_err(|error| format!("the variables are no JSON: {error}"))?;
        if !variables.is_object() {
            return Err("the variables are no JSON object".to_owned());
        }
        let answer = self.expressions.parsed(expression)?.evaluate(&variables);
        Ok(answer.map_err(|error| error.to_string())?.to_string())
    }

    fn check(&mut self, expression: String) -> Result<(), String> {
        self.expressions.parsed(expression).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_what_is_refused_is_not_kept() {
        let mut expressions = Expressions::default();
        for number in 0..1000 {
            let text = format!("{number} + n");
            for n in 0..2 {
                let parsed = expressions.parsed(text.clone()).expect("it parses");
                assert_eq!(parsed.evaluate(&serde_json::json!({"n": n})), Ok((number + n).into()));
            }
            assert!(expressions.parsed(format!("{number} +")).is_err());
            assert!(expressions.0.len() <= EXPRESSIONS_MAX);
        }
        assert!(expressions.parsed("999 + n".to_owned()).is_ok() && expressions.0.contains_key("999 + n"));
    }
}
