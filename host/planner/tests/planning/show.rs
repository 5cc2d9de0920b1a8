//! Tables for people: what tests compare.

use std::collections::HashMap;

use model::{
    decision::Verdict,
    id::{JobId, ReleaseId},
    plan::Step,
    policy::RuleMode,
    question::Ask,
    release_target::TargetKey,
    report::{Report, TargetReport},
    verification::Verified,
};
use planner::Outcome;

use crate::world::World;

/// One line a target: where, how it stands, what it runs, what it should run, why.
pub fn table(report: &Report) -> String {
    let tag = |version: &Option<std::sync::Arc<model::version::Version>>| {
        version.as_ref().map_or_else(|| "-".to_owned(), |version| version.tag.clone())
    };
    let rows = report.targets.iter().map(|line| {
        let wakes = line.next_evaluation.map(|at| format!(" [{}]", clock(&at.to_string()))).unwrap_or_default();
        vec![
            place(line),
            line.standing.name().to_owned(),
            format!("{} -> {}", tag(&line.current), tag(&line.desired)),
            format!("{}{wakes}", line.reason),
        ]
    });
    columns(&rows.collect::<Vec<_>>())
}

/// What every rule said of every candidate of a target.
pub fn gates(line: &TargetReport) -> String {
    let rows = line.candidates.iter().flat_map(|candidate| {
        candidate.gates.iter().map(|gate| {
            let decision = &gate.decision;
            let audit = if decision.mode == RuleMode::Audit { " (audit)" } else { "" };
            let fault = decision.fault.map(|fault| format!(" !{}", fault.name())).unwrap_or_default();
            let until = match decision.answer.verdict {
                Verdict::Wait(Some(until)) => format!(" until {}", clock(&until.to_string())),
                Verdict::Wait(None) | Verdict::Allow | Verdict::Deny => String::new(),
            };
            vec![
                candidate.version.tag.clone(),
                format!("{}/{}", gate.policy, decision.rule_label),
                format!("{}{until}{audit}{fault}", decision.answer.verdict.name()),
                decision.answer.reason.clone(),
            ]
        })
    });
    columns(&rows.collect::<Vec<_>>())
}

/// The steps of a plan, without ids and without decisions.
pub fn steps(world: &World, outcome: &Outcome) -> String {
    let releases: HashMap<ReleaseId, (TargetKey, String)> = world
        .releases
        .iter()
        .chain(outcome.plan.steps.iter().filter_map(|step| match step {
            Step::CreateRelease(release) => Some(release),
            _ => None,
        }))
        .map(|release| {
            let version = world.versions.iter().find(|version| version.id == release.version).expect("a version");
            (release.id, (release.target, version.tag.clone()))
        })
        .collect();
    let at = |key: TargetKey| {
        let environment = world.environments.iter().find(|one| one.id == key.environment);
        let resource = world.resources.iter().find(|one| one.id == key.resource);
        let name = |name: Option<&str>| name.unwrap_or("(gone)").to_owned();
        format!(
            "{}/{}",
            name(environment.map(|one| one.name.as_str())),
            name(resource.map(|one| one.identifier.as_str()))
        )
    };
    let release = |id: ReleaseId| releases[&id].1.clone();
    let job = |id: JobId| {
        let job = world.jobs.iter().find(|job| job.id == id).expect("a job");
        (at(job.target), format!("{} #{}", release(job.release), job.attempt))
    };
    let rows = outcome.plan.steps.iter().filter_map(|step| {
        let (place, what) = match step {
            Step::AttachTarget(key) => (at(*key), "attach".to_owned()),
            Step::DetachTarget(key) => (at(*key), "detach".to_owned()),
            Step::CreateRelease(made) => (at(made.target), format!("release {}", release(made.id))),
            Step::CloseRelease(id, why) => (at(releases[id].0), format!("close {}: {}", release(*id), why.name())),
            Step::SetDesired(key, to) => {
                (at(*key), format!("desired {}", to.map_or_else(|| "nothing".to_owned(), release)))
            }
            Step::SetCurrent(key, to) => (at(*key), format!("current {}", release(*to))),
            Step::RecordDecision(_)
            | Step::SettleVerification(_, Verified::NotAsked, _)
            | Step::PlaceInRollout(..)
            | Step::Measure(_) => return None,
            Step::SettleVerification(id, verified, _) => (job(*id).0, format!("{} {}", verified.name(), job(*id).1)),
            Step::Hold(hold) => (at(hold.target), format!("hold on {}", release(hold.release))),
            Step::EndHold(key) => (at(*key), "end the hold".to_owned()),
            Step::FinishRedeploy(key) => (at(*key), "finish the redeploy".to_owned()),
            Step::CreateJob(job) => (at(job.target), format!("start {} #{}", release(job.release), job.attempt)),
            Step::CancelJob(id, reason) => (job(*id).0, format!("cancel {}: {reason}", job(*id).1)),
            Step::WithdrawJob(id, reason) => (job(*id).0, format!("withdraw {}: {reason}", job(*id).1)),
        };
        Some(vec![place, what])
    });
    columns(&rows.collect::<Vec<_>>())
}

/// The jobs there were, as they were made.
pub fn jobs(world: &World) -> String {
    let rows = world.jobs.iter().map(|job| {
        let version = world.versions.iter().find(|version| version.id == job.version).expect("a version");
        let resource = world.resources.iter().find(|one| one.id == job.target.resource);
        vec![
            resource.map_or_else(|| "(gone)".to_owned(), |one| one.identifier.clone()),
            format!("{} #{}", version.tag, job.attempt),
            job.state.status().name().to_owned(),
        ]
    });
    columns(&rows.collect::<Vec<_>>())
}

/// The questions of the last pass: which plugin about what, in order.
pub fn asked(world: &World) -> String {
    let rows = world.asked.iter().map(|question| {
        let about = match &question.ask {
            Ask::Gate(request) => {
                let target = request.target.as_ref().map(|facts| facts.target.path());
                let environment = request.environment.as_ref().map(|environment| environment.name.clone());
                format!("{} at {}", request.candidate.tag, target.or(environment).unwrap_or_else(|| "all".to_owned()))
            }
            Ask::Verify(request) => format!("verify {} at {}", request.version.tag, request.target.path()),
            Ask::Retry(request) => format!("retry {} at {}", request.version.tag, request.target.path()),
            Ask::Sequence(request) => {
                format!("{} ready, {} running of {}", request.ready.len(), request.running.len(), request.targets)
            }
        };
        vec![question.rule.plugin.name.clone(), about]
    });
    columns(&rows.collect::<Vec<_>>())
}

fn place(line: &TargetReport) -> String {
    format!("{}/{}", line.target.environment.name, line.target.resource.identifier)
}

/// The time of day of an instant.
fn clock(instant: &str) -> String {
    instant[11..19].to_owned()
}

fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..count).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
