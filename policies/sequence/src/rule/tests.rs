//! `check` writes releases as `target:version` and jobs as `target:version:status`.

use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
use tidegate_policy::{Asset, Deployment, Environment, JobKind, ReleaseTarget};

use super::*;

fn target(name: &str) -> ReleaseTarget {
    ReleaseTarget {
        id: name.into(),
        deployment: Deployment { id: "d".into(), name: "d".into(), labels: Vec::new() },
        environment: Environment { id: "e".into(), name: "e".into(), labels: Vec::new() },
        asset: Asset {
            id: name.into(),
            identifier: name.into(),
            name: name.into(),
            kind: "Cluster".into(),
            version: String::new(),
            labels: Vec::new(),
            config: "{}".into(),
        },
    }
}

fn version(number: i64) -> Version {
    Version {
        id: format!("v{number:04}"),
        tag: format!("v{number}"),
        name: format!("v{number}"),
        created_at: number * 1000,
        received_at: number * 1000,
        created_by: None,
        labels: Vec::new(),
        config: "{}".into(),
    }
}

fn ready(text: &str) -> Ready {
    let (place, number) = text.split_once(":v").expect("target:version");
    let number = number.parse().expect("a number");
    Ready { id: text.into(), target: target(place), version: version(number), ready_at: number * 1000 }
}

fn running(text: &str) -> Running {
    let (release, status) = text.rsplit_once(':').expect("target:version:status");
    let release = ready(release);
    let status = match status {
        "queued" => JobStatus::Queued,
        "running" => JobStatus::InProgress,
        "done" => JobStatus::Completed,
        other => panic!("{other}"),
    };
    let job = Job {
        id: text.into(),
        kind: JobKind::Deploy,
        version_id: release.version.id.clone(),
        status,
        attempt: 1,
        created_at: 0,
        started_at: None,
        completed_at: None,
        message: String::new(),
    };
    Running { job, target: release.target, version: release.version }
}

fn text(step: &Step) -> String {
    match step {
        Step::Start(id) => format!("start {id}"),
        Step::Hold((id, why)) => format!("hold {id}: {why}"),
        Step::Cancel((id, why)) => format!("cancel {id}: {why}"),
    }
}

fn check(config: &str, jobs: &[&str], releases: &[&str], expect: &[&str]) {
    let config: Config = serde_json::from_str(config).expect("a configuration");
    let releases: Vec<Ready> = releases.iter().map(|text| ready(text)).collect();
    let jobs: Vec<Running> = jobs.iter().map(|text| running(text)).collect();
    let steps: Vec<String> = plan(&config, 10, &releases, &jobs).iter().map(text).collect();
    assert_eq!(steps, expect, "{config:?}");
}

const FULL: &str = "waits for its turn: 1 job runs, and the limit is 1 (maxConcurrent)";

#[test]
fn one_at_a_time_by_default() {
    check("{}", &[], &["a:v1"], &["start a:v1"]);
    check("{}", &["a:v1:done"], &["a:v2"], &["start a:v2"]);
    check("{}", &["a:v1:running"], &["a:v2"], &["hold a:v2: waits for v1 on this target to end"]);
    check("{}", &[], &["a:v1", "b:v1"], &["start a:v1", &format!("hold b:v1: {FULL}")]);
}

