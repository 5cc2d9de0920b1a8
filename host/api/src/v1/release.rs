//! Releases on the wire: one version on one target.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Json as AnyJson,
    id::{DeploymentId, ReleaseId, Uuid, VersionId},
};
use serde::{Deserialize, Serialize};
use store::release::{Filter, NamedRelease};
use utoipa::{IntoParams, ToSchema};

use super::wire::{ClosedName, Entity, Id, Listed, TargetKeyText, Time, VersionRef, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, Query, page},
    problem::Problem,
};

/// One version on one target: the intent, made when the version is ready.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Release {
    pub id: Uuid,
    /// `resourceId-environmentId-deploymentId`.
    pub target_key: String,
    pub deployment_id: Uuid,
    pub environment_id: Uuid,
    pub resource_id: Uuid,
    pub version: VersionRef,
    /// Frozen when the release first passes its gates; null before.
    pub variables: Option<AnyJson>,
    pub created_at: Time,
    /// Why it will not be started any more by itself; null while it may be.
    pub closed: Option<ClosedName>,
    pub closed_at: Option<Time>,
}

impl From<NamedRelease> for Release {
    fn from(named: NamedRelease) -> Self {
        let NamedRelease { release, version_tag } = named;
        Self {
            id: release.id.0,
            target_key: release.target.to_string(),
            deployment_id: release.target.deployment.0,
            environment_id: release.target.environment.0,
            resource_id: release.target.resource.0,
            version: VersionRef { id: release.version.0, tag: version_tag },
            variables: release.variables,
            created_at: release.created_at.into(),
            closed: release.closed.map(|(why, _)| why.into()),
            closed_at: release.closed.map(|(_, at)| at.into()),
        }
    }
}

/// Which releases.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct Which {
    deployment_id: Option<Uuid>,
    version_id: Option<Uuid>,
    /// `resourceId-environmentId-deploymentId`.
    #[param(value_type = Option<String>)]
    target_key: Option<TargetKeyText>,
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<i64>,
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

/// Releases, oldest first.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/releases", tag = "releases", operation_id = "listReleases",
    params(Ws, Which), responses((status = 200, description = "A page of the list.", body = Listed<Release>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(which): Query<Which>,
) -> Result<Json<Listed<Release>>, Problem> {
    let page = page(which.limit, which.offset)?;
    let filter = Filter {
        deployment: which.deployment_id.map(DeploymentId),
        version: which.version_id.map(VersionId),
        target: which.target_key.map(|key| key.0),
    };
    let mut tx = app.store.read("api.release.list").await?;
    Ok(listed(store::release::list(&mut tx, caller.workspace, filter, page).await?, page))
}

/// One release, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/releases/{id}", tag = "releases", operation_id = "getRelease",
    params(Ws, Id), responses((status = 200, description = "The release.", body = Release)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<ReleaseId>,
) -> Result<Entity<Release>, Problem> {
    let mut tx = app.store.read("api.release.get").await?;
    let found = store::release::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("release", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
