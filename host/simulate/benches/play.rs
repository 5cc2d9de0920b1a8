//! What a play costs for each event: a hundred targets, an approval rule, agents that take two minutes, and an
//! expectation over all targets after each version.

use std::{fmt::Write as _, hint::black_box};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use manifest::scenario::{self, Scenario};
use plugins::{Host, HostConfig, Limits};
use simulate::{Line, Shipped, Stage, Summary};

const TARGETS: usize = 100;
const VERSIONS: usize = 14;

fn scenario() -> Scenario {
    let mut text = "start: 2026-03-02T08:00:00Z
apply:
  - {type: System, name: shop}
  - {type: JobAgent, name: sim, agentType: simulated}
  - {type: Environment, name: prod, systems: [shop]}
  - {type: Deployment, name: api, systems: [shop], jobAgent: sim}
  - {type: Policy, name: eyes, rules: [{anyApproval: {minApprovals: 1}}]}
"
    .to_owned();
    let mut add = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("text takes text");
    for target in 0..TARGETS {
        add(format_args!("  - {{type: Resource, identifier: c{target:04}, kind: Cluster}}"));
    }
    add(format_args!("agent: [{{takes: 2m}}]\nsteps:"));
    for version in 0..VERSIONS {
        let (at, jobs) = (10 * version, (version + 1) * TARGETS);
        add(format_args!("  - {{at: {at}m, version: {{deployment: api, tag: v{version}}}}}"));
        let approval = format!("deployment: api, version: v{version}, environment: prod, user: alice");
        add(format_args!("  - {{at: {}m, approve: {{{approval}}}}}", at + 1));
        let expected = format!("targets: 'api/prod/*', current: v{version}, jobs: {jobs}");
        add(format_args!("  - {{at: {}m, expect: {{{expected}}}}}", at + 5));
    }
    scenario::parse("bench.yaml", &text).expect("a scenario")
}

/// Plays it on a new database; how many events there were, and what it came to.
fn play(runtime: &tokio::runtime::Runtime, host: &Host, scenario: &Scenario) -> (u64, Summary) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shipped = bundle::BUNDLE.iter().map(|plugin| Shipped {
        name: plugin.name,
        version: plugin.version.parse().expect("semver"),
        bytes: plugin.bytes,
    });
    let stage = Stage {
        database_url: format!("sqlite:{}", folder.path().join("scenario.db").display()),
        host: host.clone(),
        shipped: shipped.collect(),
    };
    let mut events = 0;
    let mut count = |line: Line| events += u64::from(matches!(black_box(line), Line::Event { .. }));
    let summary = runtime.block_on(simulate::play(scenario, stage, &mut count)).expect("it plays to its end");
    (events, summary)
}

fn plays(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let config = HostConfig { cache_dir: None, workers: 1, queue: 16, limits: Limits::product() };
    let (host, scenario) = (Host::new(config).expect("a plugin host"), scenario());
    let (events, summary) = play(&runtime, &host, &scenario);
    assert!(summary.failed == 0 && events >= 10_000, "{events} events, {summary:?}");
    let mut group = criterion.benchmark_group("play");
    group.sample_size(10).throughput(Throughput::Elements(events));
    group.bench_function("events of a hundred targets", |bencher| bencher.iter(|| play(&runtime, &host, &scenario)));
    group.finish();
}

criterion_group!(benches, plays);
criterion_main!(benches);
