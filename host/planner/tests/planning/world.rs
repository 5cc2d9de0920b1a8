//! A stage in memory: what the store would keep, what it would read for a pass, and what it makes of a plan.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use model::{
    Json, Labels,
    approval::{Approval, ApprovalDecision},
    decision::Decision,
    deployment::Deployment,
    environment::Environment,
    event::NewEvent,
    freeze::Freeze,
    hold::Hold,
    id::{
        ApprovalId, DeploymentId, EnvironmentId, IdSource, JobAgentId, PluginId, PolicyId, ReleaseId, ResourceId,
        RuleId, SystemId, VersionId, WorkspaceId,
    },
    job::Job,
    job_agent::{AgentType, JobAgent},
    job_state::{FinalStatus, JobState, JobStatus, Lease, LeaseToken},
    plan::{Plan, Step},
    plugin::{Digest, Manifest, Plugin, PluginRef, Scope},
    policy::{OnError, Order, Policy, Rule, RuleKey, RuleMode},
    question::{Dependency, Question},
    redeploy::Redeploy,
    release::Release,
    release_target::{TargetKey, TargetState},
    report::{Report, TargetReport},
    resource::Resource,
    skip::Skip,
    snapshot::Snapshot,
    time::Timestamp,
    verification::Measurement,
    version::{Version, VersionStatus},
};
use planner::{Outcome, Pass, Turn};
use serde_json::json;

use crate::policies::{Brain, Native};

/// Monday morning.
pub const START: &str = "2026-03-02T08:00:00Z";
/// Passes after which a world that still moves is taken not to come to rest.
const PASSES_MAX: usize = 8;

/// The stage.
pub struct World {
    pub now: Timestamp,
    pub ids: IdSource,
    seed: u64,
    token: i64,
    workspace: WorkspaceId,
    system: SystemId,
    pub deployment: Deployment,
    pub agent: Option<JobAgent>,
    pub environments: Vec<Environment>,
    pub resources: Vec<Resource>,
    pub versions: Vec<Version>,
    pub policies: Vec<Policy>,
    pub plugins: Vec<Arc<Plugin>>,
    brains: HashMap<Digest, Brain>,
    pub approvals: Vec<Approval>,
    pub targets: BTreeMap<TargetKey, TargetState>,
    pub releases: Vec<Release>,
    pub jobs: Vec<Job>,
    pub decisions: Vec<Decision>,
    pub skips: Vec<Skip>,
    pub freezes: Vec<Freeze>,
    pub holds: Vec<Hold>,
    pub redeploys: Vec<Redeploy>,
    pub measurements: Vec<Measurement>,
    pub dependencies: Vec<(ResourceId, Dependency)>,
    pub events: Vec<NewEvent>,
    /// Of the last time that the world came to rest.
    pub report: Report,
    /// Every question of the last pass.
    pub asked: Vec<Question>,
}

/// A rule to write into a policy.
#[derive(Clone)]
pub struct Draft {
    pub plugin: &'static str,
    pub mode: RuleMode,
    pub on_error: OnError,
    pub scope: Option<Scope>,
    pub any_of: Option<&'static str>,
    pub applies_to_first: bool,
    pub order: Order,
    pub config: Json,
}

pub fn rule(plugin: &'static str) -> Draft {
    Draft {
        plugin,
        mode: RuleMode::Enforce,
        on_error: OnError::Block,
        scope: None,
        any_of: None,
        applies_to_first: true,
        order: Order::Newest,
        config: json!({}),
    }
}

