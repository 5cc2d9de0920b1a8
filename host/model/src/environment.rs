//! An environment: a stage, and the resources that belong to it.

use crate::{
    Labels,
    id::{EnvironmentId, SystemId, WorkspaceId},
    time::Timestamp,
};

/// A stage with a resource selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Its id.
    pub id: EnvironmentId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its name, unique in the workspace.
    pub name: String,
    /// For people.
    pub description: String,
    /// Systems it is linked to, sorted.
    pub systems: Vec<SystemId>,
    /// CEL over `resource`; which resources belong to it.
    pub resource_selector: String,
    /// Labels.
    pub metadata: Labels,
    /// When it was made.
    pub created_at: Timestamp,
}
