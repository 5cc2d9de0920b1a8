//! Approvals on the wire: people's word on a version in environments.

use axum::{Json, extract::State};
use model::id::{EnvironmentId, Uuid, VersionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::wire::{ApprovalName, Id, Items, Time, Ws};
use crate::{
    app::App,
    extract::{Auth, Body, PathId},
    problem::{Code, Problem},
};

/// Most environments of one record; there are never so many stages.
const ENVIRONMENTS_MAX: usize = 1000;

/// One person's word; the last one of each person stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Approval {
    pub id: Uuid,
    pub version_id: Uuid,
    pub environment_id: Uuid,
    /// Who said it.
    #[schema(example = "alice")]
    pub user: String,
    pub status: ApprovalName,
    pub reason: String,
    pub at: Time,
}

impl From<model::approval::Approval> for Approval {
    fn from(approval: model::approval::Approval) -> Self {
        Self {
            id: approval.id.0,
            version_id: approval.version.0,
            environment_id: approval.environment.0,
            user: approval.user,
            status: approval.decision.into(),
            reason: approval.reason,
            at: approval.at.into(),
        }
    }
}

/// The caller's word on a version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `environmentIds` and `status`")]
pub(crate) struct RecordApproval {
    /// For which environments; an approval is never for all of them by omission.
    #[schema(min_items = 1, max_items = 1000)]
    environment_ids: Vec<Uuid>,
    status: ApprovalName,
    /// Why.
    #[serde(default)]
    #[schema(max_length = 4096)]
    reason: String,
}

/// Records the caller's word on a version in environments. The same word again changes nothing.
#[utoipa::path(put, path = "/api/v1/workspaces/{ws}/deployment-versions/{id}/user-approval-records", tag = "versions",
    operation_id = "recordApproval", params(Ws, Id), request_body = RecordApproval,
    responses((status = 200, description = "The records as they stand.", body = Items<Approval>)))]
pub(crate) async fn put(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<VersionId>,
    body: Body<RecordApproval>,
) -> Result<Json<Items<Approval>>, Problem> {
    let RecordApproval { environment_ids, status, reason } = body.value;
    if environment_ids.len() > ENVIRONMENTS_MAX {
        let message = format!("names {} environments, at most {ENVIRONMENTS_MAX} are allowed", environment_ids.len());
        return Err(Problem::at(Code::InvalidContent, "/environmentIds", message));
    }
    let environments: Vec<EnvironmentId> = environment_ids.into_iter().map(EnvironmentId).collect();
    let approvals = app.engine.record_approval(&caller, id, &environments, status.0, &reason).await?;
    Ok(Json(Items { items: approvals.into_iter().map(Into::into).collect() }))
}

/// What was said of a version, by time.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/deployment-versions/{id}/user-approval-records", tag = "versions",
    operation_id = "listApprovals", params(Ws, Id),
    responses((status = 200, description = "Every record.", body = Items<Approval>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<VersionId>,
) -> Result<Json<Items<Approval>>, Problem> {
    let mut tx = app.store.read("api.approval.list").await?;
    if store::version::get(&mut tx, caller.workspace, id).await?.is_none() {
        return Err(Problem::not_found("version", id));
    }
    let found = store::approval::list_for_version(&mut tx, caller.workspace, id).await?;
    Ok(Json(Items { items: found.into_iter().map(Into::into).collect() }))
}
