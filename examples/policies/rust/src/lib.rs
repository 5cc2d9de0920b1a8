//! `ticket-required`: a version goes only if one of its labels names a change ticket.

mod rule;

use tidegate_policy::{ConfigError, FactKinds, Gate, Policy, Scope, gate};

/// Which label must name a ticket.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// The version's label that holds the ticket.
    #[serde(default = "default_label")]
    label: String,
    /// What a ticket begins with, such as `OPS-`.
    prefix: String,
}

fn default_label() -> String {
    "ticket".to_owned()
}

struct TicketRequired;

impl Policy for TicketRequired {
    type Config = Config;
    const NAME: &'static str = "ticket-required";
    const SUMMARY: &'static str = "Lets a version go only if one of its labels names a change ticket.";
    // The answer is the same everywhere, so the host asks once per deployment.
    const SCOPE: Scope = Scope::Deployment;
    const FACTS: FactKinds = FactKinds::empty();

    fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
        if config.prefix.is_empty() {
            let message = "is empty (expected what a ticket begins with, such as `OPS-`)".to_owned();
            return Err(vec![ConfigError { path: "/prefix".to_owned(), message }]);
        }
        Ok(())
    }
}

impl Gate for TicketRequired {
    fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
        Ok(rule::decide(&config.label, &config.prefix, &request.candidate.labels))
    }
}

tidegate_policy::export!(gate: TicketRequired);
