//! Looks whether what must be true is.

use std::collections::{HashMap, hash_map::Entry};

use manifest::scenario::{Expectation, Expected, Targets};
use model::{
    event::EventKind,
    id::DeploymentId,
    job_state::JobStatus,
    release_target::TargetKey,
    report::{BlockKind, Standing, TargetReport},
};
use regex::Regex;
use store::Page;

use crate::{SimulateError, find, line::Fault, names, world::World};

/// Statuses of jobs that somebody works on.
const WORKED_ON: [Option<JobStatus>; 3] =
    [Some(JobStatus::Triggered), Some(JobStatus::InProgress), Some(JobStatus::ActionRequired)];

/// Events so far, by target.
#[derive(Default)]
pub(crate) struct Seen {
    kinds: HashMap<String, Vec<EventKind>>,
    count: i64,
}

impl Seen {
    pub fn note(&mut self, target: Option<&str>, kind: EventKind) {
        self.count += 1;
        if let Some(target) = target {
            self.kinds.entry(target.to_owned()).or_default().push(kind);
        }
    }

    /// How many there were.
    pub fn count(&self) -> i64 {
        self.count
    }
}

/// What is said of deployments at the present instant: one pass over each says it of all its targets.
#[derive(Default)]
pub(crate) struct Reports {
    known: HashMap<DeploymentId, HashMap<TargetKey, TargetReport>>,
}

impl Reports {
    /// Something happened.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    async fn of(&mut self, world: &World, key: TargetKey, line: u64) -> Result<Option<&TargetReport>, SimulateError> {
        if let Entry::Vacant(unknown) = self.known.entry(key.deployment) {
            let report = world.engine.report(world.workspace.id, key.deployment).await;
            let report = report.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
            let lines = report.into_iter().flat_map(|report| report.targets);
            unknown.insert(lines.map(|line| (line.target.key, line)).collect());
        }
        Ok(self.known.get(&key.deployment).and_then(|lines| lines.get(&key)))
    }
}

/// What the expectation is about, and what of it does not hold.
pub(crate) async fn check(
    world: &World,
    reports: &mut Reports,
    seen: &Seen,
    expectation: &Expectation,
    line: u64,
) -> Result<(String, Vec<Fault>), SimulateError> {
    let (label, targets) = targets(world, &expectation.targets, line).await?;
    let mut faults = Vec::new();
    if targets.is_empty() {
        let fault = Fault { key: "targets", expected: "at least one target".into(), found: "none".into() };
        return Ok((label, vec![fault]));
    }
    for (path, key) in &targets {
        let report = reports.of(world, *key, line).await?;
        let report = report
            .ok_or_else(|| SimulateError::Step { line, message: format!("target `{path}` is not there any more") })?;
        one(seen, expectation, path, report, line, &mut faults)?;
    }
    let mut tx = world.store.read("simulate.jobs").await?;
    for (key, wanted, statuses) in
        [("jobs", expectation.jobs, &[None][..]), ("running", expectation.running, &WORKED_ON[..])]
    {
        let Some(wanted) = wanted else { continue };
        let mut found = 0;
        for (target, status) in targets.iter().flat_map(|(_, key)| statuses.iter().map(move |status| (*key, *status))) {
            let filter = store::job::Filter { target: Some(target), status, ..store::job::Filter::default() };
            let page = Page { limit: 1, offset: 0 };
            found += store::job::list(&mut tx, world.workspace.id, filter, page).await?.total;
        }
        if found != wanted {
            faults.push(Fault { key, expected: wanted.to_string(), found: found.to_string() });
        }
    }
    Ok((label, faults))
}

async fn targets(
    world: &World,
    wanted: &Targets,
    line: u64,
) -> Result<(String, Vec<(String, TargetKey)>), SimulateError> {
    match wanted {
        Targets::One(path) => Ok((path.clone(), vec![(path.clone(), find::target(world, path, line).await?)])),
        Targets::Glob(glob) => {
            let parts: Vec<String> = glob.split('*').map(regex::escape).collect();
            let pattern = Regex::new(&format!("^{}$", parts.join("[^/]*")))
                .map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
            let mut tx = world.store.read("simulate.targets").await?;
            let all = names::targets(&mut tx, world.workspace.id).await?;
            Ok((glob.clone(), all.into_iter().filter(|(path, _)| pattern.is_match(path)).collect()))
        }
    }
}

