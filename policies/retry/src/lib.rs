//! `retry`: another attempt after a failed one, later each time.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod backoff;
pub mod config;
pub mod rule;

use tidegate_policy::{ConfigError, FactKinds, Policy, Scope, retry};

pub use config::Config;

/// The policy.
pub struct Retry;

impl Policy for Retry {
    type Config = Config;
    const NAME: &'static str = "retry";
    const SUMMARY: &'static str = "Tries a failed job again, up to a number of times and later each time.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate()
    }
}

impl tidegate_policy::Retry for Retry {
    fn decide(config: &Config, request: &retry::Request) -> Result<retry::Decision, String> {
        let seed = backoff::seed(&[&request.rule.id, &request.target.id, &request.version.id]);
        rule::decide(config, request.now, &request.attempts, seed)
    }
}

tidegate_policy::export!(retry: Retry);
