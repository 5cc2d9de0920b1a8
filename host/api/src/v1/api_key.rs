//! API keys on the wire: an admin makes one; its secret is in that answer and nowhere else.

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode, header::CACHE_CONTROL},
    response::{IntoResponse as _, Response},
};
use engine::commands::api_key::NewApiKey;
use model::{event::Actor, id::Uuid};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::wire::{RoleName, Time, Ws};
use crate::{
    app::App,
    extract::{Auth, Body},
    problem::Problem,
};

/// A key and its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedApiKey {
    pub id: Uuid,
    /// Who it stands for.
    #[schema(example = "alice")]
    pub user: String,
    /// Teams of the user; approval rules count them.
    pub teams: Vec<String>,
    pub role: RoleName,
    /// The one agent whose jobs it may claim; null for any.
    pub agent_id: Option<Uuid>,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    /// Shown here and never again.
    pub secret: String,
}

/// A key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `user` and `role`")]
#[schema(example = json!({"user": "alice", "teams": ["sre"], "role": "approver"}))]
pub(crate) struct CreateApiKey {
    /// Who it stands for: the user of its approvals and events.
    #[schema(min_length = 1, max_length = 255)]
    user: String,
    #[serde(default)]
    teams: Vec<String>,
    role: RoleName,
    /// For an agent's key: the one agent whose jobs it may claim.
    agent_id: Option<Uuid>,
    /// Never when absent.
    expires_at: Option<Time>,
}

/// Makes a key for a person, a service or an agent.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/api-keys", tag = "api-keys", operation_id = "createApiKey",
    params(Ws), request_body = CreateApiKey,
    responses((status = 201, description = "Made; the secret is in this answer alone.", body = CreatedApiKey)))]
pub(crate) async fn create(
    State(app): State<App>,
    Auth(caller): Auth,
    body: Body<CreateApiKey>,
) -> Result<Response, Problem> {
    let wanted = body.value;
    let new = NewApiKey {
        workspace: caller.workspace,
        user: wanted.user,
        teams: wanted.teams,
        role: wanted.role.0,
        agent: wanted.agent_id.map(Into::into),
        expires_at: wanted.expires_at.map(|at| at.0),
    };
    let (key, secret) = app.engine.create_api_key(&Actor::User(caller.user.clone()), new).await?;
    let created = CreatedApiKey {
        id: key.id.0,
        user: key.user,
        teams: key.teams,
        role: RoleName(key.role),
        agent_id: key.agent.map(|agent| agent.0),
        created_at: key.created_at.into(),
        expires_at: key.expires_at.map(Into::into),
        secret,
    };
    let mut response = (StatusCode::CREATED, Json(created)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
