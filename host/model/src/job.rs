//! A job: one attempt to carry a release out.

use crate::{
    Json, Labels,
    event::Subject,
    id::{JobAgentId, JobId, ReleaseId, VersionId, WorkspaceId},
    job_state::JobState,
    question::Intent,
    release_target::TargetKey,
    time::Timestamp,
    verification::Verified,
};

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Brings the version.
    Deploy,
    /// Takes traffic off.
    Drain,
    /// Removes the instance.
    Teardown,
}

impl JobKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Deploy, Self::Drain, Self::Teardown];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Drain => "drain",
            Self::Teardown => "teardown",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One attempt to carry a release out.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// What it carries out.
    pub release: ReleaseId,
    /// Where.
    pub target: TargetKey,
    /// Which version.
    pub version: VersionId,
    /// What it does.
    pub kind: JobKind,
    /// Who carries it out.
    pub agent: JobAgentId,
    /// Counts from 1 per (target, version).
    pub attempt: u32,
    /// Not offered before.
    pub available_at: Timestamp,
    /// Among jobs available at the same instant, high ones first.
    pub priority: i64,
    /// Lease of each claim, seconds.
    pub lease_seconds: i64,
    /// How long it may run in all, seconds.
    pub deadline_seconds: i64,
    /// Merged configuration for the executor.
    pub config: Json,
    /// The whole snapshot that an executor needs, but for the lease token.
    pub context: Json,
    /// What the outside system calls it.
    pub external_id: Option<String>,
    /// Named addresses for people.
    pub links: Labels,
    /// The last thing said of it.
    pub message: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Where it stands.
    pub state: JobState,
    /// Why it was made. A redeploy or a rollback begins a new series of attempts.
    pub intent: Intent,
    /// What became of its verification; nothing while that is open.
    pub verified: Option<Verified>,
}

impl Job {
    /// What an event about this job is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        Subject {
            version: Some(self.version),
            release: Some(self.release),
            job: Some(self.id),
            ..Subject::target(self.target)
        }
    }
}