#[test]
fn a_limit_holds_over_the_group() {
    let two = r#"{"maxConcurrent": 2}"#;
    check(
        two,
        &["a:v1:running"],
        &["b:v1", "c:v1"],
        &["start b:v1", "hold c:v1: waits for its turn: 2 jobs run, and the limit is 2 (maxConcurrent)"],
    );
    check(r#"{"maxConcurrent": "30%"}"#, &[], &["a:v1", "b:v1", "c:v1"], &["start a:v1", "start b:v1", "start c:v1"]);
}

#[test]
fn a_newer_version_calls_off_what_nobody_works_on() {
    check("{}", &["a:v1:queued"], &["a:v2"], &["cancel a:v1:queued: superseded by v2", "start a:v2"]);
    check(
        r#"{"whenSuperseded": "keep"}"#,
        &["a:v1:queued"],
        &["a:v2"],
        &["hold a:v2: waits for v1 on this target to end"],
    );
    check(
        r#"{"whenSuperseded": "cancel-running"}"#,
        &["a:v1:running"],
        &["a:v2"],
        &["cancel a:v1:running: superseded by v2", "hold a:v2: waits for v1 on this target to end"],
    );
    // An older version supersedes nothing, and nothing is called off on another target.
    check("{}", &["a:v3:queued"], &["a:v2"], &["hold a:v2: waits for v3 on this target to end"]);
    check(r#"{"maxConcurrent": 5}"#, &["b:v1:queued"], &["a:v2"], &["start a:v2"]);
}

#[test]
fn newest_first_or_in_the_order_they_came() {
    check("{}", &[], &["a:v1", "a:v2"], &["start a:v2", "hold a:v1: waits for v2 on this target to end"]);
    let queue = r#"{"order": "queue"}"#;
    check(queue, &[], &["a:v2", "a:v1"], &["start a:v1", "hold a:v2: waits for v1 on this target to end"]);
    check(queue, &["a:v1:queued"], &["a:v2"], &["hold a:v2: waits for v1 on this target to end"]);
}

#[test]
fn parallel_versions_share_a_target() {
    let parallel = r#"{"mode": "parallel"}"#;
    check(parallel, &["a:v1:running"], &["a:v2", "a:v3"], &["start a:v3", "start a:v2"]);
    check(
        r#"{"mode": "parallel", "maxConcurrent": 1}"#,
        &["a:v1:running"],
        &["a:v2"],
        &[&format!("hold a:v2: {FULL}")],
    );
}

proptest! {
    /// Whatever is asked: one step each, never over the limit, never two jobs on one target when sequential.
    #[test]
    fn laws(
        jobs in proptest::collection::btree_set((0_u8..4, 1_u8..4), 0..6),
        releases in proptest::collection::btree_set((0_u8..4, 3_u8..7), 0..8),
        max in 1_u32..5,
        mode in prop_oneof![Just(Mode::Sequential), Just(Mode::Parallel)],
        order in prop_oneof![Just(Order::Newest), Just(Order::Queue)],
        when in prop_oneof![
            Just(WhenSuperseded::CancelQueued), Just(WhenSuperseded::CancelRunning), Just(WhenSuperseded::Keep)
        ].boxed(),
        queued: bool,
    ) {
        let status = if queued { "queued" } else { "running" };
        let jobs: Vec<Running> =
            jobs.iter().map(|(place, number)| running(&format!("t{place}:v{number}:{status}"))).collect();
        let releases: Vec<Ready> =
            releases.iter().map(|(place, number)| ready(&format!("t{place}:v{number}"))).collect();
        let config = Config {
            mode, order, when_superseded: when,
            max_concurrent: Some(crate::config::MaxConcurrent::Count(max)),
            ..Config::default()
        };
        let steps = plan(&config, 4, &releases, &jobs);
        let ids = |wanted: fn(&Step) -> Option<&str>| steps.iter().filter_map(wanted).collect::<Vec<&str>>();
        let started = ids(|step| match step { Step::Start(id) => Some(id), Step::Hold(_) | Step::Cancel(_) => None });
        let held = ids(|step| match step { Step::Hold((id, _)) => Some(id), Step::Start(_) | Step::Cancel(_) => None });
        let cancelled = ids(|step| match step { Step::Cancel((id, _)) => Some(id), Step::Start(_) | Step::Hold(_) => None });

        let answered: BTreeSet<&str> = started.iter().chain(&held).copied().collect();
        prop_assert_eq!(answered.len(), started.len() + held.len());
        prop_assert_eq!(answered, releases.iter().map(|release| release.id.as_str()).collect::<BTreeSet<_>>());

        let still: Vec<&Running> = jobs.iter()
            .filter(|running| !(queued && cancelled.contains(&running.job.id.as_str()))).collect();
        prop_assert!(started.is_empty() || still.len() + started.len() <= max as usize);
        if mode == Mode::Sequential {
            for id in &started {
                let place = id.split(':').next().expect("a target");
                let here = |other: &str| other.split(':').next() == Some(place);
                prop_assert!(!still.iter().any(|running| here(&running.job.id)));
                prop_assert_eq!(started.iter().filter(|other| here(other)).count(), 1);
            }
        }
    }
}
