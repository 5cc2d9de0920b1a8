//! The policies that ship, as components: they load, describe themselves, refuse wrong configurations and answer.
//! What they answer in detail is tested natively, beside each rule.

use std::sync::Arc;

use model::{
    approval::{Approval, ApprovalDecision},
    decision::Verdict,
    id::{ApprovalId, DeploymentId, EnvironmentId, VersionId, WorkspaceId},
    job_state::JobStatus,
    plugin::{Digest, FactKinds, Hooks, Scope},
    question::{
        Answer, Ask, Assessment, Dependency, EnvironmentProgress, GateRequest, JobFacts, Measured, Probe, RetryAnswer,
        RetryRequest, RolloutPosition, SequenceStep, StatusCount, TargetFacts,
    },
};
use plugins::Host;
use serde_json::json;

use crate::support::{
    NOW, ask, deployment, environment, gate_request, host_with, id, job, load_bytes, patient, question, sequence,
    target, verify, version,
};

async fn load(host: &Host, name: &str) -> (Digest, model::plugin::Manifest) {
    let bundled = bundle::BUNDLE.iter().find(|bundled| bundled.name == name).expect("it ships");
    load_bytes(host, bundled.bytes).await.expect("it loads")
}

fn approval(user: &str) -> Approval {
    Approval {
        id: ApprovalId(id(9)),
        workspace: WorkspaceId(id(3)),
        version: VersionId(id(0x101)),
        environment: EnvironmentId(id(5)),
        user: user.into(),
        roles_then: vec!["sre".into()],
        roles_now: Vec::new(),
        decision: ApprovalDecision::Approved,
        at: NOW.plus_seconds(-60),
        reason: String::new(),
    }
}

#[tokio::test]
async fn they_say_what_they_are() {
    let host = host_with(patient());
    for bundled in bundle::BUNDLE {
        let version: semver::Version = bundled.version.parse().expect("semver");
        assert!(version >= semver::Version::new(1, 0, 0) && !version.build.is_empty(), "{version}");
        let (_, manifest) = load(&host, bundled.name).await;
        assert_eq!(manifest.name, bundled.name);
        assert!(manifest.config_schema["properties"].is_object(), "{}", manifest.config_schema);
        assert_eq!(manifest.config_schema["additionalProperties"], json!(false), "unknown keys are errors");
    }
    for (name, hooks) in [
        ("approval", Hooks { gate: true, ..Hooks::default() }),
        ("retry", Hooks { retry: true, ..Hooks::default() }),
        ("sequence", Hooks { sequence: true, ..Hooks::default() }),
        ("verification", Hooks { verify: true, ..Hooks::default() }),
        ("gradual-rollout", Hooks { gate: true, ..Hooks::default() }),
    ] {
        assert_eq!(load(&host, name).await.1.hooks, hooks);
    }
    let (_, approval) = load(&host, "approval").await;
    assert_eq!(approval.scope, Scope::Environment);
    assert_eq!(approval.facts, FactKinds { approvals: true, ..FactKinds::default() });
}

#[tokio::test]
async fn wrong_configurations_are_refused_where_they_are_wrong() {
    let host = host_with(patient());
    for (name, config, path, message) in [
        ("approval", json!({"minApprovals": "2"}), "/minApprovals", "expected u32"),
        ("approval", json!({"approvals": 2}), "/approvals", "unknown field `approvals`"),
        ("approval", json!({"minApprovals": 3, "users": ["a"]}), "/minApprovals", "can never be reached"),
        ("retry", json!({}), "", "missing field `maxRetries`"),
        ("retry", json!({"maxRetries": 1, "jitter": 2}), "/jitter", "expected 0 to 1"),
        ("sequence", json!({"maxConcurrent": "0%"}), "/maxConcurrent", "more than 0%"),
        ("verification", json!({"metrics": []}), "/metrics", "is empty"),
    ] {
        let (digest, _) = load(&host, name).await;
        let errors = host.validate(digest, &config).await.expect("it answers");
        assert_eq!(errors.len(), 1, "{config}: {errors:?}");
        assert_eq!(errors[0].path, path, "{config}");
        assert!(errors[0].message.contains(message), "{config}: {}", errors[0].message);
    }
    for (name, config) in [
        ("approval", json!({"minApprovals": 2, "roles": ["sre"], "expiresAfter": "P1D"})),
        ("retry", json!({"maxRetries": 2, "backoffSeconds": 5, "backoffStrategy": "exponential", "jitter": 0.2})),
        ("sequence", json!({"scope": "environment", "maxConcurrent": "20%", "order": "queue"})),
    ] {
        let (digest, _) = load(&host, name).await;
        assert_eq!(host.validate(digest, &config).await, Ok(Vec::new()), "{config}");
    }
}

