//! A resource: a place things can run (cluster, machine, account, tenant).

use crate::{
    Json, Labels,
    id::{ResourceId, WorkspaceId},
    time::Timestamp,
};

/// A place things can run.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its id; a resource deleted and made again under the same identifier has a new one.
    pub id: ResourceId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its own key, unique in the workspace.
    pub identifier: String,
    /// Name for people.
    pub name: String,
    /// What it is, such as `Cluster`.
    pub kind: String,
    /// Version of its kind's schema.
    pub version: String,
    /// Labels.
    pub metadata: Labels,
    /// Whatever executors need to know of it.
    pub config: Json,
    /// When it was made.
    pub created_at: Timestamp,
}
