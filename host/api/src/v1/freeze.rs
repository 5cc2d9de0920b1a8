//! Freezes on the wire: stretches of time in which nothing starts. They are made by applying documents.

use axum::{Json, extract::State, http::StatusCode};
use model::id::{FreezeId, Uuid};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{Id, Listed, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, Query},
    problem::Problem,
};

/// A stretch of time in which nothing starts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Freeze {
    pub id: Uuid,
    #[schema(example = "holidays")]
    pub name: String,
    /// CEL over `deployment`, `environment` and `resource`.
    #[schema(example = "environment.name == 'prod'")]
    pub selector: String,
    pub start: Time,
    /// Null until it is lifted.
    pub end: Option<Time>,
    pub reason: String,
    /// Who made it.
    pub created_by: String,
    pub created_at: Time,
}

impl From<model::freeze::Freeze> for Freeze {
    fn from(freeze: model::freeze::Freeze) -> Self {
        Self {
            id: freeze.id.0,
            name: freeze.name,
            selector: freeze.selector,
            start: freeze.starts_at.into(),
            end: freeze.ends_at.map(Into::into),
            reason: freeze.reason,
            created_by: freeze.created_by,
            created_at: freeze.created_at.into(),
        }
    }
}

/// Every freeze, by name; those that are over among them.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/freezes", tag = "freezes", operation_id = "listFreezes",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<Freeze>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Freeze>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.freeze.list").await?;
    Ok(listed(store::freeze::list(&mut tx, caller.workspace, page).await?, page))
}

/// Lifts a freeze: what it held goes on.
#[utoipa::path(delete, path = "/api/v1/workspaces/{ws}/freezes/{id}", tag = "freezes", operation_id = "liftFreeze",
    params(Ws, Id), responses((status = 204, description = "It holds no longer.")))]
pub(crate) async fn lift(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<FreezeId>,
) -> Result<StatusCode, Problem> {
    app.engine.lift_freeze(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
