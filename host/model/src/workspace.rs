//! A workspace: the tenant that everything else belongs to.

use crate::{id::WorkspaceId, time::Timestamp};

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Short name in addresses, unique on the server.
    pub slug: String,
    /// Name for people.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}
