//! `deploymentWindow`: releases start only when a window is open, or never while one is.
//! The rule itself is in [`rule`]; this is its glue to the interface.
//!
//! From the inside out: [`recurrence`] finds local times, [`zone`] and [`schedule`] make instants of them, [`stretch`]
//! joins what overlaps, [`window`] reads a configuration, [`rule`] decides, [`reason`] tells why, and [`warning`] says
//! what may surprise.

pub mod config;
pub mod length;
pub mod moment;
pub mod reason;
pub mod recurrence;
pub mod rule;
pub mod schedule;
pub mod stretch;
pub mod validate;
pub mod warning;
pub mod window;
pub mod zone;

use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct DeploymentWindow;

impl Policy for DeploymentWindow {
    type Config = Config;
    const NAME: &'static str = "window";
    const SUMMARY: &'static str =
        "Lets releases start only inside recurring or one-off time windows, or only outside them.";
    const SCOPE: Scope = Scope::Deployment;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        validate::validate(config)
    }
}

impl Gate for DeploymentWindow {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        rule::decide(config, request.now, request.rule.created_at, &request.candidate)
    }
}

tidegate_policy::export!(gate: DeploymentWindow);
