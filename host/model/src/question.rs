//! What the host asks a plugin, and what a plugin may answer. One record per hook, in domain types: `planner` makes
//! the questions, `plugins` turns them into the records of whichever interface version a component speaks.

use std::sync::Arc;

use crate::{
    Json,
    approval::Approval,
    decision::GateAnswer,
    deployment::Deployment,
    environment::Environment,
    id::{JobId, ReleaseId, VersionId},
    job::JobKind,
    job_state::JobStatus,
    plugin::{Digest, Fault},
    policy::Rule,
    release_target::ReleaseTarget,
    time::Timestamp,
    version::Version,
};

/// One question to one plugin.
#[derive(Debug, Clone)]
pub struct Question {
    /// Which component.
    pub digest: Digest,
    /// The instant that the pass takes as now.
    pub now: Timestamp,
    /// The rule that asks.
    pub rule: Arc<Rule>,
    /// What.
    pub ask: Ask,
}

/// What is asked, by hook.
#[derive(Debug, Clone)]
pub enum Ask {
    /// May this version go?
    Gate(Box<GateRequest>),
    /// Is there another attempt?
    Retry(Box<RetryRequest>),
    /// Which start, which wait?
    Sequence(Box<SequenceRequest>),
    /// Is it healthy?
    Verify(Box<VerifyRequest>),
}

/// What a plugin said, in the order of the questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// To a gate.
    Gate(GateAnswer),
    /// To a retry.
    Retry(RetryAnswer),
    /// To a sequence.
    Sequence(Vec<SequenceStep>),
    /// To a verification.
    Verify(Assessment),
    /// It did not answer.
    Fault(Fault),
}

/// Why a gate is asked, and a job made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Intent {
    /// By the planner alone.
    Automatic,
    /// For another attempt.
    Retry,
    /// A person said so.
    Redeploy,
    /// A person or a verification said so.
    Rollback,
}

impl Intent {
    /// Every intent.
    pub const ALL: [Self; 4] = [Self::Automatic, Self::Retry, Self::Redeploy, Self::Rollback];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Retry => "retry",
            Self::Redeploy => "redeploy",
            Self::Rollback => "rollback",
        }
    }

    /// The intent of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.name() == name)
    }
}

/// May this version go to this target (or everywhere in this scope) now?
#[derive(Debug, Clone)]
pub struct GateRequest {
    /// Why it is asked.
    pub intent: Intent,
    /// The version in question.
    pub candidate: Arc<Version>,
    /// Of which deployment.
    pub deployment: Arc<Deployment>,
    /// Absent where the scope is wider.
    pub environment: Option<Arc<Environment>>,
    /// Absent where the scope is wider.
    pub target: Option<TargetFacts>,
    /// Approvals of the candidate for the environment, by time; absent unless asked for.
    pub approvals: Option<Arc<[Approval]>>,
    /// Jobs of the target, newest first; absent unless asked for.
    pub target_jobs: Option<Arc<[JobFacts]>>,
    /// Versions of the deployment, newest first; absent unless asked for.
    pub version_history: Option<Arc<[Arc<Version>]>>,
    /// How the candidate stands in environments that share a system, by name; absent unless asked for.
    pub environment_progress: Option<Arc<[EnvironmentProgress]>>,
    /// What other deployments run on the resource, by name; absent unless asked for.
    pub dependencies: Option<Arc<[Dependency]>>,
    /// The target's place in the rollout; absent unless asked for.
    pub rollout_position: Option<RolloutPosition>,
}

/// How a version stands in one environment.
#[derive(Debug, Clone)]
pub struct EnvironmentProgress {
    /// Which.
    pub environment: Arc<Environment>,
    /// Its targets.
    pub targets: u32,
    /// Targets by the status of the version's latest job there; a target without one is in none.
    pub statuses: Vec<StatusCount>,
    /// The most recent success.
    pub last_success_at: Option<Timestamp>,
}

/// Targets whose latest job stands so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusCount {
    /// How it stands.
    pub status: JobStatus,
    /// How many.
    pub targets: u32,
    /// Of them those whose verification passed, or that have none.
    pub of_them_verified: u32,
}

