//! API keys and what their roles allow.

use crate::{
    id::{ApiKeyId, JobAgentId, WorkspaceId},
    time::Timestamp,
};

/// What a key may do in its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Reads everything but secrets.
    Viewer,
    /// Makes versions and redeploys.
    Developer,
    /// Approves and rejects.
    Approver,
    /// Skips, freezes, fails, tears down, runs the fleet.
    Operator,
    /// Writes policies and plugins.
    PolicyAuthor,
    /// Claims and reports jobs of one agent.
    Agent,
    /// Everything.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 7] =
        [Self::Viewer, Self::Developer, Self::Approver, Self::Operator, Self::PolicyAuthor, Self::Agent, Self::Admin];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Developer => "developer",
            Self::Approver => "approver",
            Self::Operator => "operator",
            Self::PolicyAuthor => "policy-author",
            Self::Agent => "agent",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether a key with this role may do what needs `needed`. Every role but agent may read.
    #[must_use]
    pub fn covers(self, needed: Self) -> bool {
        self == needed || self == Self::Admin || (needed == Self::Viewer && self != Self::Agent)
    }
}

/// A credential of the API. The secret itself is never kept, only its hash (in the store).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Where it is good.
    pub workspace: WorkspaceId,
    /// Who it stands for: the user named in approvals and events.
    pub user: String,
    /// Teams the user is in; approval rules count them.
    pub teams: Vec<String>,
    /// What it may do.
    pub role: Role,
    /// The one agent whose jobs an agent key may claim; `None` for any in the workspace.
    pub agent: Option<JobAgentId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

/// Who asks, as a checked credential says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Where the credential is good.
    pub workspace: WorkspaceId,
    /// Who it stands for.
    pub user: String,
    /// Teams the user is in, sorted.
    pub teams: Vec<String>,
    /// What it may do.
    pub role: Role,
    /// The one agent an agent key is for; `None` for any in the workspace.
    pub agent: Option<JobAgentId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_covers_what() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
            assert!(role.covers(role) && Role::Admin.covers(role));
            assert_eq!(role.covers(Role::Viewer), role != Role::Agent);
        }
        assert!(!Role::Developer.covers(Role::Approver));
    }
}
