//! Skips on the wire: a person bypasses one rule, or one freeze, for one version.

use axum::{extract::State, http::StatusCode};
use engine::{NewSkip, SkipScope, ToSkip};
use model::{
    id::{EnvironmentId, FreezeId, PolicyId, RuleId, SkipId, Uuid, VersionId},
    skip::Skipped,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::wire::{Entity, Id, TargetKeyText, Time, Ws};
use crate::{
    app::App,
    extract::{Auth, Body, PathId},
    problem::{Code, Problem},
};

/// A bypass, given by a person with a reason.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Skip {
    pub id: Uuid,
    /// The policy whose rule is bypassed; null for a freeze.
    pub policy_id: Option<Uuid>,
    pub rule_id: Option<Uuid>,
    /// The freeze that is bypassed; null for a rule.
    pub freeze_id: Option<Uuid>,
    pub version_id: Uuid,
    pub deployment_id: Uuid,
    /// Null for every environment.
    pub environment_id: Option<Uuid>,
    /// Null for every resource.
    pub resource_id: Option<Uuid>,
    /// Who gave it.
    #[schema(example = "alice")]
    pub user: String,
    pub reason: String,
    pub created_at: Time,
    /// When it ends by itself; null when it does not.
    pub expires_at: Option<Time>,
}

impl From<model::skip::Skip> for Skip {
    fn from(skip: model::skip::Skip) -> Self {
        let (policy_id, rule_id, freeze_id) = match skip.skipped {
            Skipped::Rule(policy, rule) => (Some(policy.0), Some(rule.0), None),
            Skipped::Freeze(freeze) => (None, None, Some(freeze.0)),
        };
        Self {
            id: skip.id.0,
            policy_id,
            rule_id,
            freeze_id,
            version_id: skip.version.0,
            deployment_id: skip.scope.deployment.0,
            environment_id: skip.scope.environment.map(|id| id.0),
            resource_id: skip.scope.resource.map(|id| id.0),
            user: skip.user,
            reason: skip.reason,
            created_at: skip.created_at.into(),
            expires_at: skip.expires_at.map(Into::into),
        }
    }
}

/// A rule to be bypassed, for which version and where: on one target, in one environment, or wherever it goes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `ruleId`, `versionId` and `reason`")]
pub(crate) struct CreateSkip {
    rule_id: Uuid,
    version_id: Uuid,
    /// Only on this target: `resourceId-environmentId-deploymentId`.
    #[schema(value_type = Option<String>)]
    target_key: Option<TargetKeyText>,
    /// Only in this environment.
    environment_id: Option<Uuid>,
    /// Why, for those who read the trail later.
    #[schema(min_length = 1, max_length = 4096)]
    reason: String,
    /// When it ends by itself.
    expires_at: Option<Time>,
}

/// A freeze to be bypassed, for which version and where.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `versionId` and `reason`")]
pub(crate) struct CreateFreezeSkip {
    version_id: Uuid,
    /// Only on this target: `resourceId-environmentId-deploymentId`.
    #[schema(value_type = Option<String>)]
    target_key: Option<TargetKeyText>,
    /// Only in this environment.
    environment_id: Option<Uuid>,
    /// Why, for those who read the trail later.
    #[schema(min_length = 1, max_length = 4096)]
    reason: String,
    /// When it ends by itself.
    expires_at: Option<Time>,
}

fn scope(target: Option<TargetKeyText>, environment: Option<Uuid>) -> Result<SkipScope, Problem> {
    match (target, environment) {
        (Some(key), None) => Ok(SkipScope::Target(key.0)),
        (None, Some(environment)) => Ok(SkipScope::Environment(EnvironmentId(environment))),
        (None, None) => Ok(SkipScope::Deployment),
        (Some(_), Some(_)) => {
            let message = "stands beside `targetKey`, expected one of the two";
            Err(Problem::at(Code::InvalidContent, "/environmentId", message.to_owned()))
        }
    }
}

/// Bypasses a rule of a policy for one version.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/policies/{id}/skips", tag = "policies",
    operation_id = "createSkip", params(Ws, Id), request_body = CreateSkip,
    responses((status = 201, description = "It holds from now on.", body = Skip)))]
pub(crate) async fn create(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(policy): PathId<PolicyId>,
    body: Body<CreateSkip>,
) -> Result<Entity<Skip>, Problem> {
    let wanted = body.value;
    let new = NewSkip {
        skipped: ToSkip::Rule(policy, RuleId(wanted.rule_id)),
        version: VersionId(wanted.version_id),
        scope: scope(wanted.target_key, wanted.environment_id)?,
        reason: wanted.reason,
        expires_at: wanted.expires_at.map(|at| at.0),
    };
    Ok(Entity(StatusCode::CREATED, app.engine.add_skip(&caller, new).await?.into()))
}

/// Bypasses a freeze for one version.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/freezes/{id}/skips", tag = "freezes",
    operation_id = "createFreezeSkip", params(Ws, Id), request_body = CreateFreezeSkip,
    responses((status = 201, description = "It holds from now on.", body = Skip)))]
pub(crate) async fn create_of_freeze(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(freeze): PathId<FreezeId>,
    body: Body<CreateFreezeSkip>,
) -> Result<Entity<Skip>, Problem> {
    let wanted = body.value;
    let new = NewSkip {
        skipped: ToSkip::Freeze(freeze),
        version: VersionId(wanted.version_id),
        scope: scope(wanted.target_key, wanted.environment_id)?,
        reason: wanted.reason,
        expires_at: wanted.expires_at.map(|at| at.0),
    };
    Ok(Entity(StatusCode::CREATED, app.engine.add_skip(&caller, new).await?.into()))
}

/// Takes a bypass back.
#[utoipa::path(delete, path = "/api/v1/workspaces/{ws}/skips/{id}", tag = "policies", operation_id = "removeSkip",
    params(Ws, Id), responses((status = 204, description = "It holds no longer.")))]
pub(crate) async fn remove(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<SkipId>,
) -> Result<StatusCode, Problem> {
    app.engine.remove_skip(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
