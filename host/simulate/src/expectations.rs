//! Looks whether what must be true is.

use std::collections::HashMap;

use manifest::scenario::{Expectation, Expected, Targets};
use model::{
    event::EventKind,
    job_state::JobStatus,
    limits::PAGE_MAX,
    release_target::TargetKey,
    report::{Standing, TargetReport},
};
use regex::Regex;
use store::Page;

use crate::{SimulateError, actions::find_target, line::Fault, names, world::World};

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

/// What was found of one target.
struct Found {
    path: String,
    report: TargetReport,
    jobs: u64,
    running: u64,
}

/// What the expectation is about, and what of it does not hold.
pub(crate) async fn check(
    world: &World,
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
    let mut found = Vec::new();
    for (path, key) in targets {
        found.push(look(world, path, key, line).await?);
    }
    for found in &found {
        one(seen, expectation, found, line, &mut faults)?;
    }
    sum("jobs", expectation.jobs, found.iter().map(|found| found.jobs).sum(), &mut faults);
    sum("running", expectation.running, found.iter().map(|found| found.running).sum(), &mut faults);
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

async fn look(world: &World, path: String, key: TargetKey, line: u64) -> Result<Found, SimulateError> {
    let refused = |error: engine::CommandError| SimulateError::Step { line, message: error.to_string() };
    let report = world.engine.explain(world.workspace.id, key).await.map_err(refused)?;
    let report = report
        .ok_or_else(|| SimulateError::Step { line, message: format!("target `{path}` is not there any more") })?;
    let mut tx = world.store.read("simulate.jobs").await?;
    let filter = store::job::Filter { target: Some(key), ..store::job::Filter::default() };
    let page = Page { limit: PAGE_MAX, offset: 0 };
    let jobs = store::job::list(&mut tx, world.workspace.id, filter, page).await?;
    let works =
        |status: JobStatus| matches!(status, JobStatus::Triggered | JobStatus::InProgress | JobStatus::ActionRequired);
    let running = jobs.items.iter().filter(|named| works(named.job.state.status())).count();
    Ok(Found { path, report, jobs: jobs.total, running: u64::try_from(running).unwrap_or(u64::MAX) })
}

fn one(
    seen: &Seen,
    expectation: &Expectation,
    found: &Found,
    line: u64,
    faults: &mut Vec<Fault>,
) -> Result<(), SimulateError> {
    let report = &found.report;
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
    let held = |held: bool| held.to_string();
    compare("held", expectation.held.map(|wanted| Some(held(wanted))), Some(held(report.hold.is_some())));
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
        let all = seen.kinds.get(&found.path).map_or(&[][..], Vec::as_slice);
        let mut rest = all.iter();
        if !kinds.iter().all(|kind| rest.any(|seen| seen == kind)) {
            let names = |kinds: &[EventKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            faults.push(Fault { key: "events", expected: names(kinds), found: names(all) });
        }
    }
    Ok(())
}

fn sum(key: &'static str, wanted: Option<u64>, found: u64, faults: &mut Vec<Fault>) {
    if let Some(wanted) = wanted.filter(|wanted| *wanted != found) {
        faults.push(Fault { key, expected: wanted.to_string(), found: found.to_string() });
    }
}

/// What holds the newest ready version first: a freeze, a rollback, a rule; or the sequence that holds one that every rule lets go.
fn blocked_by(report: &TargetReport) -> Option<String> {
    let newest = report.candidates.first();
    let block = newest.and_then(|newest| newest.blocks.first());
    match (block, newest.and_then(|newest| newest.blocked_by())) {
        (Some(block), _) => Some(block.kind.name().to_owned()),
        (None, Some(gate)) => Some(gate.decision.rule_label.clone()),
        (None, None) if report.standing == Standing::Waiting => Some("sequence".to_owned()),
        (None, None) => None,
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
