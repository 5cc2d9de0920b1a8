//! Why a command was refused. What is expected of agents and people is told apart from a failing store.

use model::{
    id::{JobAgentId, JobId},
    job_state::{IllegalTransition, JobStatus},
    time::Timestamp,
};
use store::StoreError;

/// Why nothing could be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// There is no such agent in the caller's workspace.
    #[error("no job agent `{0}`")]
    UnknownAgent(JobAgentId),
    /// There is no such job for the agent.
    #[error("no job `{0}` for this agent")]
    UnknownJob(JobId),
    /// The caller's key is for another agent.
    #[error("this key is for job agent `{0}` only")]
    OtherAgent(JobAgentId),
    /// Another has the job, or it has ended.
    #[error("the job is `{}`{}, not free to claim", status.name(), held_by(holder.as_ref()))]
    NotFree {
        /// Where it stands.
        status: JobStatus,
        /// Who has it, and since when.
        holder: Option<(String, Timestamp)>,
    },
    /// It may not be claimed before.
    #[error("the job may not be claimed before {0}")]
    NotYet(Timestamp),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why what an agent said was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such job in the caller's workspace.
    #[error("no job `{0}`")]
    UnknownJob(JobId),
    /// The caller's key is for another agent.
    #[error("this key is for job agent `{0}` only")]
    OtherAgent(JobAgentId),
    /// Whoever speaks of a job must show the token it was handed with it.
    #[error("a lease token is required: the one that came with the job")]
    TokenRequired,
    /// The token does not hold any more, if it ever did. What was said is kept as evidence and changes nothing.
    #[error("the lease token does not hold: the job is `{}`{}", status.name(), held_by(holder.as_ref()))]
    StaleLease {
        /// Where the job stands.
        status: JobStatus,
        /// Who holds it now, or another job on its target, and since when.
        holder: Option<(String, Timestamp)>,
    },
    /// Something else was already reported as the end under this token.
    #[error("another result was already reported under this lease token: the job is `{}`", .0.name())]
    OtherResult(JobStatus),
    /// The job's status does not allow it.
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a job could not be called off.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// There is no such job in the caller's workspace.
    #[error("no job `{0}`")]
    UnknownJob(JobId),
    /// It has ended.
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn held_by(holder: Option<&(String, Timestamp)>) -> String {
    holder.map(|(node, since)| format!(", held by node `{node}` since {since}")).unwrap_or_default()
}