#[tokio::test]
async fn approval_waits_and_then_allows() {
    let host = host_with(patient());
    let (digest, _) = load(&host, "approval").await;
    let mut session = host.session();
    let mut rule_config = json!({"roles": ["sre"]});
    let request = |approvals: Vec<Approval>| {
        Ask::Gate(Box::new(GateRequest { approvals: Some(Arc::from(approvals)), ..gate_request() }))
    };
    let Answer::Gate(waits) = ask(&mut session, question(digest, rule_config.clone(), request(Vec::new()))).await
    else {
        panic!("no answer")
    };
    assert_eq!((waits.verdict, waits.reason.as_str()), (Verdict::Wait(None), "1 approval needed from a member of sre"));
    rule_config["expiresAfter"] = json!("1h");
    let Answer::Gate(allows) = ask(&mut session, question(digest, rule_config, request(vec![approval("alice")]))).await
    else {
        panic!("no answer")
    };
    assert_eq!((allows.verdict, allows.reason.as_str()), (Verdict::Allow, "approved by alice (no longer eligible)"));
    assert_eq!(allows.satisfied_at, Some(NOW.plus_seconds(-60)));
    assert_eq!(allows.valid_until, Some(NOW.plus_seconds(3540)));
    assert_eq!(allows.details["approvedBy"], "alice");
}

#[tokio::test]
async fn retry_waits_longer_and_gives_up() {
    let host = host_with(patient());
    let (digest, _) = load(&host, "retry").await;
    let mut session = host.session();
    let config = json!({"maxRetries": 1, "backoffSeconds": 30});
    let job = |number: u128| job(number, JobStatus::Failed);
    let request = |attempts: Vec<JobFacts>| {
        Ask::Retry(Box::new(RetryRequest { target: target(1), version: version(1), attempts }))
    };
    let answer = ask(&mut session, question(digest, config.clone(), request(vec![job(1)]))).await;
    assert_eq!(answer, Answer::Retry(RetryAnswer::RetryAt(NOW.plus_seconds(30))));
    let answer = ask(&mut session, question(digest, config, request(vec![job(1), job(2)]))).await;
    let why = "gave up after 2 attempts (maxRetries 1); the last one said: boom";
    assert_eq!(answer, Answer::Retry(RetryAnswer::GiveUp(why.into())));
}

#[tokio::test]
async fn sequence_starts_one_and_holds_the_other() {
    let host = host_with(patient());
    let (digest, _) = load(&host, "sequence").await;
    let mut question = sequence(digest, "");
    question.rule = crate::support::rule(json!({}));
    let Answer::Sequence(steps) = ask(&mut host.session(), question).await else { panic!("no answer") };
    assert!(matches!(&steps[..], [SequenceStep::Start(_), SequenceStep::Hold(_, why)] if why.contains("limit is 1")));
}