fn one(
    seen: &Seen,
    expectation: &Expectation,
    path: &str,
    report: &TargetReport,
    line: u64,
    faults: &mut Vec<Fault>,
) -> Result<(), SimulateError> {
    let tag =
        |version: &Option<std::sync::Arc<model::version::Version>>| version.as_ref().map(|version| version.tag.clone());
    let mut compare = |key: &'static str, wanted: Option<Option<String>>, found: Option<String>| {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != found) {
            let show = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
            faults.push(Fault { key, expected: show(wanted), found: show(found) });
        }
    };
    compare("desired", text(&expectation.desired), tag(&report.desired));
    compare("current", text(&expectation.current), tag(&report.current));
    let latest = report.latest_job.as_ref().map(|(_, _, _, status)| status.name().to_owned());
    compare("latestJob", wanted(&expectation.latest_job, |status| status.name().to_owned()), latest);
    compare("blockedBy", text(&expectation.blocked_by), blocked_by(report));
    compare("held", expectation.held.map(|held| Some(held.to_string())), Some(report.hold.is_some().to_string()));
    let next = report.next_evaluation.map(|at| at.to_string());
    compare("nextEvaluation", wanted(&expectation.next_evaluation, ToString::to_string), next);
    if let Some(pattern) = &expectation.reason {
        let regex = Regex::new(pattern)
            .map_err(|error| SimulateError::Step { line, message: format!("`reason` is no pattern: {error}") })?;
        let held = blocker(report).map(|(_, reason)| reason).filter(|reason| !report.reason.contains(reason));
        if !regex.is_match(&report.reason) && !held.is_some_and(|reason| regex.is_match(reason)) {
            let held = held.map_or_else(String::new, |reason| format!(" [{reason}]"));
            let found = format!("{}{held}", report.reason);
            faults.push(Fault { key: "reason", expected: pattern.clone(), found });
        }
    }
    if let Some(kinds) = &expectation.events {
        let all = seen.kinds.get(path).map_or(&[][..], Vec::as_slice);
        let mut rest = all.iter();
        if !kinds.iter().all(|kind| rest.any(|seen| seen == kind)) {
            let names = |kinds: &[EventKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            faults.push(Fault { key: "events", expected: names(kinds), found: names(all) });
        }
    }
    Ok(())
}

/// What does not let the newest ready version go, and why: a freeze or a rollback, or the first rule.
fn blocker(report: &TargetReport) -> Option<(&str, &str)> {
    let newest = report.candidates.first()?;
    let block = newest.blocks.first().map(|block| (block.kind.name(), block.reason.as_str()));
    block.or_else(|| {
        let decision = &newest.blocked_by()?.decision;
        Some((decision.rule_label.as_str(), decision.answer.reason.as_str()))
    })
}

/// The name of that; or what else holds a version that everything lets go.
fn blocked_by(report: &TargetReport) -> Option<String> {
    let name = blocker(report).map(|(name, _)| name).or(match report.standing {
        Standing::Waiting => Some("sequence"),
        Standing::Held => Some(BlockKind::Held.name()),
        Standing::NoVersion
        | Standing::UpToDate
        | Standing::Deploying
        | Standing::Verifying
        | Standing::Blocked
        | Standing::Failed
        | Standing::NoAgent
        | Standing::Detached => None,
    });
    name.map(str::to_owned)
}

fn text(expected: &Expected<String>) -> Option<Option<String>> {
    wanted(expected, Clone::clone)
}

/// What is expected, as text: nothing when anything will do.
fn wanted<T>(expected: &Expected<T>, show: impl Fn(&T) -> String) -> Option<Option<String>> {
    match expected {
        Expected::Anything => None,
        Expected::Nothing => Some(None),
        Expected::Is(value) => Some(Some(show(value))),
    }
}
