//! Hosts, questions and answers in one line. `ask` and `load` are the only code that touches the API.

use std::{sync::Arc, time::Duration};

use model::{
    Json, Labels,
    deployment::Deployment,
    environment::Environment,
    id::{DeploymentId, EnvironmentId, JobId, PolicyId, ReleaseId, ResourceId, RuleId, Uuid, VersionId, WorkspaceId},
    job::JobKind,
    job_state::JobStatus,
    plugin::{Digest, Fault, FaultCode, Manifest, PluginRef},
    policy::{OnError, Order, Rule, RuleKey, RuleMode},
    question::{
        Answer, Ask, GateRequest, Intent, JobFacts, Measured, Question, ReadyRelease, SequenceRequest, VerifyRequest,
    },
    release_target::{ReleaseTarget, TargetKey},
    resource::Resource,
    time::Timestamp,
    version::{Version, VersionStatus},
};
use plugins::{Host, HostConfig, Limits, Session, digest_of};

/// 2026-03-02T08:00:00Z: now, in every question.
pub const NOW: Timestamp = Timestamp::from_millis(1_772_438_400_000);

/// Limits for tests that are not about time: a machine that builds at the same time is slow.
pub fn patient() -> Limits {
    Limits { call: Duration::from_secs(10), start: Duration::from_secs(20), ..Limits::product() }
}

pub fn host_with(limits: Limits) -> Host {
    Host::new(HostConfig { cache_dir: None, workers: 2, queue: 64, limits }).expect("a host")
}

pub async fn load_bytes(host: &Host, bytes: &[u8]) -> Result<(Digest, Manifest), Fault> {
    let digest = digest_of(bytes);
    host.load(digest, bytes).await.map(|manifest| (digest, manifest))
}

/// A guest that loads.
pub async fn load(host: &Host, guest: &str) -> Digest {
    load_bytes(host, guests::guest(guest)).await.unwrap_or_else(|fault| panic!("{guest}: {fault}")).0
}

/// What a guest that does not load says.
pub async fn refused(host: &Host, guest: &str) -> Fault {
    load_bytes(host, guests::guest(guest)).await.expect_err("it must not load")
}

pub fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

pub fn rule(config: Json) -> Arc<Rule> {
    Arc::new(Rule {
        id: RuleId(id(1)),
        policy: PolicyId(id(2)),
        created_at: Timestamp::from_millis(NOW.as_millis() - 3_600_000),
        key: RuleKey::Plugin,
        plugin: PluginRef { name: "test".into(), range: "*".parse().expect("a range") },
        config,
        mode: RuleMode::Enforce,
        on_error: OnError::Block,
        scope: None,
        any_of: None,
        applies_to_first: true,
        order: Order::Newest,
    })
}

pub fn version(number: u64) -> Arc<Version> {
    let at = NOW.plus_seconds(i64::try_from(number).expect("small") - 1000);
    Arc::new(Version {
        id: VersionId(id(0x100 + u128::from(number))),
        workspace: WorkspaceId(id(3)),
        deployment: DeploymentId(id(4)),
        tag: format!("v{number}"),
        name: format!("v{number}"),
        config: serde_json::json!({}),
        job_agent_config: serde_json::json!({}),
        metadata: Labels::new(),
        status: VersionStatus::Ready,
        created_at: at,
        received_at: at,
        ready_at: Some(at),
        created_by: Some("carol".into()),
    })
}

pub fn deployment() -> Arc<Deployment> {
    Arc::new(Deployment {
        id: DeploymentId(id(4)),
        workspace: WorkspaceId(id(3)),
        name: "api".into(),
        description: String::new(),
        systems: Vec::new(),
        resource_selector: "true".into(),
        job_agent: None,
        job_agent_config: serde_json::json!({}),
        job_deadline_seconds: 60,
        metadata: Labels::new(),
        created_at: NOW,
    })
}

pub fn environment() -> Arc<Environment> {
    Arc::new(Environment {
        id: EnvironmentId(id(5)),
        workspace: WorkspaceId(id(3)),
        name: "prod".into(),
        description: String::new(),
        systems: Vec::new(),
        resource_selector: "true".into(),
        metadata: Labels::new(),
        created_at: NOW,
    })
}

pub fn target(number: u64) -> Arc<ReleaseTarget> {
    let resource = ResourceId(id(0x200 + u128::from(number)));
    Arc::new(ReleaseTarget {
        key: TargetKey { deployment: DeploymentId(id(4)), environment: EnvironmentId(id(5)), resource },
        deployment: deployment(),
        environment: environment(),
        resource: Arc::new(Resource {
            id: resource,
            workspace: WorkspaceId(id(3)),
            identifier: format!("c{number}"),
            name: format!("c{number}"),
            kind: "Cluster".into(),
            version: String::new(),
            metadata: Labels::new(),
            config: serde_json::json!({}),
            created_at: NOW,
        }),
    })
}

pub fn gate_request() -> GateRequest {
    GateRequest {
        intent: Intent::Automatic,
        candidate: version(1),
        deployment: deployment(),
        environment: Some(environment()),
        target: None,
        approvals: None,
        target_jobs: None,
        version_history: None,
        environment_progress: None,
        dependencies: None,
        rollout_position: None,
    }
}

pub fn question(digest: Digest, config: Json, ask: Ask) -> Question {
    Question { digest, now: NOW, rule: rule(config), ask }
}

/// A gate question to a guest that is told `what`.
pub fn gate(digest: Digest, what: &str) -> Question {
    question(digest, serde_json::json!({"what": what}), Ask::Gate(Box::new(gate_request())))
}

/// A sequence question with two ready releases.
pub fn sequence(digest: Digest, what: &str) -> Question {
    let ready = |number: u64| ReadyRelease {
        id: ReleaseId(id(0x300 + u128::from(number))),
        target: target(number),
        version: version(number),
        ready_at: NOW,
    };
    let ask = SequenceRequest { targets: 2, ready: vec![ready(1), ready(2)], running: Vec::new() };
    question(digest, serde_json::json!({"what": what}), Ask::Sequence(Box::new(ask)))
}

pub fn job(number: u128, status: JobStatus) -> JobFacts {
    JobFacts {
        id: JobId(id(number)),
        kind: JobKind::Deploy,
        version: VersionId(id(0x101)),
        status,
        attempt: 1,
        created_at: NOW,
        started_at: None,
        completed_at: Some(NOW),
        message: "boom".into(),
    }
}

/// A verification of a success, a second after it.
pub fn verify(digest: Digest, config: Json, measurements: Vec<Measured>) -> Question {
    let job = job(1, JobStatus::Completed);
    let ask = VerifyRequest { target: target(1), version: version(1), job, measurements };
    Question { now: NOW.plus_seconds(1), ..question(digest, config, Ask::Verify(Box::new(ask))) }
}

pub async fn ask(session: &mut Session, question: Question) -> Answer {
    session.ask(vec![question]).await.remove(0)
}

/// The reason of a gate that answered.
pub fn reason(answer: &Answer) -> &str {
    match answer {
        Answer::Gate(answer) => &answer.reason,
        Answer::Retry(_) | Answer::Sequence(_) | Answer::Verify(_) | Answer::Fault(_) => {
            panic!("no gate's answer: {answer:?}")
        }
    }
}

/// Code and message of a fault.
pub fn fault(answer: &Answer) -> (FaultCode, &str) {
    match answer {
        Answer::Fault(fault) => (fault.code, &fault.message),
        Answer::Gate(_) | Answer::Retry(_) | Answer::Sequence(_) | Answer::Verify(_) => panic!("no fault: {answer:?}"),
    }
}
