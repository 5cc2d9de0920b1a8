//! Deployments on the wire: what is deployed, where it may go and who carries it out.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Json as AnyJson, Labels,
    id::{DeploymentId, Uuid},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{Entity, Id, Listed, Name, Paging, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, PathId, PathText, Query},
    problem::Problem,
};

/// What is deployed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deployment {
    pub id: Uuid,
    #[schema(example = "site")]
    pub name: String,
    pub description: String,
    /// Systems it is linked to.
    pub system_ids: Vec<Uuid>,
    /// CEL over `resource`; where it may go.
    #[schema(example = "resource.kind == 'Folder'")]
    pub resource_selector: String,
    /// Who carries its jobs out. Without one releases are made but no jobs.
    pub job_agent_id: Option<Uuid>,
    /// Merged over the agent's own configuration.
    pub job_agent_config: AnyJson,
    /// How long a job may run in all.
    #[schema(example = 3600)]
    pub job_deadline_seconds: i64,
    pub metadata: Labels,
    pub created_at: Time,
}

impl From<model::deployment::Deployment> for Deployment {
    fn from(deployment: model::deployment::Deployment) -> Self {
        Self {
            id: deployment.id.0,
            name: deployment.name,
            description: deployment.description,
            system_ids: deployment.systems.into_iter().map(|system| system.0).collect(),
            resource_selector: deployment.resource_selector,
            job_agent_id: deployment.job_agent.map(|agent| agent.0),
            job_agent_config: deployment.job_agent_config,
            job_deadline_seconds: deployment.job_deadline_seconds,
            metadata: deployment.metadata,
            created_at: deployment.created_at.into(),
        }
    }
}

/// Every deployment, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/deployments", tag = "deployments", operation_id = "listDeployments",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<Deployment>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Deployment>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.deployment.list").await?;
    Ok(listed(store::deployment::list(&mut tx, caller.workspace, page).await?, page))
}

/// One deployment, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/deployments/{id}", tag = "deployments", operation_id = "getDeployment",
    params(Ws, Id), responses((status = 200, description = "The deployment.", body = Deployment)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<DeploymentId>,
) -> Result<Entity<Deployment>, Problem> {
    let mut tx = app.store.read("api.deployment.get").await?;
    let found = store::deployment::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("deployment", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// One deployment, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/deployments/name/{name}", tag = "deployments",
    operation_id = "getDeploymentByName", params(Ws, Name), responses((status = 200, description = "The deployment.", body = Deployment)))]
pub(crate) async fn by_name(
    State(app): State<App>,
    Auth(caller): Auth,
    PathText(name): PathText,
) -> Result<Entity<Deployment>, Problem> {
    let mut tx = app.store.read("api.deployment.by_name").await?;
    let found = store::deployment::by_name(&mut tx, caller.workspace, &name).await?;
    let found = found.ok_or_else(|| Problem::not_found("deployment", &name))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