impl World {
    /// A deployment `web` with an agent, one system, and nothing else.
    pub fn new() -> Self {
        let now: Timestamp = START.parse().expect("an instant");
        let mut ids = IdSource::new(1);
        let mut next = || ids.next(now);
        let workspace = WorkspaceId(next());
        let system = SystemId(next());
        let agent = JobAgent {
            id: JobAgentId(next()),
            workspace,
            name: "runner".to_owned(),
            agent_type: AgentType::Pull,
            config: json!({}),
            lease_seconds: 60,
            created_at: now,
        };
        let deployment = Deployment {
            id: DeploymentId(next()),
            workspace,
            name: "web".to_owned(),
            description: String::new(),
            systems: vec![system],
            resource_selector: "true".to_owned(),
            job_agent: Some(agent.id),
            job_agent_config: json!({}),
            job_deadline_seconds: 3600,
            metadata: Labels::new(),
            created_at: now,
        };
        Self {
            now,
            ids,
            seed: 0,
            token: 0,
            workspace,
            system,
            deployment,
            agent: Some(agent),
            environments: Vec::new(),
            resources: Vec::new(),
            versions: Vec::new(),
            policies: Vec::new(),
            plugins: Vec::new(),
            brains: HashMap::new(),
            approvals: Vec::new(),
            skips: Vec::new(),
            freezes: Vec::new(),
            holds: Vec::new(),
            redeploys: Vec::new(),
            measurements: Vec::new(),
            dependencies: Vec::new(),
            targets: BTreeMap::new(),
            releases: Vec::new(),
            jobs: Vec::new(),
            decisions: Vec::new(),
            events: Vec::new(),
            report: Report::default(),
            asked: Vec::new(),
        }
    }

    /// `web` in `prod` on so many resources, `r1` and on.
    pub fn with_prod(resources: usize) -> Self {
        let mut world = Self::new();
        world.environment("prod", "true");
        (1..=resources).for_each(|number| world.resource(&format!("r{number}"), &[]));
        world
    }

    pub fn environment(&mut self, name: &str, selector: &str) -> EnvironmentId {
        let id = EnvironmentId(self.ids.next(self.now));
        self.environments.push(Environment {
            id,
            workspace: self.workspace,
            name: name.to_owned(),
            description: String::new(),
            systems: vec![self.system],
            resource_selector: selector.to_owned(),
            metadata: Labels::new(),
            created_at: self.now,
        });
        id
    }

    pub fn resource(&mut self, identifier: &str, metadata: &[(&str, &str)]) {
        self.resources.push(Resource {
            id: ResourceId(self.ids.next(self.now)),
            workspace: self.workspace,
            identifier: identifier.to_owned(),
            name: identifier.to_owned(),
            kind: "Folder".to_owned(),
            version: "v1".to_owned(),
            metadata: metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            config: json!({}),
            created_at: self.now,
        });
    }

    pub fn version(&mut self, tag: &str) -> VersionId {
        self.version_at(tag, self.now)
    }

    pub fn version_at(&mut self, tag: &str, created_at: Timestamp) -> VersionId {
        let id = VersionId(self.ids.next(self.now));
        self.versions.push(Version {
            id,
            workspace: self.workspace,
            deployment: self.deployment.id,
            tag: tag.to_owned(),
            name: tag.to_owned(),
            config: json!({}),
            job_agent_config: json!({}),
            metadata: Labels::new(),
            status: VersionStatus::Ready,
            created_at,
            received_at: self.now,
            ready_at: Some(self.now),
            created_by: None,
        });
        id
    }

    pub fn status(&mut self, tag: &str, status: VersionStatus) {
        self.versions.iter_mut().find(|version| version.tag == tag).expect("a version").status = status;
    }

