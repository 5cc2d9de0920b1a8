//! `versionCooldown`: the next version follows no sooner than some time after the one that a target runs was made.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod rule;

use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct Cooldown;

impl Policy for Cooldown {
    type Config = Config;
    const NAME: &'static str = "cooldown";
    const SUMMARY: &'static str = "Lets versions follow one another on a target no faster than an interval.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate()
    }
}

impl Gate for Cooldown {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        let target = request.target.as_ref().ok_or("a cooldown is asked for one target (the rule's scope is wider)")?;
        Ok(rule::decide(config, request.now, request.intent, &request.candidate, target))
    }
}

tidegate_policy::export!(gate: Cooldown);
