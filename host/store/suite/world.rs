//! A small tenant to test with: one deployment in one environment on some resources, with an agent and a version.

use std::sync::Arc;

use model::{
    Labels,
    decision::{Decision, DecisionScope, GateAnswer, Verdict},
    deployment::Deployment,
    environment::Environment,
    event::{Actor, EventKind, NewEvent, Subject},
    id::{IdSource, JobAgentId, ReleaseId, ResourceId, SystemId, Uuid, VersionId, WorkspaceId},
    job::{Job, JobKind},
    job_agent::{AgentType, JobAgent},
    job_state::JobState,
    plan::{Plan, Step},
    plugin::PluginRef,
    policy::{OnError, Order, Policy, Rule, RuleKey, RuleMode},
    question::Intent,
    release::Release,
    release_target::TargetKey,
    resource::Resource,
    system::System,
    time::Timestamp,
    version::{Version, VersionStatus},
    workspace::Workspace,
};
use serde_json::json;
use store::Store;

pub struct World {
    pub workspace: WorkspaceId,
    pub system: System,
    pub agent: JobAgent,
    pub environment: Environment,
    pub deployment: Deployment,
    pub resources: Vec<Resource>,
    pub version: Version,
    pub policy: Policy,
    now: Timestamp,
    ids: std::sync::Mutex<IdSource>,
}

impl World {
    /// Writes a tenant with so many resources.
    pub async fn write(store: &Store, resources: usize) -> Self {
        let mut tx = store.write("test.world").await.expect("a transaction begins");
        let now = tx.now();
        let world = Self::new(now, resources);
        let workspace =
            Workspace { id: world.workspace, slug: "default".into(), name: "Default".into(), created_at: now };
        store::workspace::insert(&mut tx, &workspace).await.expect("a workspace");
        store::system::insert(&mut tx, &world.system).await.expect("a system");
        store::job_agent::insert(&mut tx, &world.agent).await.expect("an agent");
        store::environment::insert(&mut tx, &world.environment).await.expect("an environment");
        store::deployment::insert(&mut tx, &world.deployment).await.expect("a deployment");
        store::planning::ensure(&mut tx, world.workspace, world.deployment.id).await.expect("a planning row");
        for resource in &world.resources {
            store::resource::insert(&mut tx, resource).await.expect("a resource");
        }
        store::version::insert(&mut tx, &world.version).await.expect("a version");
        store::policy::insert(&mut tx, &world.policy).await.expect("a policy");
        tx.commit().await.expect("committed");
        world
    }

    fn new(now: Timestamp, resources: usize) -> Self {
        let mut ids = IdSource::new(99);
        let mut id = || ids.next(now);
        let workspace = WorkspaceId(id());
        let labels = Labels::from([("team".to_owned(), "web".to_owned())]);
        let system = System {
            id: id().into(),
            workspace,
            name: "shop".into(),
            description: "what we sell with".into(),
            metadata: labels.clone(),
            created_at: now,
        };
        let agent = agent(id().into(), workspace, "builder", now);
        let environment = Environment {
            id: id().into(),
            workspace,
            name: "prod".into(),
            description: String::new(),
            systems: vec![system.id],
            resource_selector: "true".into(),
            metadata: labels.clone(),
            created_at: now,
        };
        let deployment = Deployment {
            id: id().into(),
            workspace,
            name: "site".into(),
            description: String::new(),
            systems: vec![system.id],
            resource_selector: "resource.kind == \"Folder\"".into(),
            job_agent: Some(agent.id),
            job_agent_config: json!({"b": 1, "a": [true, null]}),
            job_deadline_seconds: 3600,
            metadata: labels.clone(),
            created_at: now,
        };
        let resources = (0..resources).map(|n| resource(id().into(), workspace, n, now)).collect();
        let version = version(id().into(), &deployment, "v1", now);
        let policy = policy(id(), id(), workspace, now);
        let ids = std::sync::Mutex::new(ids);
        Self { workspace, system, agent, environment, deployment, resources, version, policy, now, ids }
    }

    pub fn id(&self) -> Uuid {
        self.ids.lock().expect("no panic while locked").next(self.now)
    }

    pub fn key(&self, resource: usize) -> TargetKey {
        TargetKey {
            deployment: self.deployment.id,
            environment: self.environment.id,
            resource: self.resources[resource].id,
        }
    }

    pub fn release(&self, resource: usize, version: VersionId) -> Release {
        Release {
            id: self.id().into(),
            workspace: self.workspace,
            target: self.key(resource),
            version,
            variables: Some(json!({})),
            created_at: self.now,
            closed: None,
            rollout: None,
        }
    }

    pub fn job(&self, release: &Release) -> Job {
        Job {
            id: self.id().into(),
            workspace: self.workspace,
            release: release.id,
            target: release.target,
            version: release.version,
            kind: JobKind::Deploy,
            agent: self.agent.id,
            attempt: 1,
            available_at: self.now,
            priority: 0,
            lease_seconds: self.agent.lease_seconds,
            deadline_seconds: 3600,
            config: json!({"command": "true"}),
            context: json!({"job": {"kind": "deploy"}, "variables": {}}),
            external_id: None,
            links: Labels::new(),
            message: String::new(),
            created_at: self.now,
            updated_at: self.now,
            state: JobState::Queued { offers: 0 },
            intent: Intent::Automatic,
            verified: None,
        }
    }

