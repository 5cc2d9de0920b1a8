//! What people do in a step besides saying yes or no.

use engine::{CommandError, NewSkip, SkipScope, ToSkip};
use manifest::scenario::{Action, By, Bypass, Cancelled, Deletable, Reach, RuleName};
use model::{
    id::{EnvironmentId, PolicyId, RuleId, VersionId},
    release_target::TargetKey,
    skip::Skipped,
    time::Timestamp,
    version::VersionStatus,
    wanted::Wanted,
};
use store::{Page, release::Filter};

use crate::{
    SimulateError,
    actions::{find_deployment, find_target, find_version, latest_job, missing},
    world::World,
};

/// What a person is taken to say who says nothing.
const NO_REASON: &str = "in a scenario";

/// Does what a step says. A command that the server refuses is the file's fault.
pub(crate) async fn perform(world: &World, action: &Action, line: u64) -> Result<(), SimulateError> {
    let refused = |error: CommandError| SimulateError::Step { line, message: error.to_string() };
    match action {
        Action::Revoke(word) => {
            let version = find_version(world, &word.deployment, &word.version, line).await?.id;
            let environment = find_environment(world, &word.environment, line).await?;
            let caller = world.caller(&word.user, &word.roles);
            world.engine.withdraw_approval(&caller, version, environment, &word.user).await.map_err(refused)?;
        }
        Action::Delete { what, name } => {
            let caller = world.caller("scenario", &[]);
            match what {
                Deletable::Policy => {
                    let policy = find_policy(world, name, line).await?.id;
                    world.engine.delete_policy(&caller, policy).await.map_err(refused)?;
                }
                Deletable::Freeze => lift(world, name, "scenario", line).await?,
            }
        }
        Action::Skip { bypass, by, expires } => skip(world, bypass, by, *expires, line).await?,
        Action::Unskip { bypass, by } => unskip(world, bypass, by, line).await?,
        Action::Cancel { cancelled, by } => cancel(world, cancelled, by, line).await?,
        Action::Redeploy { target, version, by } => {
            let (key, version) = target_and_version(world, target, version.as_deref(), line).await?;
            let caller = world.caller(&by.user, &[]);
            world.engine.redeploy(&caller, key, version, reason(by)).await.map_err(refused)?;
        }
        Action::Rollback { target, version, by } => {
            let (key, version) = target_and_version(world, target, version.as_deref(), line).await?;
            let caller = world.caller(&by.user, &[]);
            world.engine.roll_back(&caller, key, version, reason(by)).await.map_err(refused)?;
        }
        Action::Resume { target, by } => {
            let key = find_target(world, target, line).await?;
            world.engine.resume(&world.caller(&by.user, &[]), key, reason(by)).await.map_err(refused)?;
        }
        Action::Freeze { freeze, user } => {
            let wanted = [Wanted::Freeze(freeze.clone())];
            world.engine.apply(&world.caller(user, &[]), &wanted, false).await.map_err(refused)?;
        }
        Action::Unfreeze { name, by } => lift(world, name, &by.user, line).await?,
        Action::Measure(measured) => {
            let job = latest_job(world, &measured.target, line).await?.id;
            let caller = world.caller("agent", &[]);
            let seen = measured.value.clone();
            world.engine.record_measurement(&caller, job, &measured.metric, seen).await.map_err(refused)?;
        }
        Action::Apply(_)
        | Action::Version { .. }
        | Action::VersionStatus { .. }
        | Action::Approve(_)
        | Action::Reject(_)
        | Action::Report(_)
        | Action::ExpireLease { .. }
        | Action::Restart
        | Action::Expect(_) => {}
    }
    Ok(())
}

fn reason(by: &By) -> &str {
    if by.reason.trim().is_empty() { NO_REASON } else { &by.reason }
}

async fn skip(
    world: &World,
    bypass: &Bypass,
    by: &By,
    expires_at: Option<Timestamp>,
    line: u64,
) -> Result<(), SimulateError> {
    let (policy, rule) = find_rule(world, bypass, line).await?;
    let version = bypassed_version(world, bypass, line).await?;
    let scope = match &bypass.reach {
        Reach::Target(target) => SkipScope::Target(find_target(world, target, line).await?),
        Reach::Environment(name) => SkipScope::Environment(find_environment(world, name, line).await?),
        Reach::Deployment => SkipScope::Deployment,
    };
    let skipped = ToSkip::Rule(policy, rule);
    let new = NewSkip { skipped, version, scope, reason: reason(by).to_owned(), expires_at };
    let added = world.engine.add_skip(&world.caller(&by.user, &[]), new).await;
    added.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
    Ok(())
}

