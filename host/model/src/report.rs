//! Why every target is where it is, and until when. A pass makes one line per target; explain, the API, scenarios
//! and tests print these and nothing else.

use std::sync::Arc;

use crate::{
    decision::Decision,
    id::{JobId, ReleaseId},
    job_state::JobStatus,
    release_target::ReleaseTarget,
    time::Timestamp,
    version::Version,
};

/// The report of a pass.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Report {
    /// By environment name, then resource identifier.
    pub targets: Vec<TargetReport>,
    /// Policies whose selector failed somewhere, resources whose selector did, and the like; for people.
    pub warnings: Vec<String>,
}

/// One target.
#[derive(Debug, Clone)]
pub struct TargetReport {
    /// Which.
    pub target: Arc<ReleaseTarget>,
    /// What it runs.
    pub current: Option<Arc<Version>>,
    /// What it should run.
    pub desired: Option<Arc<Version>>,
    /// Its latest job that was not withdrawn: which version, which attempt, and how it stands.
    pub latest_job: Option<(JobId, Arc<Version>, u32, JobStatus)>,
    /// Versions that were looked at, newest first, with what every rule said.
    pub candidates: Vec<CandidateReport>,
    /// Where it stands.
    pub standing: Standing,
    /// One sentence: why it stands there, and what would change it.
    pub reason: String,
    /// When time alone may change it.
    pub next_evaluation: Option<Timestamp>,
}

/// One version on one target.
#[derive(Debug, Clone)]
pub struct CandidateReport {
    /// Which version.
    pub version: Arc<Version>,
    /// Its release there, once made.
    pub release: Option<ReleaseId>,
    /// What every rule said, in the order in which rules are asked.
    pub gates: Vec<GateReport>,
}

impl CandidateReport {
    /// The first rule that does not let the version go.
    #[must_use]
    pub fn blocked_by(&self) -> Option<&GateReport> {
        self.gates.iter().find(|gate| !gate.decision.lets_go())
    }
}

/// One rule's word.
#[derive(Debug, Clone)]
pub struct GateReport {
    /// The policy's name.
    pub policy: String,
    /// What was said.
    pub decision: Decision,
}

/// Where a target stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    /// No version may come here yet: none is ready.
    NoVersion,
    /// It runs what it should.
    UpToDate,
    /// A job is made or runs.
    Deploying,
    /// Gates hold the newest version.
    Blocked,
    /// Every gate allows; something else must happen first (another job, a retry's time, a sequence).
    Waiting,
    /// The version ended here without success and is not started again by itself.
    Failed,
    /// There is nobody to carry it out.
    NoAgent,
    /// The selectors no longer match.
    Detached,
}

impl Standing {
    /// The name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoVersion => "no_version",
            Self::UpToDate => "up_to_date",
            Self::Deploying => "deploying",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::NoAgent => "no_agent",
            Self::Detached => "detached",
        }
    }
}
