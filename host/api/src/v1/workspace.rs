//! Workspaces on the wire. A key is good in one, so that is the one its holder sees.

use axum::{Json, extract::State, http::StatusCode};
use model::id::Uuid;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{Entity, Listed, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, Query},
    problem::Problem,
};

/// A tenant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Workspace {
    pub id: Uuid,
    /// Short name in addresses.
    #[schema(example = "default")]
    pub slug: String,
    pub name: String,
    pub created_at: Time,
}

impl From<model::workspace::Workspace> for Workspace {
    fn from(workspace: model::workspace::Workspace) -> Self {
        Self { id: workspace.id.0, slug: workspace.slug, name: workspace.name, created_at: workspace.created_at.into() }
    }
}

/// The workspaces that the key is good in.
#[utoipa::path(get, path = "/api/v1/workspaces", tag = "workspaces", operation_id = "listWorkspaces",
    params(Paging), responses((status = 200, description = "A page of the list.", body = Listed<Workspace>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Workspace>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.workspace.list").await?;
    let own = store::workspace::get(&mut tx, caller.workspace).await?;
    let total = u64::from(own.is_some());
    let items = own.into_iter().filter(|_| page.offset == 0).collect();
    Ok(listed(store::Listed { items, total }, page))
}

/// One workspace, by id or by slug.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}", tag = "workspaces", operation_id = "getWorkspace",
    params(Ws), responses((status = 200, description = "The workspace.", body = Workspace)))]
pub(crate) async fn get(State(app): State<App>, Auth(caller): Auth) -> Result<Entity<Workspace>, Problem> {
    // The gate let no other one through.
    let mut tx = app.store.read("api.workspace.get").await?;
    let found = store::workspace::get(&mut tx, caller.workspace).await?;
    let found = found.ok_or_else(|| Problem::not_found("workspace", caller.workspace))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
