//! `anyApproval`: enough different eligible people approved this version for this environment.
//! The rule itself is in [`rule`]; this is its glue to the interface.

pub mod config;
pub mod reason;
pub mod rule;

use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

pub use config::Config;

/// The policy.
pub struct Approval;

impl Policy for Approval {
    type Config = Config;
    const NAME: &'static str = "approval";
    const SUMMARY: &'static str = "Lets a version go once enough different eligible people have approved it.";
    const SCOPE: Scope = Scope::Environment;
    const FACTS: FactKinds = FactKinds::APPROVALS;

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        config.validate()
    }
}

impl Gate for Approval {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        let approvals = request.facts.approvals.as_deref().ok_or("the host gave no approvals to count")?;
        Ok(rule::decide(config, request.now, request.rule.created_at, &request.candidate, approvals))
    }
}

tidegate_policy::export!(gate: Approval);
