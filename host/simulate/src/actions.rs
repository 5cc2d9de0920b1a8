//! What people, CI and agents do in a step.

use dispatch::Report;
use engine::NewVersion;
use manifest::scenario::{Action, Word};
use model::{
    Json,
    approval::ApprovalDecision,
    job::Job,
    job_state::{JobState, LeaseToken},
    wanted::Wanted,
};

use crate::{SimulateError, agent, find, people, world::World};

/// Does what a step says. A command that the server refuses is the file's fault; what it does to a late report is not.
pub(crate) async fn perform(world: &World, action: &Action, line: u64) -> Result<(), SimulateError> {
    let refused = |error: engine::CommandError| SimulateError::Step { line, message: error.to_string() };
    match action {
        Action::Apply(wanted) => {
            world.engine.apply(&world.caller("scenario", &[]), wanted, false).await.map_err(refused)?;
        }
        Action::Version { deployment, tag, name, config, metadata, status, created_at } => {
            let deployment = find::deployment(world, deployment, line).await?.id;
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
            let version = find::version(world, deployment, version, line).await?.id;
            world.engine.set_version_status(&world.caller("ci", &[]), version, *status).await.map_err(refused)?;
        }
        Action::Approve(word) => say(world, word, ApprovalDecision::Approved, line).await?,
        Action::Reject(word) => say(world, word, ApprovalDecision::Rejected, line).await?,
        Action::Report(report) => {
            let job = find::latest_job(world, &report.target, line).await?;
            let token = if report.stale { LeaseToken(0) } else { token_of(world, &job, line).await? };
            let caller = world.caller("agent", &[]);
            let message = Some(report.message.clone()).filter(|message| !message.is_empty());
            let said = Report { status: Some(report.status), message, ..Report::default() };
            // A refusal is an event; expectations look at what came of it.
            drop(world.dispatch.report(&caller, job.id, Some(token), &said, [2; 32]).await);
        }
        Action::ExpireLease { target } => {
            let job = find::latest_job(world, target, line).await?;
            let until = job.state.lease().map(|lease| lease.until).ok_or_else(|| SimulateError::Step {
                line,
                message: format!("the latest job of `{target}` is {}, so it has no lease", job.state.status().name()),
            })?;
            world.clock.set(until);
            world.dispatch.sweep().await?;
        }
        Action::Measure(measured) => {
            let job = find::latest_job(world, &measured.target, line).await?.id;
            let seen = measured.value.clone();
            let caller = world.caller("agent", &[]);
            world.engine.record_measurement(&caller, job, &measured.metric, seen).await.map_err(refused)?;
        }
        Action::Revoke(word) => {
            let version = find::version(world, &word.deployment, &word.version, line).await?.id;
            let environment = find::environment(world, &word.environment, line).await?;
            let caller = world.caller(&word.user, &[]);
            let taken_back = world.engine.withdraw_approval(&caller, version, environment, &word.user).await;
            taken_back.map_err(refused)?;
        }
        Action::Delete { what, name } => people::delete(world, *what, name, line).await?,
        Action::Skip { bypass, by, expires } => people::skip(world, bypass, by, *expires, line).await?,
        Action::Unskip { bypass, by } => people::unskip(world, bypass, by, line).await?,
        Action::Cancel { cancelled, by } => people::cancel(world, cancelled, by, line).await?,
        Action::Redeploy { target, version, by } => {
            let (key, version) = find::target_and_version(world, target, version.as_deref(), line).await?;
            let asked = world.engine.redeploy(&people::caller(world, by), key, version, people::reason(by)).await;
            asked.map_err(refused)?;
        }
        Action::Rollback { target, version, by } => {
            let (key, version) = find::target_and_version(world, target, version.as_deref(), line).await?;
            let back = world.engine.roll_back(&people::caller(world, by), key, version, people::reason(by)).await;
            back.map_err(refused)?;
        }
        Action::Resume { target, by } => {
            let key = find::target(world, target, line).await?;
            world.engine.resume(&people::caller(world, by), key, people::reason(by)).await.map_err(refused)?;
        }
        Action::Freeze { freeze, user } => {
            let wanted = [Wanted::Freeze(freeze.clone())];
            world.engine.apply(&world.caller(user, &[]), &wanted, false).await.map_err(refused)?;
        }
        Action::Unfreeze { name, by } => people::lift(world, name, &people::caller(world, by), line).await?,
        Action::Restart | Action::Expect(_) => {}
    }
    Ok(())
}

async fn say(world: &World, word: &Word, decision: ApprovalDecision, line: u64) -> Result<(), SimulateError> {
    let version = find::version(world, &word.deployment, &word.version, line).await?.id;
    let environment = find::environment(world, &word.environment, line).await?;
    let caller = world.caller(&word.user, &word.roles);
    let said = world.engine.record_approval(&caller, version, &[environment], decision, &word.reason).await;
    said.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
    Ok(())
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
