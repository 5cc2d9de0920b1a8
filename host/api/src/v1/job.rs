//! Jobs on the wire: attempts to carry a release out. A job's configuration and context are for its agent alone (see
//! [`super::queue`]); they may hold what a reader should not see.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Labels,
    id::{DeploymentId, JobAgentId, JobId, ReleaseId, Uuid},
};
use serde::{Deserialize, Serialize};
use store::job::{Filter, NamedJob};
use utoipa::{IntoParams, ToSchema};

use super::wire::{
    Entity, Id, IntentName, JobKindName, JobStatusName, Listed, Named, ResourceRef, TargetKeyText, Time, VerifiedName,
    VersionRef, Ws, listed,
};
use crate::{
    app::App,
    extract::{Auth, PathId, Query, page},
    problem::Problem,
};

/// One attempt to carry a release out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    pub id: Uuid,
    pub release_id: Uuid,
    /// `resourceId-environmentId-deploymentId`.
    pub target_key: String,
    pub deployment: Named,
    pub environment: Named,
    pub resource: ResourceRef,
    pub version: VersionRef,
    pub kind: JobKindName,
    pub job_agent_id: Uuid,
    /// Counts from 1 per target and version.
    #[schema(example = 1)]
    pub attempt: u32,
    pub status: JobStatusName,
    /// Why it was made.
    pub intent: IntentName,
    /// What became of its verification; null while that is open.
    pub verified: Option<VerifiedName>,
    /// The last thing said of it.
    pub message: String,
    /// What the outside system calls it.
    pub external_id: Option<String>,
    /// Named addresses for people.
    pub links: Labels,
    /// Not offered before.
    pub available_at: Time,
    pub created_at: Time,
    pub updated_at: Time,
    pub started_at: Option<Time>,
    pub completed_at: Option<Time>,
    /// Who holds it; null when nobody does.
    pub lease: Option<Lease>,
}

/// Who holds a job. The token is the holder's alone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lease {
    /// The node.
    #[schema(example = "node-1")]
    pub holder: String,
    pub since: Time,
    /// At exactly this instant it has run out.
    pub until: Time,
}

impl From<NamedJob> for Job {
    fn from(named: NamedJob) -> Self {
        let NamedJob { job, deployment_name, environment_name, resource_identifier, resource_name, version_tag } =
            named;
        Self {
            id: job.id.0,
            intent: job.intent.into(),
            verified: job.verified.map(Into::into),
            release_id: job.release.0,
            target_key: job.target.to_string(),
            deployment: Named { id: job.target.deployment.0, name: deployment_name },
            environment: Named { id: job.target.environment.0, name: environment_name },
            resource: ResourceRef { id: job.target.resource.0, identifier: resource_identifier, name: resource_name },
            version: VersionRef { id: job.version.0, tag: version_tag },
            kind: job.kind.into(),
            job_agent_id: job.agent.0,
            attempt: job.attempt,
            status: job.state.status().into(),
            lease: job.state.lease().map(|lease| Lease {
                holder: lease.holder.clone(),
                since: lease.since.into(),
                until: lease.until.into(),
            }),
            started_at: job.state.started_at().map(Into::into),
            completed_at: job.state.ended_at().map(Into::into),
            message: job.message,
            external_id: job.external_id,
            links: job.links,
            available_at: job.available_at.into(),
            created_at: job.created_at.into(),
            updated_at: job.updated_at.into(),
        }
    }
}

/// Which jobs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct Which {
    #[param(value_type = Option<JobStatusName>)]
    status: Option<JobStatusName>,
    deployment_id: Option<Uuid>,
    agent_id: Option<Uuid>,
    release_id: Option<Uuid>,
    /// `resourceId-environmentId-deploymentId`.
    #[param(value_type = Option<String>)]
    target_key: Option<TargetKeyText>,
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<i64>,
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

/// Jobs, oldest first.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/jobs", tag = "jobs", operation_id = "listJobs",
    params(Ws, Which), responses((status = 200, description = "A page of the list.", body = Listed<Job>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(which): Query<Which>,
) -> Result<Json<Listed<Job>>, Problem> {
    let page = page(which.limit, which.offset)?;
    let filter = Filter {
        status: which.status.map(|status| status.0),
        deployment: which.deployment_id.map(DeploymentId),
        agent: which.agent_id.map(JobAgentId),
        target: which.target_key.map(|key| key.0),
        release: which.release_id.map(ReleaseId),
    };
    let mut tx = app.store.read("api.job.list").await?;
    Ok(listed(store::job::list(&mut tx, caller.workspace, filter, page).await?, page))
}

/// One job, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/jobs/{id}", tag = "jobs", operation_id = "getJob",
    params(Ws, Id), responses((status = 200, description = "The job.", body = Job)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<JobId>,
) -> Result<Entity<Job>, Problem> {
    let mut tx = app.store.read("api.job.get").await?;
    let found = store::job::get_named(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("job", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
