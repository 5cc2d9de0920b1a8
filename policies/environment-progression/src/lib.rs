//! `environmentProgression`: a version goes on once it has done well in an environment before.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod percentage;
pub mod reason;
pub mod rule;

use condition::Cel;
use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct EnvironmentProgression;

impl Policy for EnvironmentProgression {
    type Config = Config;
    const NAME: &'static str = "environment-progression";
    const SUMMARY: &'static str = "Lets a version go once it has succeeded in another environment, for long enough.";
    const SCOPE: Scope = Scope::Environment;
    const FACTS: FactKinds = FactKinds::ENVIRONMENT_PROGRESS;

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate(&Cel::HOST)
    }
}

impl Gate for EnvironmentProgression {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        let progress = request.facts.environment_progress.as_deref().ok_or("the host gave no progress to look at")?;
        let of_target = request.target.as_ref().map(|state| &state.target.environment);
        let own = request.environment.as_ref().or(of_target);
        rule::decide(config, &Cel::HOST, request.now, &request.candidate, own, progress)
    }
}

tidegate_policy::export!(gate: EnvironmentProgression);