#[tokio::test]
async fn verification_says_what_to_measure_and_what_it_means() {
    let host = host_with(patient());
    let (digest, _) = load(&host, "verification").await;
    let config = json!({"metrics": [{
        "name": "errors",
        "provider": {"type": "http", "url": "http://api.example/health"},
        "successCondition": "result.json.errors < 5",
        "count": 2,
        "intervalSeconds": 30,
    }]});
    let probe =
        Probe { metric: "errors".into(), provider: "http".into(), config: json!({"url": "http://api.example/health"}) };
    assert_eq!(host.probes(digest, &config).await, Ok(vec![probe]));

    let measured = |seconds: i64, value: Result<u64, &str>| Measured {
        metric: "errors".into(),
        at: NOW.plus_seconds(seconds),
        value: value.map(|errors| json!({"ok": true, "json": {"errors": errors}})).map_err(str::to_owned),
    };
    let next = |seconds: i64| Assessment::Measure(vec![("errors".to_owned(), NOW.plus_seconds(seconds))]);
    let few = "errors failed in 1 of 1 measurements (failureThreshold 0); the last: ";
    let mut session = host.session();
    for (measurements, expect) in [
        (vec![], next(0)),
        (vec![measured(1, Ok(0))], next(31)),
        (vec![measured(1, Ok(0)), measured(31, Ok(4))], Assessment::Healthy),
        (
            vec![measured(1, Ok(5))],
            Assessment::Unhealthy(format!(
                "{few}`result.json.errors < 5` is false of {{\"ok\":true,\"json\":{{\"errors\":5}}}}"
            )),
        ),
        (
            vec![measured(1, Err("http: GET answered nothing"))],
            Assessment::Unhealthy(format!("{few}no measurement (http: GET answered nothing)")),
        ),
    ] {
        let answer = ask(&mut session, verify(digest, config.clone(), measurements)).await;
        assert_eq!(answer, Answer::Verify(expect));
    }
}

/// The facts of the newer rules reach them as they are.
#[tokio::test]
async fn gates_see_environments_dependencies_and_rollouts() {
    let host = host_with(patient());
    let staging = Arc::new(model::environment::Environment {
        id: EnvironmentId(id(6)),
        name: "staging".into(),
        ..(*environment()).clone()
    });
    let database = Arc::new(model::deployment::Deployment {
        id: DeploymentId(id(7)),
        name: "database".into(),
        ..(*deployment()).clone()
    });
    let progress = |verified: u32| EnvironmentProgress {
        environment: Arc::clone(&staging),
        targets: 4,
        statuses: vec![
            StatusCount { status: JobStatus::Failed, targets: 1, of_them_verified: 0 },
            StatusCount { status: JobStatus::Completed, targets: 3, of_them_verified: verified },
        ],
        last_success_at: Some(NOW.plus_seconds(-600)),
    };
    let facts = || TargetFacts { target: target(1), current: None, in_progress: None };
    let dependency = |number: u64| Dependency {
        deployment: Arc::clone(&database),
        environment: environment(),
        current: Some(version(number)),
    };
    let position = |index: u32| RolloutPosition {
        index,
        total: 4,
        pending_index: index,
        started_at: NOW.plus_seconds(-60),
        last_start_at: None,
        failed: 0,
        unverified: 0,
    };
    let soaks = json!({
        "dependsOnEnvironmentSelector": "environment.name == 'staging'",
        "minimumSuccessPercentage": 75,
        "minimumSoakTimeMinutes": 10,
        "requireVerificationPassed": true,
    });
    let needs = json!({"dependsOn": "deployment.name == 'database' && version.tag == 'v2'"});
    let linear = json!({"rolloutType": "linear", "timeScaleInterval": 60});
    let request = || GateRequest { target: Some(facts()), ..gate_request() };
    let progressed =
        |verified| GateRequest { environment_progress: Some(Arc::from(vec![progress(verified)])), ..request() };
    let depending = |number| GateRequest { dependencies: Some(Arc::from(vec![dependency(number)])), ..request() };
    let rolling = |index| GateRequest { rollout_position: Some(position(index)), ..request() };
    for (name, config, request, verdict, part) in [
        ("environment-progression", &soaks, progressed(3), Verdict::Allow, "staging"),
        ("environment-progression", &soaks, progressed(2), Verdict::Wait(None), "2 of 4"),
        ("dependency", &needs, depending(2), Verdict::Allow, "database runs v2 on c1"),
        ("dependency", &needs, depending(1), Verdict::Wait(None), "database runs v1 (prod)"),
        ("gradual-rollout", &linear, rolling(1), Verdict::Allow, ""),
        ("gradual-rollout", &linear, rolling(3), Verdict::Wait(Some(NOW.plus_seconds(120))), ""),
    ] {
        let (digest, _) = load(&host, name).await;
        let answer = ask(&mut host.session(), question(digest, config.clone(), Ask::Gate(Box::new(request)))).await;
        let Answer::Gate(answer) = answer else { panic!("{name}: {answer:?}") };
        assert_eq!(answer.verdict, verdict, "{name}: {}", answer.reason);
        assert!(answer.reason.contains(part), "{name}: {}", answer.reason);
    }
}
