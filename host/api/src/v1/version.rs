//! Versions on the wire: what CI reports, and how far each is.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use engine::NewVersion;
use model::{
    Json as AnyJson, Labels,
    id::{DeploymentId, Uuid, VersionId},
    version::VersionStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use utoipa::{IntoParams, ToSchema};

use super::wire::{Entity, Id, Listed, Paging, Time, VersionStatusName, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, Body, PathId, Query},
    idempotency::once,
    problem::Problem,
};

/// One build of a deployment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    pub id: Uuid,
    pub deployment_id: Uuid,
    /// Unique in the deployment.
    #[schema(example = "v1.4.2")]
    pub tag: String,
    pub name: String,
    /// Whatever rules and executors need to know of it.
    pub config: AnyJson,
    /// Merged over the deployment's.
    pub job_agent_config: AnyJson,
    pub metadata: Labels,
    pub status: VersionStatusName,
    /// When it was made, as its creator said.
    pub created_at: Time,
    /// When the server first saw it.
    pub received_at: Time,
    pub created_by: Option<String>,
}

impl From<model::version::Version> for Version {
    fn from(version: model::version::Version) -> Self {
        Self {
            id: version.id.0,
            deployment_id: version.deployment.0,
            tag: version.tag,
            name: version.name,
            config: version.config,
            job_agent_config: version.job_agent_config,
            metadata: version.metadata,
            status: version.status.into(),
            created_at: version.created_at.into(),
            received_at: version.received_at.into(),
            created_by: version.created_by,
        }
    }
}

/// A build that CI reports.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `tag`")]
#[schema(example = json!({"tag": "v1.4.2", "metadata": {"commit": "5c1e9f0"}}))]
pub(crate) struct CreateVersion {
    /// Unique in the deployment. The same content again under a tag is answered again; other content is a conflict.
    #[schema(min_length = 1, max_length = 255)]
    tag: String,
    /// The tag when absent.
    name: Option<String>,
    #[serde(default)]
    #[schema(value_type = Object)]
    config: Map<String, AnyJson>,
    #[serde(default)]
    #[schema(value_type = Object)]
    job_agent_config: Map<String, AnyJson>,
    #[serde(default)]
    metadata: Labels,
    /// `ready` when absent.
    status: Option<VersionStatusName>,
    /// Now when absent. A clock that runs ahead of the server's does not count.
    created_at: Option<Time>,
}

/// How far a version is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `status`")]
pub(crate) struct PatchVersion {
    status: VersionStatusName,
}

/// The deployment in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path, rename_all = "camelCase")]
pub(crate) struct InDeployment {
    /// Of which deployment.
    #[expect(dead_code, reason = "described for OpenAPI; handlers take it as `PathId`")]
    deployment_id: Uuid,
}

/// Takes a version in. The same report again is answered with 200 and changes nothing.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/deployments/{deploymentId}/versions", tag = "versions",
    operation_id = "createVersion",
    params(Ws, InDeployment, ("idempotency-key" = Option<String>, Header, description = "Carried out once in 24 hours.")),
    request_body = CreateVersion,
    responses(
        (status = 201, description = "Taken in.", body = Version),
        (status = 200, description = "It was there already.", body = Version),
    ))]
pub(crate) async fn create(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(deployment): PathId<DeploymentId>,
    headers: HeaderMap,
    body: Body<CreateVersion>,
) -> Result<Response, Problem> {
    let digest = body.digest();
    let wanted = body.value;
    let command = async {
        let new = NewVersion {
            deployment,
            tag: wanted.tag,
            name: wanted.name,
            config: AnyJson::Object(wanted.config),
            job_agent_config: AnyJson::Object(wanted.job_agent_config),
            metadata: wanted.metadata,
            status: wanted.status.map_or(VersionStatus::Ready, |status| status.0),
            created_at: wanted.created_at.map(|at| at.0),
        };
        let (version, created) = app.engine.create_version(&caller, new).await?;
        let status = if created { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, json!(Version::from(version))))
    };
    once(&app, &caller, &headers, (format!("version.create {deployment}"), digest), command).await
}

/// Versions of a deployment, newest first.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/deployments/{deploymentId}/versions", tag = "versions",
    operation_id = "listVersions", params(Ws, InDeployment, Paging),
    responses((status = 200, description = "A page of the list.", body = Listed<Version>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(deployment): PathId<DeploymentId>,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Version>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.version.list").await?;
    if store::deployment::get(&mut tx, caller.workspace, deployment).await?.is_none() {
        return Err(Problem::not_found("deployment", deployment));
    }
    Ok(listed(store::version::list(&mut tx, caller.workspace, deployment, page).await?, page))
}

/// One version, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/deploymentversions/{id}", tag = "versions",
    operation_id = "getVersion", params(Ws, Id),
    responses((status = 200, description = "The version.", body = Version)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<VersionId>,
) -> Result<Entity<Version>, Problem> {
    let mut tx = app.store.read("api.version.get").await?;
    let found = store::version::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("version", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// Changes how far a version is, such as to `rejected` or `paused`.
#[utoipa::path(patch, path = "/api/v1/workspaces/{ws}/deploymentversions/{id}", tag = "versions",
    operation_id = "patchVersion", params(Ws, Id), request_body = PatchVersion,
    responses((status = 200, description = "The version as it is now.", body = Version)))]
pub(crate) async fn patch(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<VersionId>,
    body: Body<PatchVersion>,
) -> Result<Entity<Version>, Problem> {
    let version = app.engine.set_version_status(&caller, id, body.value.status.0).await?;
    Ok(Entity(StatusCode::OK, version.into()))
}
