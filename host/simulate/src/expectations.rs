//! Looks whether what must be true is.

use std::collections::HashMap;

use manifest::scenario::{Expectation, Expected, Targets};
use model::{
    event::EventKind,
    id::DeploymentId,
    job_state::JobStatus,
    release_target::TargetKey,
    report::{Standing, TargetReport},
};
use regex::Regex;
use store::Page;

use crate::{SimulateError, actions::find_target, line::Fault, names, world::World};

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
        if !self.known.contains_key(&key.deployment) {
            let report = world.engine.report(world.workspace.id, key.deployment).await;
            let report = report.map_err(|error| SimulateError::Step { line, message: error.to_string() })?;
            let lines = report.into_iter().flat_map(|report| report.targets);
            self.known.insert(key.deployment, lines.map(|line| (line.target.key, line)).collect());
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
        Targets::One(path) => Ok((path.clone(), vec![(path.clone(), find_target(world, path, line).await?)])),
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
    let next = report.next_evaluation.map(|at| at.to_string());
    compare("nextEvaluation", wanted(&expectation.next_evaluation, ToString::to_string), next);
    if let Some(pattern) = &expectation.reason {
        let regex = Regex::new(pattern)
            .map_err(|error| SimulateError::Step { line, message: format!("`reason` is no pattern: {error}") })?;
        if !regex.is_match(&report.reason) {
            faults.push(Fault { key: "reason", expected: pattern.clone(), found: report.reason.clone() });
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

/// The first rule that does not let the newest ready version go; or the sequence that holds one that every rule lets go.
fn blocked_by(report: &TargetReport) -> Option<String> {
    let gate = report.candidates.first().and_then(|newest| newest.blocked_by());
    match gate {
        Some(gate) => Some(gate.decision.rule_label.clone()),
        None if report.standing == Standing::Waiting => Some("sequence".to_owned()),
        None => None,
    }
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
