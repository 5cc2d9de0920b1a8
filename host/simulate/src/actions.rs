//! What people, CI and agents do in a step.

use dispatch::Report;
use engine::NewVersion;
use manifest::scenario::{Action, Word};
use model::{
    Json,
    approval::ApprovalDecision,
    deployment::Deployment,
    id::JobId,
    job::Job,
    job_state::{JobState, LeaseToken},
    release_target::TargetKey,
    version::Version,
};

use crate::{SimulateError, agent, names, world::World};

/// Does what a step says. A command that the server refuses is the file's fault; what it does to a late report is not.
pub(crate) async fn perform(world: &World, action: &Action, line: u64) -> Result<(), SimulateError> {
    let refused = |error: engine::CommandError| SimulateError::Step { line, message: error.to_string() };
    match action {
        Action::Apply(wanted) => {
            world.engine.apply(&world.caller("scenario", &[]), wanted, false).await.map_err(refused)?;
        }
        Action::Version { deployment, tag, name, config, metadata, status, created_at } => {
            let deployment = find_deployment(world, deployment, line).await?.id;
            let new = NewVersion {
                deployment,
                tag: tag.clone(),
                name: name.clone(),
                config: config.clone(),
                job_agent_config: Json::Object(serde_json::Map::new()),
                metadata: metadata.clone(),
                status: *status,
                created_at: *created_at,
            };
            world.engine.create_version(&world.caller("ci", &[]), new).await.map_err(refused)?;
        }
        Action::VersionStatus { deployment, version, status } => {
            let version = find_version(world, deployment, version, line).await?.id;
            world.engine.set_version_status(&world.caller("ci", &[]), version, *status).await.map_err(refused)?;
        }
        Action::Approve(word) => say(world, word, ApprovalDecision::Approved, line).await?,
        Action::Reject(word) => say(world, word, ApprovalDecision::Rejected, line).await?,
        Action::Report(report) => {
            let job = latest_job(world, &report.target, line).await?;
            let token = if report.stale { LeaseToken(0) } else { token_of(world, &job, line).await? };
            let caller = world.caller("agent", &[]);
            let message = Some(report.message.clone()).filter(|message| !message.is_empty());
            let said = Report { status: Some(report.status), message, ..Report::default() };
            // A refusal is an event; expectations look at what came of it.
            drop(world.dispatch.report(&caller, job.id, Some(token), &said, [2; 32]).await);
        }
        Action::ExpireLease { target } => {
            let job = latest_job(world, target, line).await?;
            let until = job.state.lease().map(|lease| lease.until).ok_or_else(|| SimulateError::Step {
                line,
                message: format!("the latest job of `{target}` is {}, so it has no lease", job.state.status().name()),
            })?;
            world.clock.set(until);
            world.dispatch.sweep().await?;
        }
        Action::Restart | Action::Expect(_) => {}
    }
    Ok(())
}

async fn say(world: &World, word: &Word, decision: ApprovalDecision, line: u64) -> Result<(), SimulateError> {
    let version = find_version(world, &word.deployment, &word.version, line).await?.id;
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::environment::by_name(&mut tx, world.workspace.id, &word.environment).await?;
    drop(tx);
    let environment = found.ok_or_else(|| missing(line, "environment", &word.environment))?.id;
    let caller = world.caller(&word.user, &word.roles);
    let said = world.engine.record_approval(&caller, version, &[environment], decision, &word.reason).await;
    said.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
    Ok(())
}

async fn find_deployment(world: &World, name: &str, line: u64) -> Result<Deployment, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::deployment::by_name(&mut tx, world.workspace.id, name).await?;
    found.ok_or_else(|| missing(line, "deployment", name))
}

async fn find_version(world: &World, deployment: &str, tag: &str, line: u64) -> Result<Version, SimulateError> {
    let deployment = find_deployment(world, deployment, line).await?;
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::version::by_tag(&mut tx, deployment.id, tag).await?;
    found.ok_or_else(|| missing(line, "version", tag))
}

pub(crate) async fn find_target(world: &World, path: &str, line: u64) -> Result<TargetKey, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = names::find(&mut tx, world.workspace.id, path).await?;
    found.ok_or_else(|| missing(line, "target", path))
}

async fn latest_job(world: &World, target: &str, line: u64) -> Result<Job, SimulateError> {
    let key = find_target(world, target, line).await?;
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::release_target::get(&mut tx, world.workspace.id, key).await?;
    let latest: Option<JobId> = found.and_then(|found| found.latest_job).map(|job| job.id);
    let job = match latest {
        Some(id) => store::job::get(&mut tx, world.workspace.id, id).await?,
        None => None,
    };
    job.ok_or_else(|| missing(line, "job on target", target))
}

/// The token of whoever holds the job; one that nobody holds is claimed first.
async fn token_of(world: &World, job: &Job, line: u64) -> Result<LeaseToken, SimulateError> {
    match &job.state {
        JobState::Queued { .. } => {
            let caller = world.caller("agent", &[]);
            let offer = world.dispatch.claim(&caller, job.agent, job.id, agent::NODE).await;
            offer.map(|offer| offer.token).map_err(|error| SimulateError::Step { line, message: error.to_string() })
        }
        JobState::Offered { lease, .. } | JobState::Running { lease, .. } => Ok(lease.token),
        JobState::Ended { token: Some(token), .. } => Ok(*token),
        JobState::Pending | JobState::Triggered { .. } | JobState::Ended { token: None, .. } => {
            let message = format!("the job is {}: no agent holds or held it", job.state.status().name());
            Err(SimulateError::Step { line, message })
        }
    }
}

fn missing(line: u64, what: &str, name: &str) -> SimulateError {
    SimulateError::Step { line, message: format!("there is no {what} `{name}` by then") }
}
