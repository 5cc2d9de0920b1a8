//! An event: one line of the audit trail, written in the transaction of the change.

use crate::{
    Json,
    id::{
        DeploymentId, EnvironmentId, EventId, JobId, PolicyId, ReleaseId, ResourceId, SystemId, VersionId, WorkspaceId,
    },
    release_target::TargetKey,
    time::Timestamp,
};

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// What happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventKind {
            $($(#[$doc])* $variant),+
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// The kind of that name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}

event_kinds! {
    /// A workspace was made.
    WorkspaceCreated = "workspace_created",
    /// A system was made.
    SystemCreated = "system_created",
    /// A system changed.
    SystemUpdated = "system_updated",
    /// A resource was made.
    ResourceCreated = "resource_created",
    /// A resource changed.
    ResourceUpdated = "resource_updated",
    /// An environment was made.
    EnvironmentCreated = "environment_created",
    /// An environment changed.
    EnvironmentUpdated = "environment_updated",
    /// A deployment was made.
    DeploymentCreated = "deployment_created",
    /// A deployment changed.
    DeploymentUpdated = "deployment_updated",
    /// A job agent was made.
    JobAgentCreated = "job_agent_created",
    /// A job agent changed.
    JobAgentUpdated = "job_agent_updated",
    /// A policy was made.
    PolicyCreated = "policy_created",
    /// A policy changed.
    PolicyUpdated = "policy_updated",
    /// A policy was deleted.
    PolicyDeleted = "policy_deleted",
    /// A freeze was made.
    FreezeCreated = "freeze_created",
    /// A freeze changed.
    FreezeUpdated = "freeze_updated",
    /// A freeze was lifted.
    FreezeLifted = "freeze_lifted",
    /// Somebody bypassed a rule or a freeze for a version.
    SkipCreated = "skip_created",
    /// A bypass was taken back.
    SkipRemoved = "skip_removed",
    /// A plugin was uploaded.
    PluginUploaded = "plugin_uploaded",
    /// An API key was made.
    ApiKeyCreated = "api_key_created",
    /// CI reported a version.
    VersionCreated = "version_created",
    /// A version's status changed.
    VersionStatusChanged = "version_status_changed",
    /// Somebody approved a version for an environment.
    VersionApproved = "version_approved",
    /// Somebody rejected a version for an environment.
    VersionRejected = "version_rejected",
    /// Somebody took back what they had said of a version.
    ApprovalWithdrawn = "approval_withdrawn",
    /// A version's content changed, so what was said of it no longer counts.
    ApprovalsVoided = "approvals_voided",
    /// The selectors now match: a new place.
    TargetAttached = "target_attached",
    /// The selectors no longer match.
    TargetDetached = "target_detached",
    /// A version may go to a target.
    ReleaseCreated = "release_created",
    /// A newer version took its place.
    ReleaseSuperseded = "release_superseded",
    /// Somebody withdrew it.
    ReleaseCancelled = "release_cancelled",
    /// Somebody wants it started again.
    RedeployRequested = "redeploy_requested",
    /// A redeploy that waited was overtaken by a newer version.
    RedeployOvertaken = "redeploy_overtaken",
    /// A rollback holds the target.
    TargetHeld = "target_held",
    /// A rollback no longer holds the target.
    TargetResumed = "target_resumed",
    /// What was rolled back to failed as well, or there was nothing to go back to: somebody must look.
    RollbackFailed = "rollback_failed",
    /// A metric was measured.
    MeasurementTaken = "measurement_taken",
    /// What was deployed is healthy.
    VerificationPassed = "verification_passed",
    /// What was deployed is not healthy.
    VerificationFailed = "verification_failed",
    /// It is what the target should run.
    ReleaseDesired = "release_desired",
    /// It is what the target runs.
    ReleaseCurrent = "release_current",
    /// A rule says something else than before.
    DecisionChanged = "decision_changed",
    /// An attempt was made.
    JobCreated = "job_created",
    /// An agent was handed it.
    JobOffered = "job_offered",
    /// An offer was not acknowledged, or given back.
    JobOfferLapsed = "job_offer_lapsed",
    /// An agent works on it.
    JobStarted = "job_started",
    /// The agent said how far it is.
    JobProgressed = "job_progressed",
    /// It was asked to stop.
    JobCancelRequested = "job_cancel_requested",
    /// It ended.
    JobEnded = "job_ended",
    /// Somebody reported under a token that no longer holds.
    LateResultRejected = "late_result_rejected",
}

/// What an event is about; whatever applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subject {
    /// The system.
    pub system: Option<SystemId>,
    /// The deployment.
    pub deployment: Option<DeploymentId>,
    /// The environment.
    pub environment: Option<EnvironmentId>,
    /// The resource.
    pub resource: Option<ResourceId>,
    /// The version.
    pub version: Option<VersionId>,
    /// The release.
    pub release: Option<ReleaseId>,
    /// The job.
    pub job: Option<JobId>,
    /// The policy.
    pub policy: Option<PolicyId>,
}

impl Subject {
    /// About a target.
    #[must_use]
    pub fn target(key: TargetKey) -> Self {
        Self {
            deployment: Some(key.deployment),
            environment: Some(key.environment),
            resource: Some(key.resource),
            ..Self::default()
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The planner, a timer, or start-up.
    System,
    /// A person or a service, by the user of its key.
    User(String),
    /// A node of an agent.
    Node(String),
}

impl Actor {
    /// As text: `system`, `user:NAME` or `node:NAME`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::System => "system".to_owned(),
            Self::User(name) => format!("user:{name}"),
            Self::Node(name) => format!("node:{name}"),
        }
    }

    /// From that text; anything else is the system.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some(("user", name)) => Self::User(name.to_owned()),
            Some(("node", name)) => Self::Node(name.to_owned()),
            _ => Self::System,
        }
    }
}

/// An event to be written; the store adds id, time and position.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// What happened.
    pub kind: EventKind,
    /// Who did it.
    pub actor: Actor,
    /// About what.
    pub subject: Subject,
    /// What else there is to know, for people and programs.
    pub data: Json,
}

/// An event that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its place among the workspace's events: rising without gaps from 1.
    pub position: i64,
    /// When.
    pub at: Timestamp,
    /// What, who, about what.
    pub event: NewEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.name()), Some(*kind));
        }
        for actor in [Actor::System, Actor::User("a:b".into()), Actor::Node("n".into())] {
            assert_eq!(Actor::parse(&actor.text()), actor);
        }
    }
}