    pub fn upload(&mut self, native: Native) {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&(self.plugins.len() as u64 + 1).to_be_bytes());
        let digest = Digest(digest);
        self.brains.insert(digest, native.brain);
        self.plugins.push(Arc::new(Plugin {
            id: PluginId(self.ids.next(self.now)),
            workspace: self.workspace,
            name: native.name.to_owned(),
            version: semver::Version::new(1, 0, 0),
            digest,
            manifest: Manifest {
                name: native.name.to_owned(),
                summary: String::new(),
                hooks: native.hooks,
                scope: native.scope,
                facts: native.facts,
                config_schema: json!({}),
            },
            created_at: self.now,
        }));
    }

    pub fn policy(&mut self, name: &str, selector: &str, priority: i64, rules: &[Draft]) {
        let id = PolicyId(self.ids.next(self.now));
        let rules = rules.iter().map(|draft| {
            Arc::new(Rule {
                id: RuleId(self.ids.next(self.now)),
                policy: id,
                created_at: self.now,
                key: if draft.plugin == "rollback" { RuleKey::Rollback } else { RuleKey::Plugin },
                plugin: PluginRef { name: draft.plugin.to_owned(), range: semver::VersionReq::STAR },
                config: draft.config.clone(),
                mode: draft.mode,
                on_error: draft.on_error,
                scope: draft.scope,
                any_of: draft.any_of.map(str::to_owned),
                applies_to_first: draft.applies_to_first,
                order: draft.order,
            })
        });
        let rules = rules.collect();
        self.policies.push(Policy {
            id,
            workspace: self.workspace,
            name: name.to_owned(),
            description: String::new(),
            selector: selector.to_owned(),
            priority,
            enabled: true,
            rules,
            metadata: Labels::new(),
            created_at: self.now,
        });
    }

    /// Uploads the policy and lets it govern everything.
    pub fn govern(&mut self, native: Native) {
        let name = native.name;
        self.upload(native);
        self.policy(name, "true", 0, &[rule(name)]);
    }

    pub fn say(&mut self, tag: &str, environment: &str, user: &str, decision: ApprovalDecision) {
        let version = self.versions.iter().find(|version| version.tag == tag).expect("a version").id;
        let environment = self.environments.iter().find(|one| one.name == environment).expect("an environment").id;
        self.approvals.retain(|one| (one.version, one.environment, one.user.as_str()) != (version, environment, user));
        self.approvals.push(Approval {
            id: ApprovalId(self.ids.next(self.now)),
            workspace: self.workspace,
            version,
            environment,
            user: user.to_owned(),
            roles_then: Vec::new(),
            roles_now: Vec::new(),
            decision,
            at: self.now,
            reason: String::new(),
        });
    }

    pub fn approve(&mut self, tag: &str, environment: &str, user: &str) {
        self.say(tag, environment, user, ApprovalDecision::Approved);
    }

    /// A new one at every claim, rising.
    pub fn next_token(&mut self) -> LeaseToken {
        self.token += 1;
        LeaseToken(self.token)
    }

    pub fn advance(&mut self, seconds: i64) {
        self.now = self.now.plus_seconds(seconds);
    }

    /// What a pass may look at: the store's query, in words.
    pub fn snapshot(&self) -> Snapshot {
        let age = |version: &Version| (version.created_at.min(version.received_at), version.id);
        let by_id: HashMap<VersionId, &Version> = self.versions.iter().map(|version| (version.id, version)).collect();
        let version_of: HashMap<ReleaseId, VersionId> =
            self.releases.iter().map(|release| (release.id, release.version)).collect();
        let read = |release: &&Release| {
            let state = self.targets.get(&release.target);
            let current = state.and_then(|state| state.current);
            let named = state.is_some_and(|state| [state.desired, state.current].contains(&Some(release.id)));
            let running = self.jobs.iter().any(|job| job.release == release.id && job.state.ended_at().is_none());
            let newer = current.is_none_or(|current| age(by_id[&release.version]) > age(by_id[&version_of[&current]]));
            let held = self.holds.iter().any(|hold| hold.release == release.id);
            let wanted = self.redeploys.iter().any(|redeploy| redeploy.release == release.id);
            let open_elsewhere =
                self.releases.iter().any(|other| other.version == release.version && other.closed.is_none());
            release.closed.is_none() || named || running || newer || held || wanted || open_elsewhere
        };
        let releases: Vec<Release> = self.releases.iter().filter(read).cloned().collect();
        let jobs = self.jobs.iter().filter(|job| releases.iter().any(|release| release.id == job.release));
        let said = |decision: &&Decision| releases.iter().any(|release| release.version == decision.version);
        let mut versions: Vec<Arc<Version>> = self.versions.iter().cloned().map(Arc::new).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(age(version)));
        let mut policies: Vec<&Policy> = self.policies.iter().filter(|policy| policy.enabled).collect();
        policies.sort_by_key(|policy| (-policy.priority, policy.name.clone()));
        let shares =
            |environment: &&Environment| environment.systems.iter().any(|id| self.deployment.systems.contains(id));
        let mut environments: Vec<&Environment> = self.environments.iter().filter(shares).collect();
        environments.sort_by_key(|environment| environment.name.clone());
        let mut resources: Vec<&Resource> = self.resources.iter().collect();
        resources.sort_by_key(|resource| resource.identifier.clone());
        Snapshot {
            workspace: self.workspace,
            deployment: Arc::new(self.deployment.clone()),
            job_agent: self.agent.clone().map(Arc::new),
            environments: environments.into_iter().cloned().map(Arc::new).collect(),
            resources: resources.into_iter().cloned().map(Arc::new).collect(),
            targets: self.targets.values().copied().collect(),
            versions,
            policies: policies.into_iter().cloned().map(Arc::new).collect(),
            plugins: self.plugins.clone(),
            approvals: self.approvals.clone(),
            jobs: jobs.cloned().collect(),
            decisions: self.decisions.iter().filter(said).cloned().collect(),
            releases,
            skips: self.skips.clone(),
            freezes: self.freezes.iter().filter(|one| one.ends_at.is_none_or(|end| self.now < end)).cloned().collect(),
            holds: self.holds.clone(),
            redeploys: self.redeploys.clone(),
            measurements: self.measurements.clone(),
            dependencies: self.dependencies.clone(),
        }
    }

    /// Holds the conversation over the snapshot.
    pub fn converse(&mut self, snapshot: Snapshot, seed: u64) -> Outcome {
        self.asked.clear();
        let mut turn = Pass::start(snapshot, self.now, seed);
        loop {
            match turn {
                Turn::Done(outcome) => return *outcome,
                Turn::Ask(pass, questions) => {
                    let answers = questions.iter().map(|question| self.brains[&question.digest](question)).collect();
                    self.asked.extend(questions);
                    turn = pass.answer(answers);
                }
            }
        }
    }

    /// A pass that is checked and not applied.
    pub fn look(&mut self) -> Outcome {
        let snapshot = self.snapshot();
        self.seed += 1;
        let outcome = self.converse(snapshot.clone(), self.seed);
        let broken = planner::check::plan(&snapshot, &outcome);
        assert!(broken.is_empty(), "broken: {broken:#?}\nplan: {:#?}", outcome.plan);
        outcome
    }

    /// A pass, checked and applied.
    pub fn pass(&mut self) -> Outcome {
        let outcome = self.look();
        self.apply(&outcome.plan);
        outcome
    }

    /// Passes until nothing is to be done any more; the report then.
    pub fn settle(&mut self) -> &Report {
        for _ in 0..PASSES_MAX {
            let outcome = self.pass();
            if outcome.plan.steps.is_empty() {
                assert!(outcome.plan.events.is_empty(), "events without steps");
                self.report = outcome.report;
                return &self.report;
            }
        }
        panic!("after {PASSES_MAX} passes there is still something to do: {:#?}", self.look().plan.steps);
    }

    pub fn apply(&mut self, plan: &Plan) {
        for step in &plan.steps {
            self.take(step);
        }
        self.events.extend(plan.events.iter().cloned());
    }

    fn take(&mut self, step: &Step) {
        let now = self.now;
        match step {
            Step::AttachTarget(key) => {
                let new = TargetState { key: *key, attached: true, desired: None, current: None };
                self.targets.entry(*key).or_insert(new).attached = true;
            }
            Step::DetachTarget(key) => self.target(*key).attached = false,
            Step::CreateRelease(release) => {
                let twin = |one: &Release| one.target == release.target && one.version == release.version;
                assert!(!self.releases.iter().any(twin), "the store refuses a second release of a version");
                self.releases.push(release.clone());
            }
            Step::CloseRelease(id, why) => {
                let release = self.releases.iter_mut().find(|release| release.id == *id).expect("a release");
                release.closed = Some((*why, now));
            }
            Step::SetDesired(key, release) => self.target(*key).desired = *release,
            Step::SetCurrent(key, release) => self.target(*key).current = Some(*release),
            Step::RecordDecision(decision) => {
                let key = |one: &Decision| (one.rule, one.version, one.scope);
                self.decisions.retain(|one| key(one) != key(decision));
                self.decisions.push(decision.clone());
            }
            Step::SettleVerification(id, verified, seen) => {
                let job = self.jobs.iter_mut().find(|job| job.id == *id).expect("a job");
                job.verified = Some(*verified);
                if !seen.is_empty() {
                    job.message.clone_from(seen);
                }
            }
            Step::Measure(measurement) => self.measurements.push(measurement.clone()),
            Step::PlaceInRollout(id, place) => {
                let release = self.releases.iter_mut().find(|release| release.id == *id).expect("a release");
                release.rollout = Some(*place);
            }
            Step::Hold(hold) => {
                self.holds.retain(|other| other.target != hold.target);
                self.holds.push(hold.clone());
            }
            Step::EndHold(key) => self.holds.retain(|hold| hold.target != *key),
            Step::FinishRedeploy(key) => self.redeploys.retain(|redeploy| redeploy.target != *key),
            Step::CreateJob(job) => self.jobs.push(job.clone()),
            Step::CancelJob(id, reason) | Step::WithdrawJob(id, reason) => {
                let job = self.jobs.iter_mut().find(|job| job.id == *id).expect("a job");
                job.state = match step {
                    Step::WithdrawJob(..) => job.state.end(FinalStatus::Skipped, now),
                    _ => job.state.cancel(now),
                }
                .expect("it has not ended");
                job.message.clone_from(reason);
            }
        }
    }

    fn target(&mut self, key: TargetKey) -> &mut TargetState {
        self.targets.get_mut(&key).expect("a target that was attached")
    }

    /// The job of the version on the resource that has not ended.
    pub fn job(&mut self, resource: &str, tag: &str) -> &mut Job {
        let resource = self.resources.iter().find(|one| one.identifier == resource).expect("a resource").id;
        let version = self.versions.iter().find(|one| one.tag == tag).expect("a version").id;
        let fits = |job: &&mut Job| {
            job.target.resource == resource && job.version == version && job.state.ended_at().is_none()
        };
        self.jobs.iter_mut().find(fits).expect("an unfinished job")
    }

    /// An agent claims the job and acknowledges it.
    pub fn begin(&mut self, resource: &str, tag: &str) {
        let now = self.now;
        let token = self.next_token();
        let job = self.job(resource, tag);
        job.state = begun(&job.state, token, now);
    }

    pub fn finish(&mut self, resource: &str, tag: &str, status: FinalStatus) {
        if self.job(resource, tag).state.status() == JobStatus::Queued {
            self.begin(resource, tag);
        }
        let now = self.now;
        let job = self.job(resource, tag);
        job.state = job.state.end(status, now).expect("it runs");
        if status != FinalStatus::Completed {
            "exit status 1".clone_into(&mut job.message);
        }
    }

    /// Every unfinished job ends well, again and again until none is left.
    pub fn finish_all(&mut self) -> &Report {
        loop {
            self.settle();
            let mut found = false;
            let now = self.now;
            for job in self.jobs.iter_mut().filter(|job| job.state.ended_at().is_none()) {
                found = true;
                self.token += 1;
                let running = begun(&job.state, LeaseToken(self.token), now);
                job.state = running.end(FinalStatus::Completed, now).expect("it runs");
            }
            if !found {
                return &self.report;
            }
        }
    }
}

fn begun(state: &JobState, token: LeaseToken, now: Timestamp) -> JobState {
    let lease = Lease { token, holder: "n1".to_owned(), since: now, until: now.plus_seconds(60) };
    let until = lease.until;
    let offered = state.claim(lease).unwrap_or_else(|_| state.clone());
    offered.acknowledge(now, until).expect("it was offered or runs")
}

/// The line of one resource.
pub fn line<'a>(report: &'a Report, resource: &str) -> &'a TargetReport {
    report.targets.iter().find(|line| line.target.resource.identifier == resource).expect("a line")
}
