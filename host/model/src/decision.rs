//! A decision: what one rule said of one version within its scope.

use crate::{
    Labels,
    id::{DecisionId, DeploymentId, EnvironmentId, PolicyId, ResourceId, RuleId, VersionId, WorkspaceId},
    plugin::{Digest, FaultCode},
    policy::RuleMode,
    release_target::TargetKey,
    time::{Timestamp, earliest},
};

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may go.
    Allow,
    /// Not now: ask again at that time, or when a fact changes.
    Wait(Option<Timestamp>),
    /// No passing of time changes this.
    Deny,
}

impl Verdict {
    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Wait(_) => "wait",
            Self::Deny => "deny",
        }
    }
}

/// Where an answer holds; what is wider than the field is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DecisionScope {
    /// Always.
    pub deployment: DeploymentId,
    /// Absent for an answer that holds in every environment.
    pub environment: Option<EnvironmentId>,
    /// Absent for an answer that holds on every resource.
    pub resource: Option<ResourceId>,
}

impl DecisionScope {
    /// Whether the target lies in it.
    #[must_use]
    pub fn covers(&self, target: TargetKey) -> bool {
        self.deployment == target.deployment
            && self.environment.is_none_or(|environment| environment == target.environment)
            && self.resource.is_none_or(|resource| resource == target.resource)
    }
}

/// What a gate answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAnswer {
    /// Yes, not now, or no.
    pub verdict: Verdict,
    /// One sentence for a person.
    pub reason: String,
    /// When the condition came true, for an allow.
    pub satisfied_at: Option<Timestamp>,
    /// When time alone ends an allow.
    pub valid_until: Option<Timestamp>,
    /// Figures behind the reason.
    pub details: Labels,
}

/// What one rule said of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its id.
    pub id: DecisionId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// The policy.
    pub policy: PolicyId,
    /// The rule.
    pub rule: RuleId,
    /// How people call the rule.
    pub rule_label: String,
    /// Which bytes said it; absent when there was no plugin to ask.
    pub digest: Option<Digest>,
    /// Of which version.
    pub version: VersionId,
    /// Where it holds.
    pub scope: DecisionScope,
    /// Whether it counts.
    pub mode: RuleMode,
    /// What was said, or what the host made of a failure.
    pub answer: GateAnswer,
    /// Why the rule could not answer, if it could not.
    pub fault: Option<FaultCode>,
    /// When.
    pub at: Timestamp,
}

impl Decision {
    /// Whether the rule lets the version go: an audit rule always does.
    #[must_use]
    pub fn lets_go(&self) -> bool {
        self.mode == RuleMode::Audit || self.answer.verdict == Verdict::Allow
    }

    /// When time alone may change the answer.
    #[must_use]
    pub fn next_evaluation(&self) -> Option<Timestamp> {
        let wait = match self.answer.verdict {
            Verdict::Wait(until) => until,
            Verdict::Allow | Verdict::Deny => None,
        };
        earliest(wait, self.answer.valid_until)
    }

    /// Whether this says something else than `last` did. Time and id aside, everything counts.
    #[must_use]
    pub fn differs_from(&self, last: &Self) -> bool {
        self.answer != last.answer
            || self.fault != last.fault
            || self.mode != last.mode
            || self.digest != last.digest
            || self.rule_label != last.rule_label
    }
}
