//! A release: one version on one target. Immutable but for being closed, once.

use crate::{
    Json,
    id::{ReleaseId, VersionId, WorkspaceId},
    release_target::TargetKey,
    time::Timestamp,
};

/// Why a release will not be started any more by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Closed {
    /// A newer version took its place.
    Superseded,
    /// It ran there, and another version runs there now.
    Replaced,
    /// Somebody withdrew it.
    Cancelled,
    /// It failed there, and a rule went back to what ran before.
    RolledBack,
}

impl Closed {
    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Superseded => "superseded",
            Self::Replaced => "replaced",
            Self::Cancelled => "cancelled",
            Self::RolledBack => "rolled_back",
        }
    }

    /// The reason of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Superseded, Self::Replaced, Self::Cancelled, Self::RolledBack]
            .into_iter()
            .find(|closed| closed.name() == name)
    }
}

/// One version on one target: the intent, made when the version is ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// Its id.
    pub id: ReleaseId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Where.
    pub target: TargetKey,
    /// What.
    pub version: VersionId,
    /// Resolved variables; frozen when the release first passes its gates.
    pub variables: Option<Json>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether it is still open, and if not since when and why.
    pub closed: Option<(Closed, Timestamp)>,
    /// Its place in a gradual rollout, once it has one.
    pub rollout: Option<RolloutPlace>,
}

/// A release's place in the rollout of its version over its deployment and environment. Never moves earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutPlace {
    /// From 0.
    pub index: u32,
    /// Targets of the rollout, as counted when the place was given.
    pub total: u32,
    /// When the rollout began for it: the latest moment at which another rule of the target was satisfied.
    pub started_at: Option<Timestamp>,
}
