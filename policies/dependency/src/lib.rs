//! `deploymentDependency`: something else must run on the resource first.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod rule;

use condition::Cel;
use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct Dependency;

impl Policy for Dependency {
    type Config = Config;
    const NAME: &'static str = "dependency";
    const SUMMARY: &'static str = "Lets a version go once another deployment runs what it needs on the same resource.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::DEPENDENCIES;

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate(&Cel::HOST)
    }
}

impl Gate for Dependency {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        let target =
            request.target.as_ref().ok_or("a dependency is asked for one target (the rule's scope is wider)")?;
        let dependencies = request.facts.dependencies.as_deref().ok_or("the host gave no dependencies to look at")?;
        rule::decide(config, &Cel::HOST, &target.target.asset, dependencies)
    }
}

tidegate_policy::export!(gate: Dependency);
