//! How versions stand in environments: the latest job of each version on each target, counted by status.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use model::{
    environment::Environment,
    id::{EnvironmentId, VersionId},
    job_state::FinalStatus,
    question::{EnvironmentProgress, StatusCount},
};

use crate::{pass::Pass, target::ended_as};

/// What was counted so far.
#[derive(Default)]
pub struct Progress {
    by_version: HashMap<VersionId, HashMap<EnvironmentId, EnvironmentProgress>>,
    asked: HashMap<(VersionId, EnvironmentId), Arc<[EnvironmentProgress]>>,
}

/// How the version stands in each environment that shares a system with `environment`, by name.
pub fn of(pass: &mut Pass, version: VersionId, environment: &Environment) -> Arc<[EnvironmentProgress]> {
    if let Some(found) = pass.progress.asked.get(&(version, environment.id)) {
        return Arc::clone(found);
    }
    if !pass.progress.by_version.contains_key(&version) {
        let counted = count(pass, version);
        pass.progress.by_version.insert(version, counted);
    }
    let counted = &pass.progress.by_version[&version];
    let shares = |other: &&Arc<Environment>| other.systems.iter().any(|system| environment.systems.contains(system));
    let beside = pass.snapshot.environments.iter().filter(shares);
    let found: Arc<[EnvironmentProgress]> = beside.filter_map(|other| counted.get(&other.id).cloned()).collect();
    pass.progress.asked.insert((version, environment.id), Arc::clone(&found));
    found
}

fn count(pass: &Pass, version: VersionId) -> HashMap<EnvironmentId, EnvironmentProgress> {
    let empty = |environment: &Arc<Environment>| EnvironmentProgress {
        environment: Arc::clone(environment),
        targets: 0,
        statuses: Vec::new(),
        last_success_at: None,
    };
    let mut counted: HashMap<EnvironmentId, EnvironmentProgress> =
        pass.snapshot.environments.iter().map(|environment| (environment.id, empty(environment))).collect();
    let mut statuses: HashMap<EnvironmentId, BTreeMap<model::job_state::JobStatus, (u32, u32)>> = HashMap::new();
    for target in pass.targets.iter().filter(|target| target.attached) {
        let environment = target.target.key.environment;
        let Some(of) = counted.get_mut(&environment) else { continue };
        of.targets += 1;
        let jobs = || target.jobs.iter().map(|job| &pass.snapshot.jobs[*job]).filter(|job| job.version == version);
        let successes = jobs().filter(|job| ended_as(job) == Some(FinalStatus::Completed));
        let last_success_at = successes.filter_map(|job| job.state.ended_at()).max();
        of.last_success_at = of.last_success_at.max(last_success_at);
        if let Some(latest) = jobs().next_back() {
            let counts = statuses.entry(environment).or_default().entry(latest.state.status()).or_default();
            counts.0 += 1;
            counts.1 += u32::from(pass.verdicts.is_good(latest));
        }
    }
    for (environment, statuses) in statuses {
        let Some(of) = counted.get_mut(&environment) else { continue };
        let count = |(status, (targets, of_them_verified))| StatusCount { status, targets, of_them_verified };
        of.statuses = statuses.into_iter().map(count).collect();
    }
    counted
}
