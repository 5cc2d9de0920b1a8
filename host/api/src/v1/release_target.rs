//! Release targets on the wire: one deployment, in one environment, on one resource, and what runs there.

use axum::{Json, extract::State};
use model::{
    id::{DeploymentId, EnvironmentId, ResourceId, Uuid},
    release_target::TargetKey,
};
use serde::{Deserialize, Serialize};
use store::release_target::{Filter, LatestJob, NamedTarget, VersionName};
use utoipa::{IntoParams, ToSchema};

use super::{
    explain::{JobRef, Key},
    job::Job,
    release::Release,
    wire::{Listed, Named, ResourceRef, VersionRef, Ws, listed},
};
use crate::{
    app::App,
    extract::{Auth, PathId, Query, page},
    problem::Problem,
};

/// One deployment, in one environment, on one resource.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReleaseTarget {
    /// `resourceId-environmentId-deploymentId`.
    pub key: String,
    pub deployment: Named,
    pub environment: Named,
    pub resource: ResourceRef,
    /// False once the selectors no longer match: nothing new is started there.
    pub attached: bool,
    /// What ran there last with success.
    pub current_version: Option<VersionRef>,
    /// What should run there.
    pub desired_version: Option<VersionRef>,
    pub latest_job: Option<JobRef>,
}

impl From<VersionName> for VersionRef {
    fn from(version: VersionName) -> Self {
        Self { id: version.id.0, tag: version.tag }
    }
}

impl From<LatestJob> for JobRef {
    fn from(job: LatestJob) -> Self {
        Self { id: job.id.0, status: job.status.into(), attempt: job.attempt, version_tag: job.version.tag }
    }
}

impl From<NamedTarget> for ReleaseTarget {
    fn from(target: NamedTarget) -> Self {
        let key = target.state.key;
        Self {
            key: key.to_string(),
            deployment: Named { id: key.deployment.0, name: target.deployment_name },
            environment: Named { id: key.environment.0, name: target.environment_name },
            resource: ResourceRef {
                id: key.resource.0,
                identifier: target.resource_identifier,
                name: target.resource_name,
            },
            attached: target.state.attached,
            current_version: target.current.map(Into::into),
            desired_version: target.desired.map(Into::into),
            latest_job: target.latest_job.map(Into::into),
        }
    }
}

/// What a target should run, what it runs, and the last job there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReleaseTargetState {
    pub desired_release: Option<Release>,
    pub current_release: Option<Release>,
    pub latest_job: Option<Job>,
}

/// Which targets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct Which {
    deployment_id: Option<Uuid>,
    environment_id: Option<Uuid>,
    resource_id: Option<Uuid>,
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<i64>,
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

/// Release targets, by deployment, environment and resource.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/release-targets", tag = "targets",
    operation_id = "listReleaseTargets", params(Ws, Which),
    responses((status = 200, description = "A page of the list.", body = Listed<ReleaseTarget>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(which): Query<Which>,
) -> Result<Json<Listed<ReleaseTarget>>, Problem> {
    let page = page(which.limit, which.offset)?;
    let filter = Filter {
        deployment: which.deployment_id.map(DeploymentId),
        environment: which.environment_id.map(EnvironmentId),
        resource: which.resource_id.map(ResourceId),
    };
    let mut tx = app.store.read("api.release_target.list").await?;
    Ok(listed(store::release_target::list(&mut tx, caller.workspace, filter, page).await?, page))
}

/// What a target should run, what it runs, and the last job there.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/release-targets/{key}/state", tag = "targets",
    operation_id = "getReleaseTargetState", params(Ws, Key),
    responses((status = 200, description = "Its state.", body = ReleaseTargetState)))]
pub(crate) async fn state(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(key): PathId<TargetKey>,
) -> Result<Json<ReleaseTargetState>, Problem> {
    let ws = caller.workspace;
    let mut tx = app.store.read("api.release_target.state").await?;
    let found = store::release_target::get(&mut tx, ws, key).await?;
    let found = found.ok_or_else(|| Problem::not_found("release target", key))?;
    let mut state = ReleaseTargetState { desired_release: None, current_release: None, latest_job: None };
    if let Some(id) = found.state.desired {
        state.desired_release = store::release::get(&mut tx, ws, id).await?.map(Into::into);
    }
    if let Some(id) = found.state.current {
        state.current_release = store::release::get(&mut tx, ws, id).await?.map(Into::into);
    }
    if let Some(latest) = found.latest_job {
        state.latest_job = store::job::get_named(&mut tx, ws, latest.id).await?.map(Into::into);
    }
    Ok(Json(state))
}
