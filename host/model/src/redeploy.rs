//! A redeploy: a person wants a version started again on a target. It waits until every gate lets it go.

use crate::{
    id::{ReleaseId, VersionId, WorkspaceId},
    release_target::TargetKey,
    time::Timestamp,
};

/// A redeploy that no job serves yet. At most one waits for a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redeploy {
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Where.
    pub target: TargetKey,
    /// Which release.
    pub release: ReleaseId,
    /// The version of that release.
    pub version: VersionId,
    /// Who wants it.
    pub user: String,
    /// Why.
    pub reason: String,
    /// When it was asked for.
    pub requested_at: Timestamp,
}