async fn unskip(world: &World, bypass: &Bypass, by: &By, line: u64) -> Result<(), SimulateError> {
    let (policy, rule) = find_rule(world, bypass, line).await?;
    let version = bypassed_version(world, bypass, line).await?;
    let deployment = find_deployment(world, &bypass.deployment, line).await?.id;
    let mut tx = world.store.read("simulate.find").await?;
    let skips = store::skip::of_deployment(&mut tx, deployment).await?;
    drop(tx);
    let of_it = |skip: &&model::skip::Skip| skip.skipped == Skipped::Rule(policy, rule) && skip.version == version;
    let skip = skips.iter().rfind(of_it).ok_or_else(|| missing(line, "skip of policy", &bypass.policy))?;
    let removed = world.engine.remove_skip(&world.caller(&by.user, &[]), skip.id).await;
    removed.map_err(|error| SimulateError::Step { line, message: error.to_string() })
}

async fn cancel(world: &World, cancelled: &Cancelled, by: &By, line: u64) -> Result<(), SimulateError> {
    let caller = world.caller(&by.user, &[]);
    match cancelled {
        Cancelled::LatestJob { target } => {
            let job = latest_job(world, target, line).await?.id;
            let called_off = world.dispatch.cancel(&caller, job, reason(by)).await;
            called_off.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
        }
        Cancelled::Release { target, version } => {
            let (key, version) = target_and_version(world, target, Some(version), line).await?;
            let mut tx = world.store.read("simulate.find").await?;
            let filter = Filter { deployment: None, version, target: Some(key) };
            let page = Page { limit: 1, offset: 0 };
            let found = store::release::list(&mut tx, world.workspace.id, filter, page).await?;
            drop(tx);
            let found = found.items.first().ok_or_else(|| missing(line, "release on target", target))?;
            let withdrawn = world.engine.cancel_release(&caller, found.release.id, reason(by)).await;
            withdrawn.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
        }
    }
    Ok(())
}

async fn lift(world: &World, name: &str, user: &str, line: u64) -> Result<(), SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::freeze::by_name(&mut tx, world.workspace.id, name).await?;
    drop(tx);
    let freeze = found.ok_or_else(|| missing(line, "freeze", name))?.id;
    let lifted = world.engine.lift_freeze(&world.caller(user, &[]), freeze).await;
    lifted.map_err(|error| SimulateError::Step { line, message: error.to_string() })
}

async fn target_and_version(
    world: &World,
    target: &str,
    version: Option<&str>,
    line: u64,
) -> Result<(TargetKey, Option<VersionId>), SimulateError> {
    let key = find_target(world, target, line).await?;
    let deployment = target.split('/').next().unwrap_or_default();
    let version = match version {
        Some(tag) => Some(find_version(world, deployment, tag, line).await?.id),
        None => None,
    };
    Ok((key, version))
}

/// The version that is named, else the newest that is ready.
async fn bypassed_version(world: &World, bypass: &Bypass, line: u64) -> Result<VersionId, SimulateError> {
    if let Some(tag) = &bypass.version {
        return Ok(find_version(world, &bypass.deployment, tag, line).await?.id);
    }
    let deployment = find_deployment(world, &bypass.deployment, line).await?.id;
    let mut tx = world.store.read("simulate.find").await?;
    let versions = store::version::of_deployment(&mut tx, deployment).await?;
    let ready = versions.iter().find(|version| version.status == VersionStatus::Ready);
    ready.map(|version| version.id).ok_or_else(|| missing(line, "ready version of", &bypass.deployment))
}

async fn find_environment(world: &World, name: &str, line: u64) -> Result<EnvironmentId, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::environment::by_name(&mut tx, world.workspace.id, name).await?;
    Ok(found.ok_or_else(|| missing(line, "environment", name))?.id)
}

async fn find_policy(world: &World, name: &str, line: u64) -> Result<model::policy::Policy, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::policy::by_name(&mut tx, world.workspace.id, name).await?;
    found.ok_or_else(|| missing(line, "policy", name))
}

async fn find_rule(world: &World, bypass: &Bypass, line: u64) -> Result<(PolicyId, RuleId), SimulateError> {
    let policy = find_policy(world, &bypass.policy, line).await?;
    let rule = match &bypass.rule {
        RuleName::Position(place) => policy.rules.get(*place),
        RuleName::Label(label) => policy.rules.iter().find(|rule| rule.label() == label),
    };
    let rule = rule.ok_or_else(|| missing(line, "such rule in policy", &bypass.policy))?;
    Ok((policy.id, rule.id))
}
