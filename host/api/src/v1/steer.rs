//! What people do to a target apart from rules: go back, go on, start again, withdraw; and what they saw of a job.

use axum::{extract::State, http::StatusCode};
use model::{
    Json as AnyJson,
    hold::HeldBy,
    id::{JobId, ReleaseId, Uuid, VersionId},
    release_target::TargetKey,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    explain::Key,
    wire::{Entity, Id, Time, Ws},
};
use crate::{
    app::App,
    extract::{Auth, Body, PathId},
    problem::{Code, Problem},
};

/// What a rollback keeps a target on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hold {
    /// `resourceId-environmentId-deploymentId`.
    pub target_key: String,
    pub release_id: Uuid,
    pub version_id: Uuid,
    /// The person who holds it, until somebody resumes; null where a rule does.
    pub user: Option<String>,
    /// The version that failed, where a rule holds the target until something newer may go.
    pub failed_version_id: Option<Uuid>,
    pub reason: String,
    pub since: Time,
    /// When what it was held on failed as well; null when it did not.
    pub failed_at: Option<Time>,
}

impl From<model::hold::Hold> for Hold {
    fn from(hold: model::hold::Hold) -> Self {
        let (user, failed_version_id) = match hold.by {
            HeldBy::Person { user } => (Some(user), None),
            HeldBy::Rule { failed } => (None, Some(failed.0)),
        };
        Self {
            target_key: hold.target.to_string(),
            release_id: hold.release.0,
            version_id: hold.version.0,
            user,
            failed_version_id,
            reason: hold.reason,
            since: hold.since.into(),
            failed_at: hold.failed_at.map(Into::into),
        }
    }
}

/// Which version, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `reason`")]
#[schema(example = json!({"reason": "customers cannot pay"}))]
pub(crate) struct Steer {
    /// For a rollback the last good one before what runs there, for a redeploy the one that came there last, when absent.
    version_id: Option<Uuid>,
    /// Why, for those who read the trail later.
    #[schema(min_length = 1, max_length = 4096)]
    reason: String,
}

/// Why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `reason`")]
#[schema(example = json!({"reason": "the database is back"}))]
pub(crate) struct Why {
    /// For those who read the trail later.
    #[schema(min_length = 1, max_length = 4096)]
    reason: String,
}

/// A redeploy that waits for the target's gates.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Redeploy {
    /// `resourceId-environmentId-deploymentId`.
    pub target_key: String,
    pub release_id: Uuid,
    pub version_id: Uuid,
    pub user: String,
    pub reason: String,
    pub requested_at: Time,
}

/// What was seen of a metric: a value, or why there is none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `metric` and `value`")]
#[schema(example = json!({"metric": "errors", "value": {"rate": 0.01}}))]
pub(crate) struct RecordMeasurement {
    #[schema(min_length = 1, max_length = 255)]
    metric: String,
    /// What the rule's conditions see as `result`.
    value: Option<AnyJson>,
    /// Why nothing could be seen.
    #[schema(max_length = 4096)]
    error: Option<String>,
}

/// Brings a target back to a version that ran there before, and holds it there until somebody resumes.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/release-targets/{key}/rollback", tag = "targets",
    operation_id = "rollBack", params(Ws, Key), request_body = Steer,
    responses((status = 200, description = "What holds it now.", body = Hold)))]
pub(crate) async fn roll_back(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(key): PathId<TargetKey>,
    body: Body<Steer>,
) -> Result<Entity<Hold>, Problem> {
    let Steer { version_id, reason } = body.value;
    let hold = app.engine.roll_back(&caller, key, version_id.map(VersionId), &reason).await?;
    Ok(Entity(StatusCode::OK, hold.into()))
}

/// A rollback holds the target no longer.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/release-targets/{key}/resume", tag = "targets",
    operation_id = "resume", params(Ws, Key), request_body = Why,
    responses((status = 204, description = "It goes on.")))]
pub(crate) async fn resume(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(key): PathId<TargetKey>,
    body: Body<Why>,
) -> Result<StatusCode, Problem> {
    app.engine.resume(&caller, key, &body.value.reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Starts a version again on a target, once every gate lets it go.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/release-targets/{key}/redeploy", tag = "targets",
    operation_id = "redeploy", params(Ws, Key), request_body = Steer,
    responses((status = 202, description = "It is wanted.", body = Redeploy)))]
pub(crate) async fn redeploy(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(key): PathId<TargetKey>,
    body: Body<Steer>,
) -> Result<Entity<Redeploy>, Problem> {
    let Steer { version_id, reason } = body.value;
    let wanted = app.engine.redeploy(&caller, key, version_id.map(VersionId), &reason).await?;
    let wanted = Redeploy {
        target_key: wanted.target.to_string(),
        release_id: wanted.release.0,
        version_id: wanted.version.0,
        user: wanted.user,
        reason: wanted.reason,
        requested_at: wanted.requested_at.into(),
    };
    Ok(Entity(StatusCode::ACCEPTED, wanted))
}

/// Withdraws a release for good: it is never started on its target again, and its jobs are called off.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/releases/{id}/cancel", tag = "releases",
    operation_id = "cancelRelease", params(Ws, Id), request_body = Why,
    responses((status = 204, description = "It is withdrawn.")))]
pub(crate) async fn cancel(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<ReleaseId>,
    body: Body<Why>,
) -> Result<StatusCode, Problem> {
    app.engine.cancel_release(&caller, id, &body.value.reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes in what was seen of a metric of a job, for its verification.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/jobs/{id}/measurements", tag = "jobs",
    operation_id = "recordMeasurement", params(Ws, Id), request_body = RecordMeasurement,
    responses((status = 204, description = "It counts.")))]
pub(crate) async fn measure(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<JobId>,
    body: Body<RecordMeasurement>,
) -> Result<StatusCode, Problem> {
    let RecordMeasurement { metric, value, error } = body.value;
    let seen = match (value, error) {
        (Some(value), None) => Ok(value),
        (None, Some(error)) => Err(error),
        (Some(_), Some(_)) | (None, None) => {
            let message = "expected either `value` or `error`";
            return Err(Problem::at(Code::InvalidContent, "/value", message.to_owned()));
        }
    };
    app.engine.record_measurement(&caller, id, &metric, seen).await?;
    Ok(StatusCode::NO_CONTENT)
}
