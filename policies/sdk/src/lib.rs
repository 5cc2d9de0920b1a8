//! Write Tidegate policies in Rust.
//!
//! A policy is a type with a configuration ([`Policy`]) that rules on one hook or more ([`Gate`], [`Retry`],
//! [`Sequence`], [`Verify`]), and one line that exports it ([`export!`]):
//!
//! ```
//! use tidegate_policy::{FactKinds, Gate, Policy, Scope, gate};
//!
//! /// Which tags may go.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(rename_all = "camelCase", deny_unknown_fields)]
//! struct Config {
//!     /// What a tag must begin with.
//!     prefix: String,
//! }
//!
//! struct TagPrefix;
//!
//! impl Policy for TagPrefix {
//!     type Config = Config;
//!     const NAME: &'static str = "tag-prefix";
//!     const SUMMARY: &'static str = "Lets versions go whose tag begins with a prefix.";
//!     const SCOPE: Scope = Scope::Deployment;
//!     const FACTS: FactKinds = FactKinds::empty();
//! }
//!
//! impl Gate for TagPrefix {
//!     fn evaluate(config: &Config, request: &gate::Request) -> Result<gate::Decision, String> {
//!         let tag = &request.candidate.tag;
//!         Ok(if tag.starts_with(&config.prefix) {
//!             gate::Decision::allow(format!("tag {tag} begins with {}", config.prefix))
//!         } else {
//!             gate::Decision::deny(format!("tag {tag} does not begin with {}", config.prefix))
//!         })
//!     }
//! }
//!
//! tidegate_policy::export!(gate: TagPrefix);
//! # fn main() {}
//! ```
//!
//! Everything a policy may decide from is in its request. It has no clock, network, file or random source, and the
//! same request must always get the same answer. Nothing here talks to the host but [`log`] and [`cel`].
#![warn(missing_docs)]

mod answer;
#[doc(hidden)]
pub mod bindings;
pub mod cel;
mod config;
mod export;
pub mod log;
mod policy;
mod time;

pub use policy::{Gate, Policy, Retry, Sequence, Verify};
pub use time::{duration_text, instant_text};

pub use bindings::types::{
    Asset, ConfigError, Deployment, Environment, FactKinds, Hooks, Intent, Job, JobKind, JobStatus, ReleaseTarget,
    Rule, Scope, Timestamp, Version,
};

/// Request and answer of the gate hook.
pub mod gate {
    pub use crate::bindings::gate::exports::tidegate::policy::gate::{
        Approval, ApprovalDecision, Decision, Dependency, EnvironmentProgress, Facts, Request, RolloutPosition,
        StatusCount, TargetState, Verdict,
    };
}

/// Request and answer of the retry hook.
pub mod retry {
    pub use crate::bindings::retry::exports::tidegate::policy::retry::{Decision, Request};
}

/// Request and answer of the sequence hook.
pub mod sequence {
    pub use crate::bindings::sequence::exports::tidegate::policy::sequence::{Ready, Request, Running, Step};
}

/// Request and answer of the verify hook.
pub mod verify {
    pub use crate::bindings::verify::exports::tidegate::policy::verify::{Assessment, Measurement, Probe, Request};
}

/// What [`export!`] expands to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        bindings,
        export::{Exported, NamedHooks, check_gate, check_retry, check_sequence, check_verify},
    };
}
