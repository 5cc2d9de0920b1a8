//! One release target during a pass: what is known of it, and how far the search for its version is.

use std::{collections::BTreeMap, sync::Arc};

use model::{
    hold::Hold,
    id::{ReleaseId, VersionId},
    job::{Job, JobKind},
    job_state::{FinalStatus, JobState},
    question::{Intent, JobFacts},
    release_target::{ReleaseTarget, TargetState},
    time::Timestamp,
    verification::Verified,
};

use crate::{retries::Retry, rules::RuleSet, verify::Verdicts};

/// A target that exists, attached or not.
pub struct Target {
    pub target: Arc<ReleaseTarget>,
    /// As it was read; a new target starts empty and attached.
    pub state: TargetState,
    /// Whether the store knows it already.
    pub is_new: bool,
    /// Whether the selectors match now.
    pub attached: bool,
    /// Rules that govern it.
    pub rules: Arc<RuleSet>,
    /// Its deploy jobs that were not withdrawn, oldest first, as indexes into the snapshot.
    pub jobs: Vec<usize>,
    /// Index of the version it runs (after this pass has taken finished jobs into account).
    pub current: Option<usize>,
    /// Release of `current`.
    pub current_release: Option<ReleaseId>,
    /// Index of the version that it should run as it was read, unless that was withdrawn before it came there.
    pub desired: Option<usize>,
    /// Index of the version that an agent works on, or whose success is being verified.
    pub in_progress: Option<usize>,
    /// The job that has not ended, as an index into the snapshot.
    pub active_job: Option<usize>,
    /// The job whose success is being verified, as an index into the snapshot, and what is missing.
    pub verifying: Option<(usize, String)>,
    /// The rollback that holds it, after this pass has taken what failed into account.
    pub hold: Option<Hold>,
    /// A version that a person wants started again.
    pub redeploy: Option<usize>,
    /// Versions whose last attempt here failed, and whether there is another.
    pub retries: BTreeMap<usize, Retry>,
    /// How far the search is.
    pub search: Search,
    /// Why the chosen version goes.
    pub intent: Intent,
    /// Versions that were looked at, newest first.
    pub considered: Vec<usize>,
    /// What becomes of the chosen version.
    pub next: Next,
}

/// The search: first what a person wants started again, then from the newest version to the one that the target runs,
/// and where a rollback holds the target, what it is held on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// A person wants this one started again.
    Redeploy(usize),
    /// The version with this index comes next. In a queue, the oldest so far that may go.
    At(usize, Option<usize>),
    /// The target is held on this one.
    Held(usize),
    /// Ended: at the version that may go, or at none.
    Settled(Option<usize>),
}

/// What becomes of the chosen version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing is to be done, or not decided yet.
    Nothing,
    /// A job may be made, as far as this target alone is concerned.
    Ready { attempt: u32, since: Timestamp },
    /// A job is made.
    Start { attempt: u32 },
    /// Something else must happen first.
    Wait { reason: String, until: Option<Timestamp> },
    /// The version ended here.
    GaveUp { reason: String },
}

impl Target {
    /// The version chosen by the search.
    pub fn chosen(&self) -> Option<usize> {
        match self.search {
            Search::Settled(chosen) => chosen,
            Search::Redeploy(_) | Search::At(..) | Search::Held(_) => None,
        }
    }

    /// Notes that a version was looked at; whether that is new.
    pub fn consider(&mut self, version: usize) -> bool {
        match self.considered.binary_search(&version) {
            Ok(_) => false,
            Err(place) => {
                self.considered.insert(place, version);
                true
            }
        }
    }
}

/// Attempts at one version that count, oldest first: those since its last good success, and of what a person or a
/// rollback started anew only that.
pub fn attempts(jobs: &[Job], of_target: &[usize], version: VersionId, verdicts: &Verdicts) -> Vec<JobFacts> {
    let mut attempts = Vec::new();
    for job in of_target.iter().map(|index| &jobs[*index]).filter(|job| job.version == version) {
        if matches!(job.intent, Intent::Redeploy | Intent::Rollback) {
            attempts.clear();
        }
        attempts.push(job_facts(job));
        let is_over = match verdicts.of(job) {
            Some(Verified::NotAsked | Verified::Passed | Verified::Abandoned) => true,
            Some(Verified::Failed) | None => false,
        };
        if ended_as(job) == Some(FinalStatus::Completed) && is_over {
            attempts.clear();
        }
    }
    attempts
}

/// How a job ended, if it did.
pub fn ended_as(job: &Job) -> Option<FinalStatus> {
    match &job.state {
        JobState::Ended { status, .. } => Some(*status),
        JobState::Pending
        | JobState::Queued { .. }
        | JobState::Offered { .. }
        | JobState::Triggered { .. }
        | JobState::Running { .. } => None,
    }
}

/// Whether somebody has the job in hand, so that it must be let end.
pub fn in_hand(job: &Job) -> bool {
    match &job.state {
        JobState::Offered { .. } | JobState::Triggered { .. } | JobState::Running { .. } => true,
        JobState::Pending | JobState::Queued { .. } | JobState::Ended { .. } => false,
    }
}

/// Whether the job brings a version and counts as an attempt: a withdrawn one never started.
pub fn is_attempt(job: &Job) -> bool {
    job.kind == JobKind::Deploy && ended_as(job) != Some(FinalStatus::Skipped)
}

/// A job as policies see it.
pub fn job_facts(job: &Job) -> JobFacts {
    JobFacts {
        id: job.id,
        kind: job.kind,
        version: job.version,
        status: job.state.status(),
        attempt: job.attempt,
        created_at: job.created_at,
        started_at: job.state.started_at(),
        completed_at: job.state.ended_at(),
        message: job.message.clone(),
    }
}
