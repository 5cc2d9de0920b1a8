//! `versionSelector`: only versions for which a condition is true.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod rule;

use condition::Cel;
use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct VersionSelector;

impl Policy for VersionSelector {
    type Config = Config;
    const NAME: &'static str = "version-selector";
    const SUMMARY: &'static str = "Lets only those versions go for which a condition is true.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate(&Cel::HOST)
    }
}

impl Gate for VersionSelector {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        let resource = request.target.as_ref().map(|state| &state.target.asset);
        let environment = request.environment.as_ref().or(request.target.as_ref().map(|s| &s.target.environment));
        let place = rule::Place { deployment: &request.deployment, environment, resource };
        rule::decide(config, &Cel::HOST, &request.candidate, &place)
    }
}

tidegate_policy::export!(gate: VersionSelector);
