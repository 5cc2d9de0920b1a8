//! What a gate call costs: reused within a session, on a fresh instance, and the same rule as a native function.

use std::{hint::black_box, sync::Arc};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use model::{
    Labels,
    approval::{Approval, ApprovalDecision},
    decision::{GateAnswer, Verdict},
    deployment::Deployment,
    environment::Environment,
    id::{ApprovalId, DeploymentId, EnvironmentId, PolicyId, RuleId, Uuid, VersionId, WorkspaceId},
    plugin::{Digest, PluginRef},
    policy::{OnError, Order, Rule, RuleKey, RuleMode},
    question::{Answer, Ask, GateRequest, Intent, Question},
    time::Timestamp,
    version::{Version, VersionStatus},
};
use plugins::{Host, HostConfig, Limits, digest_of};

const NOW: Timestamp = Timestamp::from_millis(1_772_438_400_000);
/// Questions of one pass: what a reused instance is spread over.
const BATCH: usize = 1000;

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn labels() -> Labels {
    (0..10).map(|n| (format!("label-{n}"), format!("value-{n}"))).collect()
}

fn approvals() -> Vec<Approval> {
    let approval = |user: &str| Approval {
        id: ApprovalId(id(9)),
        workspace: WorkspaceId(id(3)),
        version: VersionId(id(8)),
        environment: EnvironmentId(id(5)),
        user: user.into(),
        roles_then: vec!["sre".into()],
        roles_now: vec!["sre".into()],
        decision: ApprovalDecision::Approved,
        at: NOW,
        reason: String::new(),
    };
    vec![approval("alice"), approval("bob")]
}

fn question(digest: Digest) -> Question {
    let version = Version {
        id: VersionId(id(8)),
        workspace: WorkspaceId(id(3)),
        deployment: DeploymentId(id(4)),
        tag: "v1".into(),
        name: "v1".into(),
        config: serde_json::json!({}),
        job_agent_config: serde_json::json!({}),
        metadata: labels(),
        status: VersionStatus::Ready,
        created_at: NOW,
        received_at: NOW,
        ready_at: Some(NOW),
        created_by: Some("carol".into()),
    };
    let deployment = Deployment {
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
    };
    let environment = Environment {
        id: EnvironmentId(id(5)),
        workspace: WorkspaceId(id(3)),
        name: "prod".into(),
        description: String::new(),
        systems: Vec::new(),
        resource_selector: "true".into(),
        metadata: Labels::new(),
        created_at: NOW,
    };
    let rule = Rule {
        id: RuleId(id(1)),
        policy: PolicyId(id(2)),
        created_at: NOW,
        key: RuleKey::AnyApproval,
        plugin: PluginRef { name: "approval".into(), range: "*".parse().expect("a range") },
        config: serde_json::json!({"minApprovals": 2, "roles": ["sre"]}),
        mode: RuleMode::Enforce,
        on_error: OnError::Block,
        scope: None,
        any_of: None,
        applies_to_first: true,
        order: Order::Newest,
    };
    let request = GateRequest {
        intent: Intent::Automatic,
        candidate: Arc::new(version),
        deployment: Arc::new(deployment),
        environment: Some(Arc::new(environment)),
        target: None,
        approvals: Some(Arc::from(approvals())),
        target_jobs: None,
        version_history: None,
        environment_progress: None,
        dependencies: None,
        rollout_position: None,
    };
    Question { digest, now: NOW, rule: Arc::new(rule), ask: Ask::Gate(Box::new(request)) }
}

/// The rule of `anyApproval` over domain types: what the sandbox is compared with.
fn native(question: &Question) -> GateAnswer {
    let Ask::Gate(request) = &question.ask else { unreachable!("only gates are asked") };
    let required = question.rule.config["minApprovals"].as_u64().unwrap_or(1);
    let roles = question.rule.config["roles"].as_array().map(Vec::as_slice).unwrap_or_default();
    let eligible = |roles_held: &[String]| roles.iter().any(|role| roles_held.iter().any(|held| role == held));
    let mut users: Vec<&str> = Vec::new();
    let mut given: Vec<Timestamp> = Vec::new();
    for approval in request.approvals.as_deref().unwrap_or_default() {
        if approval.decision == ApprovalDecision::Approved
            && eligible(&approval.roles_then)
            && !users.contains(&approval.user.as_str())
        {
            users.push(&approval.user);
            given.push(approval.at);
        }
    }
    given.sort_unstable();
    let enough = u64::try_from(users.len()).unwrap_or(u64::MAX) >= required;
    GateAnswer {
        verdict: if enough { Verdict::Allow } else { Verdict::Wait(None) },
        reason: format!("approved by {}", users.join(" and ")),
        satisfied_at: given.get(usize::try_from(required).unwrap_or(usize::MAX) - 1).copied(),
        valid_until: None,
        details: Labels::from([
            ("approvals".to_owned(), users.len().to_string()),
            ("approvedBy".to_owned(), users.join(", ")),
            ("rejectedBy".to_owned(), String::new()),
            ("required".to_owned(), required.to_string()),
        ]),
    }
}

fn gate_call(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let config = HostConfig { cache_dir: None, workers: 1, queue: 64, limits: Limits::product() };
    let host = Host::new(config).expect("a host");
    let approval = bundle::BUNDLE.iter().find(|bundled| bundled.name == "approval").expect("it ships").bytes;
    let digest = digest_of(approval);
    runtime.block_on(host.load(digest, approval)).expect("it loads");
    let question = question(digest);
    // The two must agree, or the comparison is of nothing.
    let answer = runtime.block_on(host.session().ask(vec![question.clone()])).remove(0);
    assert_eq!(answer, Answer::Gate(native(&question)));

    let mut group = criterion.benchmark_group("gate");
    group.throughput(Throughput::Elements(1));
    group.bench_function("native", |bencher| bencher.iter(|| native(black_box(&question))));
    group.bench_function("fresh", |bencher| {
        bencher.iter_batched(
            || vec![question.clone()],
            |questions| runtime.block_on(host.session().ask(questions)),
            BatchSize::SmallInput,
        );
    });
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function("reused, 1000 calls", |bencher| {
        let mut session = host.session();
        bencher.iter_batched(
            || vec![question.clone(); BATCH],
            |questions| runtime.block_on(session.ask(questions)),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, gate_call);
criterion_main!(benches);
