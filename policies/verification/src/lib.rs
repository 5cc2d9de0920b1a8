//! `verification`: measurements of what a job deployed, and what they mean.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod metric;
pub mod provider;
pub mod rule;
pub mod trigger;

use condition::Cel;
use tidegate_policy::{ConfigError, FactKinds, Policy, Scope, Verify, verify};

pub use config::Config;

/// The policy.
pub struct Verification;

impl Policy for Verification {
    type Config = Config;
    const NAME: &'static str = "verification";
    const SUMMARY: &'static str = "Measures what a job deployed, and tells whether it is healthy.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate(&Cel::HOST)
    }
}

impl Verify for Verification {
    fn probes(config: &Config) -> Result<Vec<verify::Probe>, String> {
        Ok(rule::probes(config))
    }

    fn assess(config: &Config, request: &verify::Request) -> Result<verify::Assessment, String> {
        rule::assess(config, &Cel::HOST, request.now, &request.job, &request.measurements)
    }
}

tidegate_policy::export!(verify: Verification);
