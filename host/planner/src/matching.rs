//! Where a deployment may go: the resources that both its and an environment's selector match.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use model::{
    deployment::Deployment,
    environment::Environment,
    job::Job,
    job_state::{JobState, LeaseToken},
    question::Intent,
    release_target::{ReleaseTarget, TargetKey, TargetState},
    resource::Resource,
    snapshot::Snapshot,
};
use selectors::{Bindings, NamedView, Place, ResourceView, Selector};

use crate::{
    rules::RuleBook,
    target::{Next, Search, Target, ended_as, is_attempt},
};

/// The places of a pass.
pub struct Places {
    /// By environment name and resource identifier: those that the selectors match, and those that they matched before.
    pub targets: Vec<Target>,
    /// Targets whose resource or environment is no longer there, by key.
    pub gone: Vec<TargetState>,
    /// What a person should know of selectors that failed.
    pub warnings: Vec<String>,
}

/// Finds the places of a pass.
pub fn resolve(snapshot: &Snapshot, rules: &mut RuleBook) -> Places {
    let (matching, warnings) = matching_targets(snapshot);
    let known: HashMap<TargetKey, TargetState> = snapshot.targets.iter().map(|state| (state.key, *state)).collect();
    let mut places: Vec<(Arc<ReleaseTarget>, bool)> = matching.into_iter().map(|target| (target, true)).collect();
    let matched: HashSet<TargetKey> = places.iter().map(|(target, _)| target.key).collect();
    let left = snapshot.targets.iter().filter(|state| !matched.contains(&state.key));
    let (detached, mut gone) = detached(snapshot, left);
    gone.sort_by_key(|state| state.key);
    places.extend(detached.into_iter().map(|target| (target, false)));
    places.sort_by(|(a, _), (b, _)| {
        (&a.environment.name, &a.resource.identifier, a.key).cmp(&(&b.environment.name, &b.resource.identifier, b.key))
    });
    let jobs = Jobs::new(snapshot);
    let targets = places
        .into_iter()
        .map(|(target, attached)| {
            let state = known.get(&target.key).copied();
            let governing = rules.of(&target);
            jobs.target(target, attached, state, governing)
        })
        .collect();
    Places { targets, gone, warnings }
}

/// Every target that the selectors match, by environment name and resource identifier; with warnings.
#[must_use]
pub fn matching_targets(snapshot: &Snapshot) -> (Vec<Arc<ReleaseTarget>>, Vec<String>) {
    let mut warnings = Warnings::default();
    let deployment = &snapshot.deployment;
    let whose = format!("deployment `{}`", deployment.name);
    let of_deployment = select(&whose, &deployment.resource_selector, snapshot.resources.iter(), &mut warnings);
    let mut targets = Vec::new();
    for environment in &snapshot.environments {
        let whose = format!("environment `{}`", environment.name);
        let selected = select(&whose, &environment.resource_selector, of_deployment.iter().copied(), &mut warnings);
        targets.extend(selected.into_iter().map(|resource| release_target(deployment, environment, resource)));
    }
    (targets, warnings.into_lines())
}

fn select<'a>(
    whose: &str,
    selector: &str,
    resources: impl Iterator<Item = &'a Arc<Resource>>,
    warnings: &mut Warnings,
) -> Vec<&'a Arc<Resource>> {
    let selector = match Selector::parse(selector, Place::Resource) {
        Ok(selector) => selector,
        Err(error) => {
            warnings.note(format!("the selector of {whose} cannot be read, so it matches nothing: {error}"));
            return Vec::new();
        }
    };
    let matches = |resource: &&Arc<Resource>| {
        let found = selector.matches_or_absent(&Bindings::of_resource(resource_view(resource)));
        match found {
            Ok(found) => {
                if let Some(key) = found.absent {
                    warnings.count(format!("the selector of {whose} asks for `{key}`"), "resources lack it");
                }
                found.matched
            }
            Err(error) => {
                warnings.count(format!("the selector of {whose} fails: {error}"), "resources are left out for that");
                false
            }
        }
    };
    resources.filter(matches).collect()
}

/// A policy's selector, parsed once for all targets.
pub enum PolicySelector {
    Parsed(Selector),
    Unreadable(String),
}

