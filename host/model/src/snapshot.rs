//! Everything that one planning pass over one deployment may look at, read in one transaction.

use std::sync::Arc;

use crate::{
    approval::Approval, decision::Decision, deployment::Deployment, environment::Environment, id::WorkspaceId,
    job::Job, job_agent::JobAgent, plugin::Plugin, policy::Policy, release::Release, release_target::TargetState,
    resource::Resource, version::Version,
};

/// What a pass reads.
///
/// Readers may rely on: ids are unique in each list; `targets`, `releases` and `jobs` are of `deployment`;
/// every release's version is in `versions`; every job's release is in `releases`.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Of which tenant.
    pub workspace: WorkspaceId,
    /// The deployment that is planned.
    pub deployment: Arc<Deployment>,
    /// Its agent.
    pub job_agent: Option<Arc<JobAgent>>,
    /// Environments that share a system with it, by name.
    pub environments: Vec<Arc<Environment>>,
    /// Resources of the workspace, by identifier.
    pub resources: Vec<Arc<Resource>>,
    /// What is kept of each target, attached or not.
    pub targets: Vec<TargetState>,
    /// Versions of the deployment, newest first (see [`Version::age_key`]).
    pub versions: Vec<Arc<Version>>,
    /// Enabled policies of the workspace: priority high to low, then name.
    pub policies: Vec<Arc<Policy>>,
    /// Plugins of the workspace.
    pub plugins: Vec<Arc<Plugin>>,
    /// Approvals of the deployment's versions, by time.
    pub approvals: Vec<Approval>,
    /// Releases that are open, desired or current, have a job that has not ended, or are of a version newer than what
    /// their target runs: of those a pass must know that they were closed, or it would make them again.
    pub releases: Vec<Release>,
    /// Every job of those releases, oldest first.
    pub jobs: Vec<Job>,
    /// The last decision of each (rule, version, scope) for versions of the releases above.
    pub decisions: Vec<Decision>,
}
