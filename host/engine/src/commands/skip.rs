//! Skips: a person bypasses one rule, or one freeze, for one version.

use model::{
    access::Caller,
    decision::DecisionScope,
    event::{Actor, EventKind, NewEvent, Subject},
    id::{EnvironmentId, FreezeId, PolicyId, RuleId, SkipId, VersionId},
    release_target::TargetKey,
    skip::{Skip, Skipped},
    time::Timestamp,
    wanted::FieldError,
};
use serde_json::json;
use store::{Tx, planning::Mark};

use super::text;
use crate::{CommandError, Engine};

/// What is to be bypassed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToSkip {
    /// One rule of a policy.
    Rule(PolicyId, RuleId),
    /// One freeze.
    Freeze(FreezeId),
}

/// Where it is to be bypassed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipScope {
    /// On one target.
    Target(TargetKey),
    /// In one environment.
    Environment(EnvironmentId),
    /// Wherever the version goes.
    Deployment,
}

/// A bypass that a person gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSkip {
    /// What.
    pub skipped: ToSkip,
    /// For which version.
    pub version: VersionId,
    /// Where.
    pub scope: SkipScope,
    /// Why; it may not be empty.
    pub reason: String,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

impl Engine {
    /// Bypasses a rule or a freeze.
    ///
    /// # Errors
    ///
    /// When the rule, freeze, version or place is not there, the reason is missing, or the end is over.
    pub async fn add_skip(&self, caller: &Caller, new: NewSkip) -> Result<Skip, CommandError> {
        let mut errors: Vec<FieldError> = Vec::new();
        text::reason("/reason", &new.reason, &mut errors);
        let mut tx = self.store.write("command.add_skip").await?;
        let now = tx.now();
        if let Some(end) = new.expires_at.filter(|end| *end <= now) {
            let message = format!("{end} is over, expected an instant after now ({now})");
            errors.push(FieldError { pointer: "/expiresAt".to_owned(), message });
        }
        if !errors.is_empty() {
            return Err(CommandError::Invalid(errors));
        }
        let version = store::version::get(&mut tx, caller.workspace, new.version).await?;
        let version = version.ok_or_else(|| CommandError::NotFound { what: format!("version {}", new.version) })?;
        let scope = scope(&mut tx, caller, version.deployment, new.scope).await?;
        let (skipped, what) = find(&mut tx, caller, new.skipped).await?;
        let skip = Skip {
            id: SkipId(tx.new_id()),
            workspace: caller.workspace,
            skipped,
            version: version.id,
            scope,
            user: caller.user.clone(),
            reason: new.reason,
            created_at: now,
            expires_at: new.expires_at,
        };
        store::skip::insert(&mut tx, &skip).await?;
        let expires_at = skip.expires_at.map(|at| at.to_string());
        let data = json!({"version": version.tag, "skipped": what, "reason": skip.reason, "expiresAt": expires_at});
        store::event::append(&mut tx, caller.workspace, about(caller, &skip, EventKind::SkipCreated, data)).await?;
        store::planning::mark(&mut tx, version.deployment, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(skip)
    }

    /// Takes a bypass back.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub async fn remove_skip(&self, caller: &Caller, id: SkipId) -> Result<(), CommandError> {
        let mut tx = self.store.write("command.remove_skip").await?;
        let skip = store::skip::get(&mut tx, caller.workspace, id).await?;
        let skip = skip.ok_or_else(|| CommandError::NotFound { what: format!("skip {id}") })?;
        store::skip::delete(&mut tx, id).await?;
        let data = json!({"reason": skip.reason});
        store::event::append(&mut tx, caller.workspace, about(caller, &skip, EventKind::SkipRemoved, data)).await?;
        store::planning::mark(&mut tx, skip.scope.deployment, Mark::Facts).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// What is bypassed, and how people call it.
async fn find(tx: &mut Tx, caller: &Caller, skipped: ToSkip) -> Result<(Skipped, String), CommandError> {
    match skipped {
        ToSkip::Rule(policy, rule) => {
            let found = store::policy::get(tx, caller.workspace, policy).await?;
            let found = found.ok_or_else(|| CommandError::NotFound { what: format!("policy {policy}") })?;
            let rule_found = found.rules.iter().find(|one| one.id == rule);
            let what = format!("rule {rule} in policy `{}`", found.name);
            let rule_found = rule_found.ok_or(CommandError::NotFound { what })?;
            Ok((Skipped::Rule(policy, rule), format!("{}/{}", found.name, rule_found.label())))
        }
        ToSkip::Freeze(freeze) => {
            let found = store::freeze::get(tx, caller.workspace, freeze).await?;
            let found = found.ok_or_else(|| CommandError::NotFound { what: format!("freeze {freeze}") })?;
            Ok((Skipped::Freeze(freeze), format!("freeze {}", found.name)))
        }
    }
}

async fn scope(
    tx: &mut Tx,
    caller: &Caller,
    deployment: model::id::DeploymentId,
    scope: SkipScope,
) -> Result<DecisionScope, CommandError> {
    match scope {
        SkipScope::Deployment => Ok(DecisionScope { deployment, environment: None, resource: None }),
        SkipScope::Environment(environment) => {
            if store::environment::get(tx, caller.workspace, environment).await?.is_none() {
                return Err(CommandError::NotFound { what: format!("environment {environment}") });
            }
            Ok(DecisionScope { deployment, environment: Some(environment), resource: None })
        }
        SkipScope::Target(key) => {
            let found = store::release_target::get(tx, caller.workspace, key).await?;
            if found.is_none() {
                return Err(CommandError::NotFound { what: format!("release target {key}") });
            }
            if key.deployment != deployment {
                return Err(CommandError::field("/targetKey", "is of another deployment than the version"));
            }
            let (environment, resource) = (Some(key.environment), Some(key.resource));
            Ok(DecisionScope { deployment, environment, resource })
        }
    }
}

fn about(caller: &Caller, skip: &Skip, kind: EventKind, data: model::Json) -> NewEvent {
    let policy = match skip.skipped {
        Skipped::Rule(policy, _) => Some(policy),
        Skipped::Freeze(_) => None,
    };
    let subject = Subject {
        deployment: Some(skip.scope.deployment),
        environment: skip.scope.environment,
        resource: skip.scope.resource,
        version: Some(skip.version),
        policy,
        ..Subject::default()
    };
    NewEvent { kind, actor: Actor::User(caller.user.clone()), subject, data }
}
