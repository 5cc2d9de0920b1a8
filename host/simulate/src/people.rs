//! What people do besides saying yes or no, through the same commands as the API's.

use engine::{CommandError, NewSkip, SkipScope, ToSkip};
use manifest::scenario::{By, Bypass, Bypassed, Cancelled, Deletable, Reach, RuleName};
use model::{access::Caller, id::RuleId, policy::Policy, skip::Skipped, time::Timestamp};
use store::Page;

use crate::{
    SimulateError,
    find::{self, missing},
    world::World,
};

/// A person who gives no reason has this one: the server asks for one.
const NO_REASON: &str = "the scenario says so";

pub(crate) fn caller(world: &World, by: &By) -> Caller {
    world.caller(&by.user, &[])
}

pub(crate) fn reason(by: &By) -> &str {
    if by.reason.trim().is_empty() { NO_REASON } else { &by.reason }
}

fn refused(line: u64) -> impl Fn(CommandError) -> SimulateError {
    move |error| SimulateError::Step { line, message: error.to_string() }
}

pub(crate) async fn delete(world: &World, what: Deletable, name: &str, line: u64) -> Result<(), SimulateError> {
    let caller = world.caller("scenario", &[]);
    match what {
        Deletable::Policy => {
            let id = policy(world, name, line).await?.id;
            world.engine.delete_policy(&caller, id).await.map_err(refused(line))
        }
        Deletable::Freeze => lift(world, name, &caller, line).await,
    }
}

pub(crate) async fn lift(world: &World, name: &str, caller: &Caller, line: u64) -> Result<(), SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::freeze::by_name(&mut tx, world.workspace.id, name).await?;
    drop(tx);
    let freeze = found.ok_or_else(|| missing(line, "freeze", name))?.id;
    world.engine.lift_freeze(caller, freeze).await.map_err(refused(line))
}

pub(crate) async fn skip(
    world: &World,
    bypass: &Bypass,
    by: &By,
    expires_at: Option<Timestamp>,
    line: u64,
) -> Result<(), SimulateError> {
    let new = new_skip(world, bypass, by, expires_at, line).await?;
    world.engine.add_skip(&caller(world, by), new).await.map_err(refused(line))?;
    Ok(())
}

pub(crate) async fn unskip(world: &World, bypass: &Bypass, by: &By, line: u64) -> Result<(), SimulateError> {
    let wanted = new_skip(world, bypass, by, None, line).await?;
    let mut tx = world.store.read("simulate.find").await?;
    let version = store::version::get(&mut tx, world.workspace.id, wanted.version).await?;
    let deployment = version.map(|version| version.deployment);
    let skips = match deployment {
        Some(deployment) => store::skip::of_deployment(&mut tx, deployment).await?,
        None => Vec::new(),
    };
    drop(tx);
    let same = |skipped: Skipped| match (skipped, wanted.skipped) {
        (Skipped::Rule(policy, rule), ToSkip::Rule(other, other_rule)) => policy == other && rule == other_rule,
        (Skipped::Freeze(freeze), ToSkip::Freeze(other)) => freeze == other,
        (Skipped::Rule(..), ToSkip::Freeze(_)) | (Skipped::Freeze(_), ToSkip::Rule(..)) => false,
    };
    let (environment, resource) = match wanted.scope {
        SkipScope::Target(key) => (Some(key.environment), Some(key.resource)),
        SkipScope::Environment(environment) => (Some(environment), None),
        SkipScope::Deployment => (None, None),
    };
    let here = skips.into_iter().filter(|skip| {
        let place = (skip.scope.environment, skip.scope.resource) == (environment, resource);
        skip.version == wanted.version && place && same(skip.skipped)
    });
    let mut found = false;
    for skip in here {
        found = true;
        world.engine.remove_skip(&caller(world, by), skip.id).await.map_err(refused(line))?;
    }
    if found { Ok(()) } else { Err(SimulateError::Step { line, message: "there is no such skip by then".to_owned() }) }
}

async fn new_skip(
    world: &World,
    bypass: &Bypass,
    by: &By,
    expires_at: Option<Timestamp>,
    line: u64,
) -> Result<NewSkip, SimulateError> {
    let skipped = match &bypass.bypassed {
        Bypassed::Rule { policy: name, rule } => {
            let policy = policy(world, name, line).await?;
            ToSkip::Rule(policy.id, rule_of(&policy, rule, line)?)
        }
        Bypassed::Freeze(name) => {
            let mut tx = world.store.read("simulate.find").await?;
            let found = store::freeze::by_name(&mut tx, world.workspace.id, name).await?;
            ToSkip::Freeze(found.ok_or_else(|| missing(line, "freeze", name))?.id)
        }
    };
    let version = find::version_or_newest(world, &bypass.deployment, bypass.version.as_deref(), line).await?.id;
    let scope = match &bypass.reach {
        Reach::Target(target) => SkipScope::Target(find::target(world, target, line).await?),
        Reach::Environment(name) => SkipScope::Environment(find::environment(world, name, line).await?),
        Reach::Deployment => SkipScope::Deployment,
    };
    Ok(NewSkip { skipped, version, scope, reason: reason(by).to_owned(), expires_at })
}

async fn policy(world: &World, name: &str, line: u64) -> Result<Policy, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::policy::by_name(&mut tx, world.workspace.id, name).await?;
    found.ok_or_else(|| missing(line, "policy", name))
}

fn rule_of(policy: &Policy, name: &RuleName, line: u64) -> Result<RuleId, SimulateError> {
    let count = policy.rules.len();
    let wrong = |message: String| Err(SimulateError::Step { line, message });
    match name {
        RuleName::Position(position) => match policy.rules.get(*position) {
            Some(rule) => Ok(rule.id),
            None => wrong(format!("policy `{}` has {count} rules, so none at {position} (from 0)", policy.name)),
        },
        RuleName::Label(label) => {
            let mut named = policy.rules.iter().filter(|rule| rule.label() == label);
            match (named.next(), named.next()) {
                (Some(rule), None) => Ok(rule.id),
                (None, _) => {
                    let labels: Vec<String> = policy.rules.iter().map(|rule| format!("`{}`", rule.label())).collect();
                    let expected = labels.join(", ");
                    wrong(format!("policy `{}` has no rule `{label}`, expected one of {expected}", policy.name))
                }
                (Some(_), Some(_)) => {
                    wrong(format!("policy `{}` has several rules `{label}`, expected a position from 0", policy.name))
                }
            }
        }
    }
}

pub(crate) async fn cancel(world: &World, cancelled: &Cancelled, by: &By, line: u64) -> Result<(), SimulateError> {
    let caller = caller(world, by);
    match cancelled {
        Cancelled::LatestJob { target } => {
            let job = find::latest_job(world, target, line).await?.id;
            let called_off = world.dispatch.cancel(&caller, job, reason(by)).await;
            called_off.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
        }
        Cancelled::Release { target, version } => {
            let (key, id) = find::target_and_version(world, target, Some(version), line).await?;
            let mut tx = world.store.read("simulate.find").await?;
            let filter = store::release::Filter { target: Some(key), version: id, ..store::release::Filter::default() };
            let page = Page { limit: model::limits::PAGE_MAX, offset: 0 };
            let releases = store::release::list(&mut tx, world.workspace.id, filter, page).await?.items;
            drop(tx);
            let latest = releases.last().ok_or_else(|| missing(line, "release of that version on target", target))?;
            world.engine.cancel_release(&caller, latest.release.id, reason(by)).await.map_err(refused(line))?;
        }
    }
    Ok(())
}
