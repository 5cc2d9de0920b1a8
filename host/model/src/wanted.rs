//! What a person wants to be there: the content of an apply document or of a PUT, with names in place of ids.
//! Parsed and checked for shape (by manifest or api); names are resolved by the engine, in its transaction.

use crate::{
    Json, Labels,
    job_agent::AgentType,
    plugin::{PluginRef, Scope},
    policy::{OnError, Order, RuleKey, RuleMode},
    time::Timestamp,
};

/// One thing that should be there.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// A system.
    System(WantedSystem),
    /// A resource.
    Resource(WantedResource),
    /// A job agent.
    JobAgent(WantedJobAgent),
    /// An environment.
    Environment(WantedEnvironment),
    /// A deployment.
    Deployment(WantedDeployment),
    /// A policy.
    Policy(WantedPolicy),
    /// A freeze.
    Freeze(WantedFreeze),
}

impl Wanted {
    /// The type as it is written in a document.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::System(_) => "System",
            Self::Resource(_) => "Resource",
            Self::JobAgent(_) => "JobAgent",
            Self::Environment(_) => "Environment",
            Self::Deployment(_) => "Deployment",
            Self::Policy(_) => "Policy",
            Self::Freeze(_) => "Freeze",
        }
    }

    /// The name, or identifier, that is its key among things of its type.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::System(wanted) => &wanted.name,
            Self::Resource(wanted) => &wanted.identifier,
            Self::JobAgent(wanted) => &wanted.name,
            Self::Environment(wanted) => &wanted.name,
            Self::Deployment(wanted) => &wanted.name,
            Self::Policy(wanted) => &wanted.name,
            Self::Freeze(wanted) => &wanted.name,
        }
    }
}

/// A system that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedSystem {
    /// Its key.
    pub name: String,
    /// For people.
    pub description: String,
    /// Labels.
    pub metadata: Labels,
}

/// A resource that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedResource {
    /// Its key.
    pub identifier: String,
    /// Name for people.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Version of its kind's schema.
    pub version: String,
    /// Labels.
    pub metadata: Labels,
    /// What executors need to know.
    pub config: Json,
}

/// A job agent that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedJobAgent {
    /// Its key.
    pub name: String,
    /// How jobs reach it.
    pub agent_type: AgentType,
    /// What its executors are told.
    pub config: Json,
    /// Lease of its jobs, seconds; the default when absent.
    pub lease_seconds: Option<i64>,
}

/// An environment that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedEnvironment {
    /// Its key.
    pub name: String,
    /// For people.
    pub description: String,
    /// Systems it is linked to, by name.
    pub systems: Vec<String>,
    /// CEL over `resource`.
    pub resource_selector: String,
    /// Labels.
    pub metadata: Labels,
}

/// A deployment that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedDeployment {
    /// Its key.
    pub name: String,
    /// For people.
    pub description: String,
    /// Systems it is linked to, by name.
    pub systems: Vec<String>,
    /// CEL over `resource`.
    pub resource_selector: String,
    /// Its agent, by name.
    pub job_agent: Option<String>,
    /// Merged over the agent's configuration.
    pub job_agent_config: Json,
    /// How long a job may run in all, seconds; the default when absent.
    pub job_deadline_seconds: Option<i64>,
    /// Labels.
    pub metadata: Labels,
}

/// A policy that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedPolicy {
    /// Its key.
    pub name: String,
    /// For people.
    pub description: String,
    /// CEL over `deployment`, `environment`, `resource`.
    pub selector: String,
    /// High ones are asked first.
    pub priority: i64,
    /// A disabled one has no effect.
    pub enabled: bool,
    /// In order.
    pub rules: Vec<WantedRule>,
    /// Labels.
    pub metadata: Labels,
}

/// A rule that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedRule {
    /// The key it was written under.
    pub key: RuleKey,
    /// Which plugin.
    pub plugin: PluginRef,
    /// What it is told.
    pub config: Json,
    /// Whether its answers count.
    pub mode: RuleMode,
    /// What it means when it cannot answer.
    pub on_error: OnError,
    /// In place of the plugin's own scope.
    pub scope: Option<Scope>,
    /// Joined by or with the rules of its targets that have the same; without it, by and.
    pub any_of: Option<String>,
    /// Whether it holds a target that runs nothing yet.
    pub applies_to_first: bool,
    /// For a sequence: which of several versions goes next.
    pub order: Order,
}

/// A freeze that should be there.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedFreeze {
    /// Its key.
    pub name: String,
    /// CEL over `deployment`, `environment`, `resource`.
    pub selector: String,
    /// From when on; when it is first applied, when absent.
    pub start: Option<Timestamp>,
    /// Until when; until it is lifted, when absent.
    pub end: Option<Timestamp>,
    /// Why.
    pub reason: String,
}

/// Something wrong in what a person sent: where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// JSON Pointer (RFC 6901) into what was sent.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub message: String,
}
