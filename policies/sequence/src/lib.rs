//! `releaseSequencing`: which ready releases start, and which wait their turn.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod rule;

use tidegate_policy::{ConfigError, FactKinds, Policy, Scope, sequence};

pub use config::Config;

/// The policy.
pub struct Sequence;

impl Policy for Sequence {
    type Config = Config;
    const NAME: &'static str = "sequence";
    const SUMMARY: &'static str = "Bounds how many jobs of a group run at once, and in which order releases start.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate()
    }
}

impl tidegate_policy::Sequence for Sequence {
    fn plan(config: &Config, request: &sequence::Request) -> Result<Vec<sequence::Step>, String> {
        Ok(rule::plan(config, request.targets, &request.ready, &request.running))
    }
}

tidegate_policy::export!(sequence: Sequence);
