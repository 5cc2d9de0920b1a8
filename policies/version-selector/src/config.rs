//! The configuration of `versionSelector`.

use condition::Cel;
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::ConfigError;

/// Which versions may go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// A condition in CEL over `version`, `deployment`, `environment` and `resource`.
    #[schemars(length(min = 1))]
    pub selector: String,
    /// What it is for, in words that stand in the reason when it holds a version back.
    #[serde(default)]
    pub description: Option<String>,
}

impl Config {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// A selector that is no condition.
    pub fn validate(&self, cel: &Cel) -> Result<(), Vec<ConfigError>> {
        cel.problem("/selector", &self.selector).map_or(Ok(()), |problem| Err(vec![problem]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        let cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
        let parse = |json: &str| serde_json::from_str::<Config>(json).map_err(|error| error.to_string());
        for json in ["{}", r#"{"selector": 1}"#, r#"{"selector": "true", "descripton": "x"}"#] {
            assert!(parse(json).is_err(), "{json}");
        }
        for json in [r#"{"selector": ""}"#, r#"{"selector": "version.tag ="}"#, r#"{"selector": "'v1'"}"#] {
            let errors = parse(json).expect("parses").validate(&cel).expect_err(json);
            assert_eq!(errors[0].path, "/selector", "{json}");
        }
        let fine = r#"{"selector": "version.tag.startsWith('v1')", "description": "only v1"}"#;
        assert_eq!(parse(fine).expect("parses").validate(&cel), Ok(()));
    }
}
