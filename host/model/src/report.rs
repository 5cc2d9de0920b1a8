//! Why every target is where it is, and until when. A pass makes one line per target; explain, the API, scenarios
//! and tests print these and nothing else.

use std::sync::Arc;

use crate::{
    decision::Decision,
    hold::Hold,
    id::{JobId, ReleaseId},
    job_state::JobStatus,
    policy::RuleMode,
    release_target::ReleaseTarget,
    skip::Skip,
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
    /// The rollback that holds it.
    pub hold: Option<Hold>,
}

/// One version on one target.
#[derive(Debug, Clone)]
pub struct CandidateReport {
    /// Which version.
    pub version: Arc<Version>,
    /// Its release there, once made.
    pub release: Option<ReleaseId>,
    /// What holds it apart from rules.
    pub blocks: Vec<Block>,
    /// What every rule said, in the order in which rules are asked.
    pub gates: Vec<GateReport>,
    /// Skips in force for it, oldest first.
    pub skips: Vec<Skip>,
}

impl CandidateReport {
    /// The first rule that does not let the version go. Of rules that are joined by or, and none of which does, it is
    /// the one that opens first.
    #[must_use]
    pub fn blocked_by(&self) -> Option<&GateReport> {
        self.gates.iter().find_map(|gate| match &gate.any_of {
            _ if gate.decision.lets_go() => None,
            None => Some(gate),
            Some(name) => self.opens_first(name),
        })
    }

    /// Rules that do not let it go, those joined by or counted once.
    #[must_use]
    pub fn blocking(&self) -> usize {
        let mut groups: Vec<&str> = Vec::new();
        let mut alone = 0;
        for gate in self.gates.iter().filter(|gate| !gate.decision.lets_go()) {
            match &gate.any_of {
                None => alone += 1,
                Some(name) if self.opens_first(name).is_some() && !groups.contains(&name.as_str()) => groups.push(name),
                Some(_) => {}
            }
        }
        alone + groups.len()
    }

    /// Of the rules joined by or under a name, none of which lets the version go, the one that opens first. An audit
    /// rule lets nothing go by itself.
    fn opens_first(&self, name: &str) -> Option<&GateReport> {
        let enforced = |gate: &&GateReport| gate.decision.mode == RuleMode::Enforce;
        let joined = || self.gates.iter().filter(|gate| gate.any_of.as_deref() == Some(name)).filter(enforced);
        if joined().any(|gate| gate.decision.lets_go()) {
            return None;
        }
        joined().min_by_key(|gate| gate.decision.next_evaluation().map_or((true, None), |at| (false, Some(at))))
    }
}

/// What holds a version apart from rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What.
    pub kind: BlockKind,
    /// One sentence.
    pub reason: String,
    /// When time alone ends it.
    pub until: Option<Timestamp>,
}

/// What holds a version apart from rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// A freeze.
    Freeze,
    /// A rollback holds the target on another version.
    Held,
}

impl BlockKind {
    /// The name in the API and in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Freeze => "freeze",
            Self::Held => "held",
        }
    }
}

/// One rule's word.
#[derive(Debug, Clone)]
pub struct GateReport {
    /// The policy's name.
    pub policy: String,
    /// The rules that it is joined by or with.
    pub any_of: Option<String>,
    /// The rule's time zone, where its configuration names one (a `timezone` at its top).
    pub timezone: Option<String>,
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
    /// What was deployed is being verified.
    Verifying,
    /// Gates hold the newest version.
    Blocked,
    /// A rollback keeps it where it is.
    Held,
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
            Self::Verifying => "verifying",
            Self::Blocked => "blocked",
            Self::Held => "held",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::NoAgent => "no_agent",
            Self::Detached => "detached",
        }
    }
}
