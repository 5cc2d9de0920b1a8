//! What a planning pass wants done. A plan leaves its executor no choice: steps are applied in order, as they stand.

use crate::{
    decision::Decision,
    event::NewEvent,
    hold::Hold,
    id::{JobId, ReleaseId},
    job::Job,
    release::{Closed, Release, RolloutPlace},
    release_target::TargetKey,
    time::Timestamp,
    verification::{Measurement, Verified},
};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A target that the selectors newly match (or match again).
    AttachTarget(TargetKey),
    /// A target that they no longer match.
    DetachTarget(TargetKey),
    /// A version may go to a target.
    CreateRelease(Release),
    /// A release will not be started any more by itself.
    CloseRelease(ReleaseId, Closed),
    /// What a target should run; nothing when what it was to run was rejected before it came there.
    SetDesired(TargetKey, Option<ReleaseId>),
    /// What a target runs.
    SetCurrent(TargetKey, ReleaseId),
    /// Another decision than before.
    RecordDecision(Decision),
    /// An attempt starts.
    CreateJob(Job),
    /// A job is called off: one that nobody works on ends, one that runs is asked.
    CancelJob(JobId, String),
    /// A job that nobody has taken is withdrawn, since a gate closed again.
    WithdrawJob(JobId, String),
    /// What became of a job's verification, and what was seen.
    SettleVerification(JobId, Verified, String),
    /// A metric is to be measured.
    Measure(Measurement),
    /// A release's place in a rollout: set where it has none, its start likewise.
    PlaceInRollout(ReleaseId, RolloutPlace),
    /// A rollback holds a target from now on.
    Hold(Hold),
    /// A rollback no longer holds a target.
    EndHold(TargetKey),
    /// A redeploy is served by a job, or overtaken.
    FinishRedeploy(TargetKey),
}

/// What a pass wants done.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Plan {
    /// In order.
    pub steps: Vec<Step>,
    /// What to write into the audit trail with them.
    pub events: Vec<NewEvent>,
    /// When time alone may change the outcome.
    pub next_evaluation: Option<Timestamp>,
    /// Whether what other deployments run was looked at: then a change there makes this due.
    pub looks_at_dependencies: bool,
}
