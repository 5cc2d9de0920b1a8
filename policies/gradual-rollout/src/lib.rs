//! `gradualRollout`: the targets of an environment get a version one after another.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod rule;

use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct GradualRollout;

impl Policy for GradualRollout {
    type Config = Config;
    const NAME: &'static str = "gradual-rollout";
    const SUMMARY: &'static str = "Starts the targets of a rollout one after another, and stops when one fails.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::ROLLOUT_POSITION;

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate()
    }
}

impl Gate for GradualRollout {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        let target = request.target.as_ref().ok_or("a rollout is asked for one target (the rule's scope is wider)")?;
        if let Some(started) = rule::started(request.intent, &request.candidate, target) {
            return Ok(started);
        }
        let position = request.facts.rollout_position.as_ref().ok_or("the host gave no place in the rollout")?;
        rule::decide(config, request.now, position)
    }
}

tidegate_policy::export!(gate: GradualRollout);
