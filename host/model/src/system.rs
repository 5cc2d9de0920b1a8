//! A system: groups deployments and environments; both can be linked to several.

use crate::{
    Labels,
    id::{SystemId, WorkspaceId},
    time::Timestamp,
};

/// A group of deployments and environments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// Its id.
    pub id: SystemId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its name, unique in the workspace.
    pub name: String,
    /// For people.
    pub description: String,
    /// Labels.
    pub metadata: Labels,
    /// When it was made.
    pub created_at: Timestamp,
}