/// What another deployment runs on a resource.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// Which deployment.
    pub deployment: Arc<Deployment>,
    /// In which environment.
    pub environment: Arc<Environment>,
    /// What it runs there.
    pub current: Option<Arc<Version>>,
}

/// A target's place in the rollout of a version over its deployment and environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutPosition {
    /// Its place, from 0.
    pub index: u32,
    /// Targets of the rollout, as counted when the place was given.
    pub total: u32,
    /// Its place among those that have not started, from 0.
    pub pending_index: u32,
    /// When the rollout began.
    pub started_at: Timestamp,
    /// The last start.
    pub last_start_at: Option<Timestamp>,
    /// Targets whose job or verification failed for good.
    pub failed: u32,
    /// Started and not yet verified.
    pub unverified: u32,
}

/// Is what a job deployed healthy?
#[derive(Debug, Clone)]
pub struct VerifyRequest {
    /// Where.
    pub target: Arc<ReleaseTarget>,
    /// Which version.
    pub version: Arc<Version>,
    /// The job.
    pub job: JobFacts,
    /// What was measured for this rule, oldest first.
    pub measurements: Vec<Measured>,
}

/// One measurement as a policy sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Of which metric.
    pub metric: String,
    /// When it was taken.
    pub at: Timestamp,
    /// What was seen, or why nothing could be.
    pub value: Result<Json, String>,
}

/// What a policy makes of measurements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assessment {
    /// It is well.
    Healthy,
    /// It is not, and what was seen.
    Unhealthy(String),
    /// These metrics are to be measured, each no sooner than its time. None: it has not begun.
    Measure(Vec<(String, Timestamp)>),
}

/// What the host is to measure for a rule: one of its providers, with that provider's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Which metric.
    pub metric: String,
    /// The provider's name.
    pub provider: String,
    /// What it needs to know.
    pub config: Json,
}

/// A target as a gate sees it.
#[derive(Debug, Clone)]
pub struct TargetFacts {
    /// Where.
    pub target: Arc<ReleaseTarget>,
    /// What it runs.
    pub current: Option<Arc<Version>>,
    /// What a job brings.
    pub in_progress: Option<Arc<Version>>,
}

/// A job as a policy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFacts {
    /// Its id.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// Which version.
    pub version: VersionId,
    /// Where it stands.
    pub status: JobStatus,
    /// Counts from 1.
    pub attempt: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When an agent began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The last thing said of it.
    pub message: String,
}

/// A job ended without success: is there another attempt, and when?
#[derive(Debug, Clone)]
pub struct RetryRequest {
    /// Where.
    pub target: Arc<ReleaseTarget>,
    /// Which version.
    pub version: Arc<Version>,
    /// Oldest first; the last one just ended.
    pub attempts: Vec<JobFacts>,
}

/// What a retry rule answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryAnswer {
    /// Another attempt, not before.
    RetryAt(Timestamp),
    /// None, and why.
    GiveUp(String),
}

/// Releases wait and jobs run side by side: which start, which wait, which are stopped?
#[derive(Debug, Clone)]
pub struct SequenceRequest {
    /// Targets in the group, for percentages.
    pub targets: u32,
    /// Releases that every gate allows and no job serves.
    pub ready: Vec<ReadyRelease>,
    /// Jobs of the group.
    pub running: Vec<RunningJob>,
}

/// A release that every gate allows and no job serves.
#[derive(Debug, Clone)]
pub struct ReadyRelease {
    /// Its id.
    pub id: ReleaseId,
    /// Where.
    pub target: Arc<ReleaseTarget>,
    /// Which version.
    pub version: Arc<Version>,
    /// Since when.
    pub ready_at: Timestamp,
}

/// A job of a sequence's group.
#[derive(Debug, Clone)]
pub struct RunningJob {
    /// The job.
    pub job: JobFacts,
    /// Where.
    pub target: Arc<ReleaseTarget>,
    /// Which version.
    pub version: Arc<Version>,
}

/// One step of a sequence's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SequenceStep {
    /// A ready release starts.
    Start(ReleaseId),
    /// A ready release waits, and why.
    Hold(ReleaseId, String),
    /// A running job is stopped, and why.
    Cancel(JobId, String),
}
