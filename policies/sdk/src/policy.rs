//! What a policy author implements: [`Policy`], and a trait per hook.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{ConfigError, FactKinds, Scope, gate, retry, sequence, verify};

/// What every policy says of itself.
pub trait Policy {
    /// A rule's configuration. Its JSON Schema is what people see when they get it wrong, so document the fields,
    /// rename them to camelCase and deny unknown ones.
    type Config: DeserializeOwned + JsonSchema;

    /// Its name.
    const NAME: &'static str;
    /// One sentence.
    const SUMMARY: &'static str;
    /// How far one answer reaches unless the rule says otherwise.
    const SCOPE: Scope;
    /// What the host must gather before it asks.
    const FACTS: FactKinds;

    /// Checks what types and schema cannot. Paths are JSON Pointers such as `/minApprovals`.
    ///
    /// # Errors
    /// Whatever is wrong with the configuration, all of it.
    fn validate(_config: &Self::Config) -> Result<(), Vec<ConfigError>> {
        Ok(())
    }
}

/// May this version go to this target now?
pub trait Gate: Policy {
    /// The answer to one request.
    ///
    /// # Errors
    /// A policy that cannot tell says why; the rule then blocks.
    fn evaluate(config: &Self::Config, request: &gate::Request) -> Result<gate::Decision, String>;
}

/// A job ended without success: is there another attempt, and when?
pub trait Retry: Policy {
    /// The answer to one request.
    ///
    /// # Errors
    /// A policy that cannot tell says why; there is then no other attempt.
    fn decide(config: &Self::Config, request: &retry::Request) -> Result<retry::Decision, String>;
}

/// Releases wait and jobs run side by side: which start, which wait, which are stopped?
pub trait Sequence: Policy {
    /// The answer to one request: exactly one start or hold for every ready release.
    ///
    /// # Errors
    /// A policy that cannot tell says why; nothing then starts.
    fn plan(config: &Self::Config, request: &sequence::Request) -> Result<Vec<sequence::Step>, String>;
}

/// A job succeeded: is what it deployed healthy?
pub trait Verify: Policy {
    /// What the host is to measure.
    ///
    /// # Errors
    /// A policy that cannot tell says why.
    fn probes(config: &Self::Config) -> Result<Vec<verify::Probe>, String>;

    /// What the measurements so far mean.
    ///
    /// # Errors
    /// A policy that cannot tell says why; the release then counts as not verified.
    fn assess(config: &Self::Config, request: &verify::Request) -> Result<verify::Assessment, String>;
}