    pub fn decision(&self, resource: usize, verdict: Verdict) -> Decision {
        Decision {
            id: self.id().into(),
            workspace: self.workspace,
            policy: self.policy.id,
            rule: self.policy.rules[0].id,
            rule_label: "anyApproval".into(),
            digest: Some(model::plugin::Digest([3; 32])),
            version: self.version.id,
            scope: DecisionScope {
                deployment: self.deployment.id,
                environment: Some(self.environment.id),
                resource: Some(self.resources[resource].id),
            },
            mode: RuleMode::Enforce,
            answer: GateAnswer {
                verdict,
                reason: "1 of 2 approvals".into(),
                satisfied_at: None,
                valid_until: None,
                details: Labels::from([("missing".to_owned(), "1".to_owned())]),
            },
            fault: None,
            at: self.now,
        }
    }

    /// Everything a first pass makes: on each resource a target, a release, a decision and a job.
    pub fn plan(&self) -> Plan {
        self.plan_of(self.version.id)
    }

    /// The same for a version.
    pub fn plan_of(&self, version: VersionId) -> Plan {
        let mut plan = Plan::default();
        for n in 0..self.resources.len() {
            let release = self.release(n, version);
            let job = self.job(&release);
            plan.events.push(NewEvent {
                kind: EventKind::JobCreated,
                actor: Actor::System,
                subject: job.subject(),
                data: json!({"attempt": 1}),
            });
            plan.steps.extend([
                Step::AttachTarget(self.key(n)),
                Step::CreateRelease(release.clone()),
                Step::RecordDecision(self.decision(n, Verdict::Allow)),
                Step::SetDesired(self.key(n), Some(release.id)),
                Step::CreateJob(job),
            ]);
        }
        plan
    }

    /// Applies the plan of a first pass.
    pub async fn start(&self, store: &Store) -> Vec<Job> {
        let plan = self.plan();
        apply(store, self.workspace, &plan).await;
        plan.steps
            .iter()
            .filter_map(|step| if let Step::CreateJob(job) = step { Some(job.clone()) } else { None })
            .collect()
    }
}

pub async fn apply(store: &Store, workspace: WorkspaceId, plan: &Plan) {
    let mut tx = store.write("test.apply").await.expect("a transaction begins");
    store::plan::apply(&mut tx, workspace, plan).await.expect("the plan is applied");
    tx.commit().await.expect("committed");
}

pub fn agent(id: JobAgentId, workspace: WorkspaceId, name: &str, now: Timestamp) -> JobAgent {
    JobAgent {
        id,
        workspace,
        name: name.into(),
        agent_type: AgentType::Pull,
        config: json!({"shell": "sh"}),
        lease_seconds: 60,
        created_at: now,
    }
}

pub fn resource(id: ResourceId, workspace: WorkspaceId, n: usize, now: Timestamp) -> Resource {
    Resource {
        id,
        workspace,
        identifier: format!("folder-{n:04}"),
        name: format!("Folder {n}"),
        kind: "Folder".into(),
        version: "files/v1".into(),
        metadata: Labels::new(),
        config: json!({"path": format!("/srv/{n}")}),
        created_at: now,
    }
}

pub fn version(id: VersionId, deployment: &Deployment, tag: &str, now: Timestamp) -> Version {
    Version {
        id,
        workspace: deployment.workspace,
        deployment: deployment.id,
        tag: tag.into(),
        name: format!("Version {tag}"),
        config: json!({"image": tag}),
        job_agent_config: json!({}),
        metadata: Labels::new(),
        status: VersionStatus::Ready,
        created_at: now,
        received_at: now,
        ready_at: Some(now),
        created_by: Some("ci".into()),
    }
}

fn policy(id: Uuid, rule: Uuid, workspace: WorkspaceId, now: Timestamp) -> Policy {
    let rule = Rule {
        id: rule.into(),
        policy: id.into(),
        created_at: now,
        key: RuleKey::AnyApproval,
        plugin: PluginRef { name: "approval".into(), range: "^1".parse().expect("a range") },
        config: json!({"minApprovals": 2}),
        mode: RuleMode::Enforce,
        on_error: OnError::Block,
        scope: Some(model::plugin::Scope::Environment),
        any_of: Some("somebody".into()),
        applies_to_first: false,
        order: Order::Queue,
    };
    Policy {
        id: id.into(),
        workspace,
        name: "approve prod".into(),
        description: String::new(),
        selector: "environment.name == \"prod\"".into(),
        priority: 10,
        enabled: true,
        rules: vec![Arc::new(rule)],
        metadata: Labels::new(),
        created_at: now,
    }
}

/// An event that is about nothing in particular.
pub fn event(text: &str) -> NewEvent {
    NewEvent {
        kind: EventKind::SystemUpdated,
        actor: Actor::User("ann".into()),
        subject: Subject { system: Some(SystemId(Uuid::from_u128(1))), ..Subject::default() },
        data: json!({ "text": text }),
    }
}

/// A release's id that nothing has.
pub fn nobody() -> ReleaseId {
    ReleaseId(Uuid::from_u128(404))
}
