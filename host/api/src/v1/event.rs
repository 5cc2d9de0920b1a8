//! Events on the wire: the audit trail, in order.

use axum::{Json, extract::State};
use model::{Json as AnyJson, event::Subject, id::Uuid};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::wire::{EventKindName, Time, Ws};
use crate::{
    app::App,
    extract::{Auth, Query, limit_of, refused},
    problem::Problem,
};

/// One line of the audit trail.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    /// Its place among the workspace's events: rising without gaps from 1.
    #[schema(example = 42)]
    pub position: i64,
    pub id: Uuid,
    pub at: Time,
    pub kind: EventKindName,
    /// `system`, `user:NAME` or `node:NAME`.
    #[schema(example = "user:alice")]
    pub actor: String,
    pub subject: EventSubject,
    /// What else there is to know.
    pub data: AnyJson,
}

/// What an event is about; whatever applies.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventSubject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<Uuid>,
}

impl From<model::event::Event> for Event {
    fn from(event: model::event::Event) -> Self {
        Self {
            position: event.position,
            id: event.id.0,
            at: event.at.into(),
            kind: event.event.kind.into(),
            actor: event.event.actor.text(),
            subject: event.event.subject.into(),
            data: event.event.data,
        }
    }
}

impl From<Subject> for EventSubject {
    fn from(subject: Subject) -> Self {
        let Subject { system, deployment, environment, resource, version, release, job, policy } = subject;
        Self {
            system_id: system.map(|id| id.0),
            deployment_id: deployment.map(|id| id.0),
            environment_id: environment.map(|id| id.0),
            resource_id: resource.map(|id| id.0),
            version_id: version.map(|id| id.0),
            release_id: release.map(|id| id.0),
            job_id: job.map(|id| id.0),
            policy_id: policy.map(|id| id.0),
        }
    }
}

/// Events after a position.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Events {
    pub items: Vec<Event>,
    /// The last position here: ask again after it. As asked for when nothing came.
    pub next_cursor: i64,
}

/// From where on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct After {
    /// After this position; 0 for all.
    #[param(minimum = 0, default = 0)]
    after: Option<i64>,
    /// At most so many.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<i64>,
}

/// Checks a position that a client names.
pub(super) fn position(name: &str, after: Option<i64>) -> Result<i64, Problem> {
    match after.unwrap_or(0) {
        at if at >= 0 => Ok(at),
        _ => Err(refused(name, "must not be negative")),
    }
}

/// Events in order, after a position.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/events", tag = "events", operation_id = "listEvents",
    params(Ws, After), responses((status = 200, description = "What followed.", body = Events)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(query): Query<After>,
) -> Result<Json<Events>, Problem> {
    let after = position("after", query.after)?;
    let limit = limit_of(query.limit)?;
    let mut tx = app.store.read("api.event.list").await?;
    let found = store::event::after(&mut tx, caller.workspace, after, limit).await?;
    let next_cursor = found.last().map_or(after, |event| event.position);
    Ok(Json(Events { items: found.into_iter().map(Into::into).collect(), next_cursor }))
}
