//! A deployment: what is deployed, where it may go and who carries it out.

use crate::{
    Json, Labels,
    id::{DeploymentId, JobAgentId, SystemId, WorkspaceId},
    time::Timestamp,
};

/// What is deployed.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    /// Its id.
    pub id: DeploymentId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its name, unique in the workspace.
    pub name: String,
    /// For people.
    pub description: String,
    /// Systems it is linked to, sorted.
    pub systems: Vec<SystemId>,
    /// CEL over `resource`; where it may go.
    pub resource_selector: String,
    /// Who carries its jobs out. Without one releases are made but no jobs.
    pub job_agent: Option<JobAgentId>,
    /// Merged over the agent's own configuration.
    pub job_agent_config: Json,
    /// How long a job may run in all, seconds.
    pub job_deadline_seconds: i64,
    /// Labels.
    pub metadata: Labels,
    /// When it was made.
    pub created_at: Timestamp,
}
