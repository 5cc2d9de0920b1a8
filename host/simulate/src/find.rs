//! Finds what a step names. What is not there is the file's fault.

use model::{
    deployment::Deployment,
    id::{EnvironmentId, JobId, VersionId},
    job::Job,
    release_target::TargetKey,
    version::{Version, VersionStatus},
};

use crate::{SimulateError, names, world::World};

pub(crate) async fn deployment(world: &World, name: &str, line: u64) -> Result<Deployment, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::deployment::by_name(&mut tx, world.workspace.id, name).await?;
    found.ok_or_else(|| missing(line, "deployment", name))
}

pub(crate) async fn version(world: &World, deployment: &str, tag: &str, line: u64) -> Result<Version, SimulateError> {
    let deployment = self::deployment(world, deployment, line).await?;
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::version::by_tag(&mut tx, deployment.id, tag).await?;
    found.ok_or_else(|| missing(line, "version", tag))
}

pub(crate) async fn target(world: &World, path: &str, line: u64) -> Result<TargetKey, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = names::find(&mut tx, world.workspace.id, path).await?;
    found.ok_or_else(|| missing(line, "target", path))
}

pub(crate) async fn latest_job(world: &World, target: &str, line: u64) -> Result<Job, SimulateError> {
    let key = self::target(world, target, line).await?;
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::release_target::get(&mut tx, world.workspace.id, key).await?;
    let latest: Option<JobId> = found.and_then(|found| found.latest_job).map(|job| job.id);
    let job = match latest {
        Some(id) => store::job::get(&mut tx, world.workspace.id, id).await?,
        None => None,
    };
    job.ok_or_else(|| missing(line, "job on target", target))
}

/// The version of that tag, or the newest that is ready.
pub(crate) async fn version_or_newest(
    world: &World,
    deployment: &str,
    tag: Option<&str>,
    line: u64,
) -> Result<Version, SimulateError> {
    if let Some(tag) = tag {
        return version(world, deployment, tag, line).await;
    }
    let id = self::deployment(world, deployment, line).await?.id;
    let mut tx = world.store.read("simulate.find").await?;
    let ready = store::version::of_deployment(&mut tx, id).await?.into_iter();
    let newest = ready.filter(|version| version.status == VersionStatus::Ready).max_by_key(|version| {
        let (at, id) = version.age_key();
        (at, id)
    });
    newest.ok_or_else(|| missing(line, "ready version of deployment", deployment))
}

/// A target, and the version of its deployment that has that tag.
pub(crate) async fn target_and_version(
    world: &World,
    path: &str,
    tag: Option<&str>,
    line: u64,
) -> Result<(TargetKey, Option<VersionId>), SimulateError> {
    let key = target(world, path, line).await?;
    let deployment = path.split('/').next().unwrap_or_default();
    let version = match tag {
        Some(tag) => Some(version(world, deployment, tag, line).await?.id),
        None => None,
    };
    Ok((key, version))
}

pub(crate) async fn environment(world: &World, name: &str, line: u64) -> Result<EnvironmentId, SimulateError> {
    let mut tx = world.store.read("simulate.find").await?;
    let found = store::environment::by_name(&mut tx, world.workspace.id, name).await?;
    found.map(|found| found.id).ok_or_else(|| missing(line, "environment", name))
}

pub(crate) fn missing(line: u64, what: &str, name: &str) -> SimulateError {
    SimulateError::Step { line, message: format!("there is no {what} `{name}` by then") }
}
