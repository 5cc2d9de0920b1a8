//! Policies on the wire: rules in order, each under the key it was written under.

use axum::{Json, extract::State, http::StatusCode};
use model::{
    Json as AnyJson, Labels,
    id::{PolicyId, Uuid},
    policy::{Rule, RuleKey},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::wire::{
    Entity, Id, Listed, Name, OnErrorName, OrderName, Paging, RuleModeName, ScopeName, Time, Ws, listed,
};
use crate::{
    app::App,
    extract::{Auth, PathId, PathText, Query},
    problem::Problem,
};

/// A set of rules for the targets that its selector matches.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Policy {
    pub id: Uuid,
    #[schema(example = "prod-approval")]
    pub name: String,
    pub description: String,
    /// CEL over `deployment`, `environment` and `resource`.
    #[schema(example = "environment.name == 'prod'")]
    pub selector: String,
    /// High ones are asked first.
    pub priority: i64,
    pub enabled: bool,
    pub rules: Vec<PolicyRule>,
    pub metadata: Labels,
    pub created_at: Time,
}

/// One plugin with one configuration. Exactly one of the keys that name a rule is there: `plugin`, or that of a rule
/// that ships.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyRule {
    pub id: Uuid,
    pub mode: RuleModeName,
    pub on_error: OnErrorName,
    /// In place of the plugin's own scope.
    pub scope: Option<ScopeName>,
    /// Joined by or with the rules of its targets that have the same; without it, by and.
    #[schema(example = "windows")]
    pub any_of: Option<String>,
    /// Whether it holds a target that runs nothing yet.
    pub applies_to_first: bool,
    /// For a sequence: which of several versions goes next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderName>,
    pub created_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!({"minApprovals": 1}))]
    pub any_approval: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_window: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_cooldown: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_selector: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_progression: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradual_rollout: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_dependency: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_sequencing: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<AnyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<AnyJson>,
    /// `name`, `version` (a range) and `config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<AnyJson>,
}

impl From<model::policy::Policy> for Policy {
    fn from(policy: model::policy::Policy) -> Self {
        Self {
            id: policy.id.0,
            name: policy.name,
            description: policy.description,
            selector: policy.selector,
            priority: policy.priority,
            enabled: policy.enabled,
            rules: policy.rules.iter().map(|rule| PolicyRule::from(&**rule)).collect(),
            metadata: policy.metadata,
            created_at: policy.created_at.into(),
        }
    }
}

impl From<&Rule> for PolicyRule {
    fn from(rule: &Rule) -> Self {
        let mut wire = Self {
            id: rule.id.0,
            mode: rule.mode.into(),
            on_error: rule.on_error.into(),
            scope: rule.scope.map(Into::into),
            any_of: rule.any_of.clone(),
            applies_to_first: rule.applies_to_first,
            order: None,
            created_at: rule.created_at.into(),
            any_approval: None,
            deployment_window: None,
            version_cooldown: None,
            version_selector: None,
            environment_progression: None,
            gradual_rollout: None,
            deployment_dependency: None,
            release_sequencing: None,
            retry: None,
            verification: None,
            rollback: None,
            plugin: None,
        };
        let config = rule.config.clone();
        match rule.key {
            RuleKey::AnyApproval => wire.any_approval = Some(config),
            RuleKey::DeploymentWindow => wire.deployment_window = Some(config),
            RuleKey::VersionCooldown => wire.version_cooldown = Some(config),
            RuleKey::VersionSelector => wire.version_selector = Some(config),
            RuleKey::EnvironmentProgression => wire.environment_progression = Some(config),
            RuleKey::GradualRollout => wire.gradual_rollout = Some(config),
            RuleKey::DeploymentDependency => wire.deployment_dependency = Some(config),
            // Its configuration says the order already.
            RuleKey::ReleaseSequencing => wire.release_sequencing = Some(config),
            RuleKey::Retry => wire.retry = Some(config),
            RuleKey::Verification => wire.verification = Some(config),
            RuleKey::Rollback => wire.rollback = Some(config),
            RuleKey::Plugin => {
                let (name, range) = (&rule.plugin.name, rule.plugin.range.to_string());
                wire.plugin = Some(json!({"name": name, "version": range, "config": config}));
                wire.order = Some(rule.order.into());
            }
        }
        wire
    }
}

/// Deletes a policy with its rules: what they held is free. What they said stays on record.
#[utoipa::path(delete, path = "/api/v1/workspaces/{ws}/policies/{id}", tag = "policies",
    operation_id = "deletePolicy", params(Ws, Id), responses((status = 204, description = "It is gone.")))]
pub(crate) async fn delete(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<PolicyId>,
) -> Result<StatusCode, Problem> {
    app.engine.delete_policy(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Every policy, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/policies", tag = "policies", operation_id = "listPolicies",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<Policy>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Policy>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.policy.list").await?;
    Ok(listed(store::policy::list(&mut tx, caller.workspace, page).await?, page))
}

/// One policy, by id.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/policies/{id}", tag = "policies", operation_id = "getPolicy",
    params(Ws, Id), responses((status = 200, description = "The policy.", body = Policy)))]
pub(crate) async fn get(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<PolicyId>,
) -> Result<Entity<Policy>, Problem> {
    let mut tx = app.store.read("api.policy.get").await?;
    let found = store::policy::get(&mut tx, caller.workspace, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("policy", id))?;
    Ok(Entity(StatusCode::OK, found.into()))
}

/// One policy, by name.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/policies/name/{name}", tag = "policies",
    operation_id = "getPolicyByName", params(Ws, Name), responses((status = 200, description = "The policy.", body = Policy)))]
pub(crate) async fn by_name(
    State(app): State<App>,
    Auth(caller): Auth,
    PathText(name): PathText,
) -> Result<Entity<Policy>, Problem> {
    let mut tx = app.store.read("api.policy.by_name").await?;
    let found = store::policy::by_name(&mut tx, caller.workspace, &name).await?;
    let found = found.ok_or_else(|| Problem::not_found("policy", &name))?;
    Ok(Entity(StatusCode::OK, found.into()))
}
