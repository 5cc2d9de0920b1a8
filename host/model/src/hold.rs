//! A hold: a rollback keeps a target on one release, whatever newer versions may come there.

use crate::{
    id::{ReleaseId, VersionId, WorkspaceId},
    release_target::TargetKey,
    time::Timestamp,
};

/// What keeps a target where it is. Applying manifests again, a restart or another plan does not end it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Which target.
    pub target: TargetKey,
    /// The release that it is held on.
    pub release: ReleaseId,
    /// The version of that release.
    pub version: VersionId,
    /// Who or what holds it.
    pub by: HeldBy,
    /// How many verified versions back, counted on the target from what ran before the one rolled back from: 1 is the
    /// last good one. 0 when the version never ran there with success.
    pub steps_back: u32,
    /// Why.
    pub reason: String,
    /// Since when. A job of the release made after this carries the rollback out.
    pub since: Timestamp,
    /// When what it was held on failed as well: nothing more is tried, and somebody must look.
    pub failed_at: Option<Timestamp>,
}

/// Who or what holds a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldBy {
    /// A rule: until a version newer than the one that failed may go, or a person resumes.
    Rule {
        /// The version that failed.
        failed: VersionId,
    },
    /// A person: until a person resumes, whatever arrives.
    Person {
        /// Who.
        user: String,
    },
}
