//! The configuration of `deploymentDependency`.

use condition::Cel;
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_policy::ConfigError;

/// What must run on a resource before a version may go there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// A condition in CEL over the `deployment`, `version`, `environment` and `resource` of the other: true of what
    /// must run first, such as `deployment.name == 'database' && version.metadata['schema'] == '7'`.
    #[schemars(length(min = 1))]
    pub depends_on: String,
}

impl Config {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// A `dependsOn` that is no condition.
    pub fn validate(&self, cel: &Cel) -> Result<(), Vec<ConfigError>> {
        cel.problem("/dependsOn", &self.depends_on).map_or(Ok(()), |problem| Err(vec![problem]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        let cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
        let parse = |json: &str| serde_json::from_str::<Config>(json).map_err(|error| error.to_string());
        for json in ["{}", r#"{"dependsOn": ["db"]}"#, r#"{"dependsOn": "true", "environment": "prod"}"#] {
            assert!(parse(json).is_err(), "{json}");
        }
        for json in [r#"{"dependsOn": " "}"#, r#"{"dependsOn": "deployment.name = 'db'"}"#, r#"{"dependsOn": "7"}"#] {
            let errors = parse(json).expect("parses").validate(&cel).expect_err(json);
            assert_eq!(errors[0].path, "/dependsOn", "{json}");
        }
        assert_eq!(parse(r#"{"dependsOn": "deployment.name == 'db'"}"#).expect("parses").validate(&cel), Ok(()));
    }
}
