//! Job agents on the wire: named executors.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Json as AnyJson,
    id::{JobAgentId, Uuid},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{AgentTypeName, Entity, Id, Listed, Name, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, PathText, Query},
    problem::Problem,
};

/// A named executor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobAgent {
    pub id: Uuid,
    #[schema(example = "copier")]
    pub name: String,
    pub agent_type: AgentTypeName,
    /// What its executors are told, under the deployment's and the version's.
    pub config: AnyJson,
    /// Lease of its jobs.
    #[schema(example = 60)]
    pub lease_seconds: i64,
    pub created_at: Time,
}

impl From<model::job_agent::JobAgent> for JobAgent {
    fn from(agent: model::job_agent::JobAgent) -> Self {
        Self {
            id: agent.id.0,
            name: agent.name,
            agent_type: agent.agent_type.into(),
            config: agent.config,
            lease_seconds: agent.lease_seconds,
            created_at: agent.created_at.into(),
        }
    }
}

/// Every job agent, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/job-agents", tag = "deployments", operation_id = "listJobAgents",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<JobAgent>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<JobAgent>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.job_agent.list").await?;
    Ok(listed(store::job_agent::list(&mut tx, caller.workspace, page).await?, page))
}

/// One job agent, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/job-agents/{id}", tag = "deployments", operation_id = "getJobAgent",
    params(Ws, Id), responses((status = 200, description = "The job agent.", body = JobAgent)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<JobAgentId>,
) -> Result<Entity<JobAgent>, Problem> {
    let mut tx = app.store.read("api.job_agent.get").await?;
    let found = store::job_agent::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("job agent", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// One job agent, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/job-agents/name/{name}", tag = "deployments",
    operation_id = "getJobAgentByName", params(Ws, Name), responses((status = 200, description = "The job agent.", body = JobAgent)))]
pub(crate) async fn by_name(
    State(app): State<App>,
    Auth(caller): Auth,
    PathText(name): PathText,
) -> Result<Entity<JobAgent>, Problem> {
    let mut tx = app.store.read("api.job_agent.by_name").await?;
    let found = store::job_agent::by_name(&mut tx, caller.workspace, &name).await?;
    let found = found.ok_or_else(|| Problem::not_found("job agent", &name))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
