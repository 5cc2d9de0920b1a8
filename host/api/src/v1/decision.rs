//! Decisions on the wire: what rules said, as it was written down.

use axum::{Json, extract::State};
use model::{
    Labels,
    decision::Verdict,
    id::{Uuid, VersionId},
    release_target::TargetKey,
};
use serde::{Deserialize, Serialize};
use store::decision::Filter;
use utoipa::{IntoParams, ToSchema};

use super::{
    explain::Key,
    wire::{FaultName, Listed, RuleModeName, Time, VerdictName, Ws, listed},
};
use crate::{
    app::App,
    extract::{Auth, PathId, Query, page},
    problem::Problem,
};

/// What one rule said of one version, where it holds. A wider scope has no environment or resource.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decision {
    pub id: Uuid,
    pub policy_id: Uuid,
    pub rule_id: Uuid,
    /// How people call the rule.
    #[schema(example = "anyApproval")]
    pub rule: String,
    /// Which bytes said it; null when there was no plugin to ask.
    pub digest: Option<String>,
    pub version_id: Uuid,
    pub deployment_id: Uuid,
    pub environment_id: Option<Uuid>,
    pub resource_id: Option<Uuid>,
    pub mode: RuleModeName,
    pub verdict: VerdictName,
    pub reason: String,
    /// When to ask again, of a wait.
    pub next_evaluation: Option<Time>,
    /// When time alone ends an allow.
    pub valid_until: Option<Time>,
    pub satisfied_at: Option<Time>,
    pub details: Labels,
    pub fault: Option<FaultName>,
    pub at: Time,
}

impl From<model::decision::Decision> for Decision {
    fn from(decision: model::decision::Decision) -> Self {
        let next_evaluation = match decision.answer.verdict {
            Verdict::Wait(until) => until,
            Verdict::Allow | Verdict::Deny => None,
        };
        Self {
            id: decision.id.0,
            policy_id: decision.policy.0,
            rule_id: decision.rule.0,
            rule: decision.rule_label,
            digest: decision.digest.map(|digest| digest.to_string()),
            version_id: decision.version.0,
            deployment_id: decision.scope.deployment.0,
            environment_id: decision.scope.environment.map(|id| id.0),
            resource_id: decision.scope.resource.map(|id| id.0),
            mode: decision.mode.into(),
            verdict: decision.answer.verdict.into(),
            reason: decision.answer.reason,
            next_evaluation: next_evaluation.map(Into::into),
            valid_until: decision.answer.valid_until.map(Into::into),
            satisfied_at: decision.answer.satisfied_at.map(Into::into),
            details: decision.answer.details,
            fault: decision.fault.map(Into::into),
            at: decision.at.into(),
        }
    }
}

/// Which decisions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct Which {
    version_id: Option<Uuid>,
    /// Only those that no later one stands in place of.
    #[serde(default)]
    #[param(default = false)]
    latest: bool,
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<i64>,
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

/// What rules said that holds on a target, newest first.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/release-targets/{key}/decisions", tag = "targets",
    operation_id = "listDecisions", params(Ws, Key, Which),
    responses((status = 200, description = "A page of the list.", body = Listed<Decision>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(key): PathId<TargetKey>,
    Query(which): Query<Which>,
) -> Result<Json<Listed<Decision>>, Problem> {
    let page = page(which.limit, which.offset)?;
    let filter = Filter {
        deployment: None,
        target: Some(key),
        version: which.version_id.map(VersionId),
        latest_only: which.latest,
    };
    let mut tx = app.store.read("api.decision.list").await?;
    if store::release_target::get(&mut tx, caller.workspace, key).await?.is_none() {
        return Err(Problem::not_found("release target", key));
    }
    Ok(listed(store::decision::list(&mut tx, caller.workspace, filter, page).await?, page))
}
