//! Why every target is where it is: one line each, from what the pass found.

use std::sync::Arc;

use model::{
    release::Closed,
    report::{CandidateReport, GateReport, Report, Standing, TargetReport},
    time::{Timestamp, earliest},
    version::VersionStatus,
};

use crate::{
    pass::Pass,
    target::{Next, Target, in_hand},
};

/// One line for each target, by environment name and resource identifier.
pub fn report(pass: &Pass) -> Report {
    Report { targets: pass.targets.iter().map(|target| line(pass, target)).collect(), warnings: Vec::new() }
}

fn line(pass: &Pass, target: &Target) -> TargetReport {
    let candidates: Vec<CandidateReport> =
        target.considered.iter().map(|considered| candidate(pass, target, *considered)).collect();
    let (standing, reason) = standing(pass, target, &candidates);
    TargetReport {
        target: Arc::clone(&target.target),
        current: target.current.map(|index| Arc::clone(&pass.snapshot.versions[index])),
        desired: desired(pass, target),
        latest_job: target.jobs.last().and_then(|job| {
            let version = Arc::clone(pass.version_of(*job)?);
            let job = &pass.snapshot.jobs[*job];
            Some((job.id, version, job.attempt, job.state.status()))
        }),
        next_evaluation: next_evaluation(pass, target, &candidates),
        candidates,
        standing,
        reason,
    }
}

fn candidate(pass: &Pass, target: &Target, considered: usize) -> CandidateReport {
    let version = &pass.snapshot.versions[considered];
    let gates = target.rules.gates().filter_map(|rule| {
        let decision = pass.gates.decision(rule, version.id, target.target.key)?.clone();
        Some(GateReport { policy: rule.policy.name.clone(), decision })
    });
    CandidateReport {
        version: Arc::clone(version),
        release: pass.release_id(target.target.key, considered),
        gates: gates.collect(),
    }
}

fn desired(pass: &Pass, target: &Target) -> Option<Arc<model::version::Version>> {
    let current = target.current.filter(|_| target.attached);
    let desired = target.chosen().or(target.desired).or(current)?;
    Some(Arc::clone(&pass.snapshot.versions[desired]))
}

fn standing(pass: &Pass, target: &Target, candidates: &[CandidateReport]) -> (Standing, String) {
    if !target.attached {
        return (Standing::Detached, "the selectors no longer match, so nothing new is started here".to_owned());
    }
    let tag = |index: usize| pass.snapshot.versions[index].tag.as_str();
    if let Some(chosen) = target.chosen() {
        match &target.next {
            Next::GaveUp { reason } => return (Standing::Failed, reason.clone()),
            Next::Wait { reason, .. } if pass.snapshot.job_agent.is_none() => {
                return (Standing::NoAgent, reason.clone());
            }
            Next::Wait { reason, .. } => return (Standing::Waiting, format!("{} waits: {reason}", tag(chosen))),
            Next::Start { attempt } => {
                return (Standing::Deploying, format!("attempt {attempt} at {} is queued", tag(chosen)));
            }
            Next::Ready { .. } | Next::Nothing => {}
        }
    }
    // A job that nobody has taken and that is not what was chosen is taken back, so it says nothing.
    if let Some(index) = target.active_job.filter(|job| in_hand(&pass.snapshot.jobs[*job]) || target.chosen().is_some())
    {
        let job = &pass.snapshot.jobs[index];
        let version = pass.version_of(index).map_or("a version", |version| version.tag.as_str());
        let status = job.state.status().name();
        return (Standing::Deploying, format!("attempt {} at {version} is {status}", job.attempt));
    }
    if let Some((candidate, gate)) = candidates.first().and_then(|first| Some((first, first.blocked_by()?))) {
        let more = candidate.gates.iter().filter(|gate| !gate.decision.lets_go()).count() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let rule = &gate.decision.rule_label;
        let reason = &gate.decision.answer.reason;
        let version = &candidate.version.tag;
        return (Standing::Blocked, format!("{version} is held by {}/{rule}{more}: {reason}", gate.policy));
    }
    match target.current {
        Some(current) => (Standing::UpToDate, format!("runs {}, the newest that may come here", tag(current))),
        None => (Standing::NoVersion, no_version(pass, target)),
    }
}

fn no_version(pass: &Pass, target: &Target) -> String {
    let ready = pass.snapshot.versions.iter().find(|version| version.status == VersionStatus::Ready);
    let Some(version) = ready else {
        return format!("no version of `{}` is ready", pass.snapshot.deployment.name);
    };
    let release = pass.releases.get(&(target.target.key, version.id));
    let why = release.and_then(|release| release.closed).map_or("is not wanted", |(why, _)| match why {
        Closed::Superseded => "was superseded",
        Closed::Replaced => "was replaced",
        Closed::Cancelled => "was cancelled",
    });
    format!("{} is ready and {why} here, so it does not come by itself", version.tag)
}

/// When time alone may change something: what waits, and what is allowed only until then and has not begun.
fn next_evaluation(pass: &Pass, target: &Target, candidates: &[CandidateReport]) -> Option<Timestamp> {
    if !target.attached {
        return None;
    }
    let gates = candidates.iter().flat_map(|candidate| &candidate.gates);
    let gates = gates.filter_map(|gate| gate.decision.next_evaluation()).filter(|at| *at > pass.now).min();
    let own = match &target.next {
        Next::Wait { until, .. } => *until,
        Next::Nothing | Next::Ready { .. } | Next::Start { .. } | Next::GaveUp { .. } => None,
    };
    earliest(gates, own)
}
