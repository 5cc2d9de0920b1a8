//! An approval: one person's word on a version in an environment.

use crate::{
    id::{ApprovalId, EnvironmentId, VersionId, WorkspaceId},
    time::Timestamp,
};

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalDecision {
    /// It may go.
    Approved,
    /// It may not, until this is withdrawn.
    Rejected,
}

impl ApprovalDecision {
    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }

    /// The decision of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Approved, Self::Rejected].into_iter().find(|decision| decision.name() == name)
    }
}

/// One person's word; at most one of each person stands for a version in an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// What is approved.
    pub version: VersionId,
    /// For where.
    pub environment: EnvironmentId,
    /// Who said it.
    pub user: String,
    /// Teams held when it was said, sorted.
    pub roles_then: Vec<String>,
    /// Teams held now, sorted.
    pub roles_now: Vec<String>,
    /// Yes or no.
    pub decision: ApprovalDecision,
    /// When it was said.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}
