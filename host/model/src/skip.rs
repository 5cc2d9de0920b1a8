//! A skip: a person bypasses one rule, or what is frozen, for one version.

use crate::{
    decision::DecisionScope,
    id::{FreezeId, PolicyId, RuleId, SkipId, VersionId, WorkspaceId},
    release_target::TargetKey,
    time::Timestamp,
};

/// What is bypassed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Skipped {
    /// One rule of one policy.
    Rule(PolicyId, RuleId),
    /// One freeze.
    Freeze(FreezeId),
}

/// A bypass, given by a person with a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// Its id.
    pub id: SkipId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// What is bypassed.
    pub skipped: Skipped,
    /// For which version.
    pub version: VersionId,
    /// Where.
    pub scope: DecisionScope,
    /// Who gave it.
    pub user: String,
    /// Why.
    pub reason: String,
    /// When it was given.
    pub created_at: Timestamp,
    /// When it ends by itself; at that instant it no longer holds.
    pub expires_at: Option<Timestamp>,
}

impl Skip {
    /// Whether it holds at `now` for that version at that target.
    #[must_use]
    pub fn covers(&self, version: VersionId, target: TargetKey, now: Timestamp) -> bool {
        self.version == version && self.scope.covers(target) && self.expires_at.is_none_or(|end| now < end)
    }
}
