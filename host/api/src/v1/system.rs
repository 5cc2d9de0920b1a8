//! Systems on the wire: groups of deployments and environments.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Labels,
    id::{SystemId, Uuid},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{Entity, Id, Listed, Name, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, PathText, Query},
    problem::Problem,
};

/// Groups deployments and environments.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct System {
    pub id: Uuid,
    #[schema(example = "websites")]
    pub name: String,
    pub description: String,
    pub metadata: Labels,
    pub created_at: Time,
}

impl From<model::system::System> for System {
    fn from(system: model::system::System) -> Self {
        Self {
            id: system.id.0,
            name: system.name,
            description: system.description,
            metadata: system.metadata,
            created_at: system.created_at.into(),
        }
    }
}

/// Every system, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/systems", tag = "inventory", operation_id = "listSystems",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<System>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<System>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.system.list").await?;
    Ok(listed(store::system::list(&mut tx, caller.workspace, page).await?, page))
}

/// One system, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/systems/{id}", tag = "inventory", operation_id = "getSystem",
    params(Ws, Id), responses((status = 200, description = "The system.", body = System)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<SystemId>,
) -> Result<Entity<System>, Problem> {
    let mut tx = app.store.read("api.system.get").await?;
    let found = store::system::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("system", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// One system, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/systems/name/{name}", tag = "inventory",
    operation_id = "getSystemByName", params(Ws, Name), responses((status = 200, description = "The system.", body = System)))]
pub(crate) async fn by_name(
    State(app): State<App>,
    Auth(caller): Auth,
    PathText(name): PathText,
) -> Result<Entity<System>, Problem> {
    let mut tx = app.store.read("api.system.by_name").await?;
    let found = store::system::by_name(&mut tx, caller.workspace, &name).await?;
    let found = found.ok_or_else(|| Problem::not_found("system", &name))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
