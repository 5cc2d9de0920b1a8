//! Everything that one planning pass over one deployment may look at, read in one transaction.

use std::sync::Arc;

use crate::{
    approval::Approval,
    decision::Decision,
    deployment::Deployment,
    environment::Environment,
    freeze::Freeze,
    hold::Hold,
    id::{ResourceId, WorkspaceId},
    job::Job,
    job_agent::JobAgent,
    plugin::Plugin,
    policy::Policy,
    question::Dependency,
    redeploy::Redeploy,
    release::Release,
    release_target::TargetState,
    resource::Resource,
    skip::Skip,
    verification::Measurement,
    version::Version,
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
    /// Releases that are open, desired, current or held; have a job that has not ended; are of a version newer than
    /// what their target runs, since a pass that did not know them would make them again; or are of a version of which
    /// another release is open, since it may have to be known how that version stands elsewhere.
    pub releases: Vec<Release>,
    /// Every job of those releases, oldest first.
    pub jobs: Vec<Job>,
    /// The last decision of each (rule, version, scope) for versions of the releases above.
    pub decisions: Vec<Decision>,
    /// Skips of the deployment's versions, oldest first; some may be over.
    pub skips: Vec<Skip>,
    /// Freezes of the workspace that are not over, by name.
    pub freezes: Vec<Freeze>,
    /// Targets of the deployment that a rollback holds.
    pub holds: Vec<Hold>,
    /// Redeploys of the deployment that no job serves yet.
    pub redeploys: Vec<Redeploy>,
    /// Measurements of jobs whose verification is open, taken or wanted, oldest first.
    pub measurements: Vec<Measurement>,
    /// What other deployments run on the resources of the workspace, by deployment, environment and resource; empty
    /// unless a rule's plugin asks for it.
    pub dependencies: Vec<(ResourceId, Dependency)>,
}
