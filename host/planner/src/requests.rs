//! What a gate is told: only the facts that its plugin asks for, and only as far as its answer reaches.

use std::{collections::HashMap, sync::Arc};

use model::{
    approval::Approval,
    decision::DecisionScope,
    id::{EnvironmentId, ResourceId, VersionId},
    plugin::FactKinds,
    question::{Dependency, GateRequest, Intent, JobFacts, RolloutPosition, TargetFacts},
    snapshot::Snapshot,
};

use crate::{pass::Pass, progress, target::job_facts};

/// Facts that many questions share.
pub struct Shared {
    approvals: HashMap<(VersionId, EnvironmentId), Arc<[Approval]>>,
    no_approvals: Arc<[Approval]>,
    dependencies: HashMap<ResourceId, Arc<[Dependency]>>,
    no_dependencies: Arc<[Dependency]>,
    versions: Arc<[Arc<model::version::Version>]>,
}

impl Shared {
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut approvals: HashMap<(VersionId, EnvironmentId), Vec<Approval>> = HashMap::new();
        for approval in &snapshot.approvals {
            approvals.entry((approval.version, approval.environment)).or_default().push(approval.clone());
        }
        // In the order in which they were given, whatever the order in which they arrived.
        for list in approvals.values_mut() {
            list.sort_by(|one, other| (one.at, &one.user).cmp(&(other.at, &other.user)));
        }
        let mut dependencies: HashMap<ResourceId, Vec<Dependency>> = HashMap::new();
        for (resource, dependency) in &snapshot.dependencies {
            dependencies.entry(*resource).or_default().push(dependency.clone());
        }
        Self {
            approvals: approvals.into_iter().map(|(key, list)| (key, list.into())).collect(),
            no_approvals: Arc::from([]),
            dependencies: dependencies.into_iter().map(|(key, list)| (key, list.into())).collect(),
            no_dependencies: Arc::from([]),
            versions: snapshot.versions.clone().into(),
        }
    }
}

/// The question of one gate about a candidate on a target.
pub fn gate(
    pass: &mut Pass,
    target: usize,
    facts: FactKinds,
    scope: DecisionScope,
    candidate: usize,
    intent: Intent,
    rollout_position: Option<RolloutPosition>,
) -> GateRequest {
    let version = Arc::clone(&pass.snapshot.versions[candidate]);
    let environment = Arc::clone(&pass.targets[target].target.environment);
    let environment_progress = (facts.environment_progress && scope.environment.is_some())
        .then(|| progress::of(pass, version.id, &environment));
    let target = &pass.targets[target];
    let resource = target.target.resource.id;
    let shared = &pass.shared;
    let at = |index: Option<usize>| index.map(|index| Arc::clone(&pass.snapshot.versions[index]));
    GateRequest {
        // One answer for many targets is not about any one target's attempt.
        intent: if scope.resource.is_some() { intent } else { Intent::Automatic },
        deployment: Arc::clone(&pass.snapshot.deployment),
        environment: scope.environment.map(|_| Arc::clone(&environment)),
        target: scope.resource.map(|_| TargetFacts {
            target: Arc::clone(&target.target),
            current: at(target.current),
            in_progress: at(target.in_progress),
        }),
        approvals: (facts.approvals && scope.environment.is_some())
            .then(|| Arc::clone(shared.approvals.get(&(version.id, environment.id)).unwrap_or(&shared.no_approvals))),
        target_jobs: (facts.target_jobs && scope.resource.is_some()).then(|| {
            target.jobs.iter().rev().map(|job| job_facts(&pass.snapshot.jobs[*job])).collect::<Vec<JobFacts>>().into()
        }),
        version_history: facts.version_history.then(|| Arc::clone(&shared.versions)),
        environment_progress,
        dependencies: (facts.dependencies && scope.resource.is_some())
            .then(|| Arc::clone(shared.dependencies.get(&resource).unwrap_or(&shared.no_dependencies))),
        rollout_position,
        candidate: version,
    }
}
