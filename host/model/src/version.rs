//! A version: one build of a deployment, as CI reported it.

use crate::{
    Json, Labels,
    id::{DeploymentId, VersionId, WorkspaceId},
    time::Timestamp,
};

/// How far a version is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VersionStatus {
    /// Nothing was said.
    Unspecified,
    /// Still being built.
    Building,
    /// May be released.
    Ready,
    /// Its build failed.
    Failed,
    /// Somebody said no; it is never selected.
    Rejected,
    /// Stays where it is and goes nowhere else.
    Paused,
}

impl VersionStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Unspecified, Self::Building, Self::Ready, Self::Failed, Self::Rejected, Self::Paused];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Building => "building",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Paused => "paused",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// One build of a deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its id.
    pub id: VersionId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// The deployment it is of.
    pub deployment: DeploymentId,
    /// Unique in the deployment, such as `v1.4.2`.
    pub tag: String,
    /// Name for people.
    pub name: String,
    /// Whatever rules and executors need to know of it.
    pub config: Json,
    /// Merged over the deployment's.
    pub job_agent_config: Json,
    /// Labels.
    pub metadata: Labels,
    /// How far it is.
    pub status: VersionStatus,
    /// When it was made, as its creator said.
    pub created_at: Timestamp,
    /// When the server first saw it.
    pub received_at: Timestamp,
    /// When it first became ready.
    pub ready_at: Option<Timestamp>,
    /// Who made it.
    pub created_by: Option<String>,
}

impl Version {
    /// The instant that places a version among its siblings: a creator's clock that runs ahead does not count.
    #[must_use]
    pub fn ordered_at(&self) -> Timestamp {
        self.created_at.min(self.received_at)
    }

    /// Orders versions from old to new. Total: ids settle ties.
    #[must_use]
    pub fn age_key(&self) -> (Timestamp, VersionId) {
        (self.ordered_at(), self.id)
    }
}
