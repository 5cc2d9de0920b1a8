//! A freeze: for some time nothing new is started where its selector matches. What runs goes on.

use crate::{
    id::{FreezeId, WorkspaceId},
    time::Timestamp,
};

/// A stretch of time in which nothing starts: `[starts_at, ends_at)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freeze {
    /// Its id.
    pub id: FreezeId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its name, unique among those in the workspace.
    pub name: String,
    /// CEL over `deployment`, `environment` and `resource`. One that fails to evaluate freezes.
    pub selector: String,
    /// From when on.
    pub starts_at: Timestamp,
    /// Until when; without it, until somebody lifts it.
    pub ends_at: Option<Timestamp>,
    /// Why.
    pub reason: String,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Freeze {
    /// Whether it holds at `now`.
    #[must_use]
    pub fn in_force(&self, now: Timestamp) -> bool {
        self.starts_at <= now && self.ends_at.is_none_or(|end| now < end)
    }

    /// When time alone changes whether it holds; nothing once it is over.
    #[must_use]
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        if now < self.starts_at { Some(self.starts_at) } else { self.ends_at.filter(|end| now < *end) }
    }
}
