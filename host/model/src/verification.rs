//! Verification: whether what a job deployed is healthy.

use crate::{
    Json,
    id::{JobId, MeasurementId, RuleId, WorkspaceId},
    time::Timestamp,
};

/// What became of a job's verification. Decided once, after the job ended with success, and final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verified {
    /// No rule asked for one.
    NotAsked,
    /// Every rule called it healthy.
    Passed,
    /// A rule called it unhealthy, or could not say.
    Failed,
    /// Another job began on the target first.
    Abandoned,
}

impl Verified {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::NotAsked, Self::Passed, Self::Failed, Self::Abandoned];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotAsked => "not_asked",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }

    /// The outcome of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verified| verified.name() == name)
    }

    /// Whether a success with this outcome is what a target runs from then on.
    #[must_use]
    pub const fn is_good(self) -> bool {
        match self {
            Self::NotAsked | Self::Passed => true,
            Self::Failed | Self::Abandoned => false,
        }
    }
}

/// One look at one metric of one job, for one rule: wanted first, then taken. At most one of each (job, rule, metric)
/// is wanted at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Its id.
    pub id: MeasurementId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Of which job.
    pub job: JobId,
    /// For which rule.
    pub rule: RuleId,
    /// Which metric of that rule.
    pub metric: String,
    /// Not to be taken before.
    pub due_at: Timestamp,
    /// When it was taken, and what was seen or why nothing could be.
    pub taken: Option<(Timestamp, Result<Json, String>)>,
}
