//! A job agent: a named executor.

use crate::{
    Json,
    id::{JobAgentId, WorkspaceId},
    time::Timestamp,
};

/// How jobs reach an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentType {
    /// The agent asks for its jobs.
    Pull,
    /// In a simulation the scenario says what becomes of its jobs; on a server it asks for them, as pull does.
    Simulated,
}

impl AgentType {
    /// Every type.
    pub const ALL: [Self; 2] = [Self::Pull, Self::Simulated];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Simulated => "simulated",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent_type| agent_type.name() == name)
    }
}

/// A named executor.
#[derive(Debug, Clone, PartialEq)]
pub struct JobAgent {
    /// Its id.
    pub id: JobAgentId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its name, unique in the workspace.
    pub name: String,
    /// How jobs reach it.
    pub agent_type: AgentType,
    /// What its executors are told, under the deployment's and the version's.
    pub config: Json,
    /// Lease of its jobs, seconds.
    pub lease_seconds: i64,
    /// When it was made.
    pub created_at: Timestamp,
}