impl PolicySelector {
    pub fn parse(text: &str) -> Self {
        match Selector::parse(text, Place::Policy) {
            Ok(selector) => Self::Parsed(selector),
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }

    /// Whether the policy governs the target; a failure is an error, since it must block.
    pub fn matches(&self, target: &ReleaseTarget) -> Result<bool, String> {
        let selector = match self {
            Self::Parsed(selector) => selector,
            Self::Unreadable(message) => return Err(message.clone()),
        };
        let named = |id, name, metadata| NamedView { id, name, metadata };
        let ReleaseTarget { deployment, environment, resource, .. } = target;
        let bindings = Bindings::of_target(
            named(deployment.id.0, deployment.name.as_str(), &deployment.metadata),
            named(environment.id.0, environment.name.as_str(), &environment.metadata),
            resource_view(resource),
        );
        selector.matches(&bindings).map_err(|error| error.to_string())
    }
}

fn resource_view(resource: &Resource) -> ResourceView<'_> {
    ResourceView {
        id: resource.id.0,
        identifier: &resource.identifier,
        name: &resource.name,
        kind: &resource.kind,
        version: &resource.version,
        metadata: &resource.metadata,
        config: &resource.config,
    }
}

fn release_target(
    deployment: &Arc<Deployment>,
    environment: &Arc<Environment>,
    resource: &Arc<Resource>,
) -> Arc<ReleaseTarget> {
    Arc::new(ReleaseTarget {
        key: TargetKey { deployment: deployment.id, environment: environment.id, resource: resource.id },
        deployment: Arc::clone(deployment),
        environment: Arc::clone(environment),
        resource: Arc::clone(resource),
    })
}

/// Targets that the selectors no longer match; apart from them those whose environment or resource is not there.
fn detached<'a>(
    snapshot: &Snapshot,
    states: impl Iterator<Item = &'a TargetState>,
) -> (Vec<Arc<ReleaseTarget>>, Vec<TargetState>) {
    let environments: HashMap<_, _> = snapshot.environments.iter().map(|found| (found.id, found)).collect();
    let resources: HashMap<_, _> = snapshot.resources.iter().map(|found| (found.id, found)).collect();
    let (mut detached, mut gone) = (Vec::new(), Vec::new());
    for state in states {
        match (environments.get(&state.key.environment), resources.get(&state.key.resource)) {
            (Some(environment), Some(resource)) => {
                detached.push(release_target(&snapshot.deployment, environment, resource));
            }
            (None, _) | (_, None) => gone.push(*state),
        }
    }
    (detached, gone)
}

/// The jobs of each target.
struct Jobs<'a> {
    jobs: &'a [Job],
    by_target: HashMap<TargetKey, Vec<usize>>,
}

impl<'a> Jobs<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let mut by_target: HashMap<TargetKey, Vec<usize>> = HashMap::new();
        for (index, job) in snapshot.jobs.iter().enumerate().filter(|(_, job)| is_attempt(job)) {
            by_target.entry(job.target).or_default().push(index);
        }
        Self { jobs: &snapshot.jobs, by_target }
    }

    fn target(
        &self,
        target: Arc<ReleaseTarget>,
        attached: bool,
        state: Option<TargetState>,
        rules: Arc<crate::rules::RuleSet>,
    ) -> Target {
        let key = target.key;
        let mut jobs = self.by_target.get(&key).cloned().unwrap_or_default();
        // One after the other, also where several were made at one instant: the later claim was the later job, and what
        // has not ended is the last.
        let place = |job: &Job| (job.created_at, ended_as(job).is_none(), token(job), job.id);
        jobs.sort_by_key(|job| place(&self.jobs[*job]));
        let is_new = state.is_none();
        let state = state.unwrap_or(TargetState { key, attached: true, desired: None, current: None });
        let active_job = jobs.iter().copied().rfind(|job| ended_as(&self.jobs[*job]).is_none());
        Target {
            target,
            state,
            is_new,
            attached,
            rules,
            jobs,
            current: None,
            current_release: None,
            desired: None,
            in_progress: None,
            active_job,
            verifying: None,
            hold: None,
            redeploy: None,
            retries: BTreeMap::new(),
            search: Search::Settled(None),
            intent: Intent::Automatic,
            considered: Vec::new(),
            next: Next::Nothing,
        }
    }
}

/// The token under which the job ended.
pub fn token(job: &Job) -> Option<LeaseToken> {
    match &job.state {
        JobState::Ended { token, .. } => *token,
        JobState::Pending
        | JobState::Queued { .. }
        | JobState::Offered { .. }
        | JobState::Triggered { .. }
        | JobState::Running { .. } => None,
    }
}

/// Counts what happens to many resources, so that one line tells it.
#[derive(Default)]
struct Warnings {
    counts: BTreeMap<(String, &'static str), usize>,
    lines: Vec<String>,
}

impl Warnings {
    fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    fn count(&mut self, what: String, of_them: &'static str) {
        *self.counts.entry((what, of_them)).or_default() += 1;
    }

    fn into_lines(self) -> Vec<String> {
        let counted = self.counts.into_iter().map(|((what, of_them), count)| format!("{what}: {count} {of_them}"));
        self.lines.into_iter().chain(counted).collect()
    }
}
