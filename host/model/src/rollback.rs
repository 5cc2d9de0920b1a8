//! The `rollback` rule: the planner's own, since it changes what a target should run and asks no plugin.

use crate::{Json, plugin::ConfigError};

/// Its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollback {
    /// Go back when verification fails.
    pub on_verification_failed: bool,
    /// Go back when a job failed and no retry is left.
    pub on_job_failed: bool,
    /// A rollback to one of that many earlier verified versions skips all gates but freezes.
    pub window: u32,
}

impl Default for Rollback {
    fn default() -> Self {
        Self { on_verification_failed: true, on_job_failed: false, window: 1 }
    }
}

/// The largest window.
const WINDOW_MAX: u64 = 1000;

impl Rollback {
    /// Reads a configuration: `onVerificationFailed`, `onJobFailed`, `window`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(config: &Json) -> Result<Self, Vec<ConfigError>> {
        let mut rollback = Self::default();
        let mut errors = Vec::new();
        let mut wrong = |path: String, message: String| errors.push(ConfigError { path, message });
        let Some(object) = config.as_object() else {
            wrong(String::new(), "expected an object with onVerificationFailed, onJobFailed and window".to_owned());
            return Err(errors);
        };
        for (key, value) in object {
            let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            match (key.as_str(), value.as_bool(), value.as_u64()) {
                ("onVerificationFailed", Some(flag), _) => rollback.on_verification_failed = flag,
                ("onJobFailed", Some(flag), _) => rollback.on_job_failed = flag,
                ("window", _, Some(window)) if window <= WINDOW_MAX => {
                    rollback.window = u32::try_from(window).unwrap_or(0);
                }
                ("onVerificationFailed" | "onJobFailed", ..) => {
                    wrong(path, format!("{value} is neither true nor false"));
                }
                ("window", ..) => wrong(path, format!("{value} is not a number of versions from 0 to {WINDOW_MAX}")),
                _ => {
                    let message = "is not known here, expected onVerificationFailed, onJobFailed or window";
                    wrong(path, format!("`{key}` {message}"));
                }
            }
        }
        if errors.is_empty() { Ok(rollback) } else { Err(errors) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn configurations() {
        assert_eq!(Rollback::parse(&json!({})), Ok(Rollback::default()));
        let all = json!({"onVerificationFailed": false, "onJobFailed": true, "window": 3});
        let expected = Rollback { on_verification_failed: false, on_job_failed: true, window: 3 };
        assert_eq!(Rollback::parse(&all), Ok(expected));
        let paths = |config| -> Vec<String> {
            Rollback::parse(&config).expect_err("wrong").into_iter().map(|error| error.path).collect()
        };
        assert_eq!(paths(json!({"window": -1, "onJobFailed": "yes"})), ["/window", "/onJobFailed"]);
        assert_eq!(paths(json!({"windw": 1})), ["/windw"]);
        assert_eq!(paths(json!([])), [""]);
    }
}
