//! Resources on the wire: places things can run.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Json as AnyJson, Labels,
    id::{ResourceId, Uuid},
};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::wire::{Entity, Id, Listed, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, PathText, Query},
    problem::Problem,
};

/// A place things can run: cluster, machine, account, tenant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    pub id: Uuid,
    /// Its own key.
    #[schema(example = "eu-1")]
    pub identifier: String,
    pub name: String,
    #[schema(example = "Cluster")]
    pub kind: String,
    /// Version of its kind's schema.
    #[schema(example = "v1")]
    pub version: String,
    pub metadata: Labels,
    /// What executors need to know of it.
    pub config: AnyJson,
    pub created_at: Time,
}

impl From<model::resource::Resource> for Resource {
    fn from(resource: model::resource::Resource) -> Self {
        Self {
            id: resource.id.0,
            identifier: resource.identifier,
            name: resource.name,
            kind: resource.kind,
            version: resource.version,
            metadata: resource.metadata,
            config: resource.config,
            created_at: resource.created_at.into(),
        }
    }
}

/// The identifier in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Identifier {
    /// Its own key, percent-encoded.
    #[expect(dead_code, reason = "described for OpenAPI; the handler takes it as `PathText`")]
    identifier: String,
}

/// Every resource, by identifier.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/resources", tag = "inventory", operation_id = "listResources",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<Resource>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Resource>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.resource.list").await?;
    Ok(listed(store::resource::list(&mut tx, caller.workspace, page).await?, page))
}

/// One resource, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/resources/{id}", tag = "inventory", operation_id = "getResource",
    params(Ws, Id), responses((status = 200, description = "The resource.", body = Resource)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<ResourceId>,
) -> Result<Entity<Resource>, Problem> {
    let mut tx = app.store.read("api.resource.get").await?;
    let found = store::resource::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("resource", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// One resource, by identifier.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/resources/identifier/{identifier}", tag = "inventory",
    operation_id = "getResourceByIdentifier", params(Ws, Identifier), responses((status = 200, description = "The resource.", body = Resource)))]
pub(crate) async fn by_identifier(
    State(app): State<App>,
    Auth(caller): Auth,
    PathText(identifier): PathText,
) -> Result<Entity<Resource>, Problem> {
    let mut tx = app.store.read("api.resource.by_identifier").await?;
    let found = store::resource::by_identifier(&mut tx, caller.workspace, &identifier).await?;
    let found = found.ok_or_else(|| Problem::not_found("resource", &identifier))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
