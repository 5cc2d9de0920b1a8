//! Environments on the wire: stages.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Labels,
    id::{EnvironmentId, Uuid},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{Entity, Id, Listed, Name, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, PathText, Query},
    problem::Problem,
};

/// A stage with a resource selector.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Environment {
    pub id: Uuid,
    #[schema(example = "prod")]
    pub name: String,
    pub description: String,
    /// Systems it is linked to.
    pub system_ids: Vec<Uuid>,
    /// CEL over `resource`; which resources belong to it.
    #[schema(example = "resource.metadata.env == 'prod'")]
    pub resource_selector: String,
    pub metadata: Labels,
    pub created_at: Time,
}

impl From<model::environment::Environment> for Environment {
    fn from(environment: model::environment::Environment) -> Self {
        Self {
            id: environment.id.0,
            name: environment.name,
            description: environment.description,
            system_ids: environment.systems.into_iter().map(|system| system.0).collect(),
            resource_selector: environment.resource_selector,
            metadata: environment.metadata,
            created_at: environment.created_at.into(),
        }
    }
}

/// Every environment, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/environments", tag = "inventory", operation_id = "listEnvironments",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<Environment>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Environment>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.environment.list").await?;
    Ok(listed(store::environment::list(&mut tx, caller.workspace, page).await?, page))
}

/// One environment, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/environments/{id}", tag = "inventory", operation_id = "getEnvironment",
    params(Ws, Id), responses((status = 200, description = "The environment.", body = Environment)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<EnvironmentId>,
) -> Result<Entity<Environment>, Problem> {
    let mut tx = app.store.read("api.environment.get").await?;
    let found = store::environment::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("environment", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// One environment, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/environments/name/{name}", tag = "inventory",
    operation_id = "getEnvironmentByName", params(Ws, Name), responses((status = 200, description = "The environment.", body = Environment)))]
pub(crate) async fn by_name(
    State(app): State<App>,
    Auth(caller): Auth,
    PathText(name): PathText,
) -> Result<Entity<Environment>, Problem> {
    let mut tx = app.store.read("api.environment.by_name").await?;
    let found = store::environment::by_name(&mut tx, caller.workspace, &name).await?;
    let found = found.ok_or_else(|| Problem::not_found("environment", &name))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
