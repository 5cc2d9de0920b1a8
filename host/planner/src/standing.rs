//! Why every target is where it is: one line each, from what the pass found.

use std::sync::Arc;

use model::{
    decision::Decision,
    hold::{HeldBy, Hold},
    question::Intent,
    release::Closed,
    report::{Block, BlockKind, CandidateReport, GateReport, Report, Standing, TargetReport},
    time::Timestamp,
    version::VersionStatus,
};

use crate::{
    gates::{ask_again_at, is_transient},
    holds,
    pass::Pass,
    search, steps,
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
        hold: target.hold.clone().filter(|_| !steps::hold_ends(pass, target)),
    }
}

fn candidate(pass: &Pass, target: &Target, considered: usize) -> CandidateReport {
    let version = &pass.snapshot.versions[considered];
    let mut blocks = pass.freezes.blocks(version.id, target, &pass.snapshot.skips, pass.now);
    let held = target.hold.as_ref().filter(|hold| !holds::lets_newer_go(hold) && hold.version != version.id);
    if let Some(hold) = held.filter(|_| target.intent == Intent::Rollback) {
        blocks.push(Block { kind: BlockKind::Held, reason: held_on(pass, hold), until: None });
    }
    // What is held back, and what goes back, is not asked about.
    let asked = held.is_none() && !search::skips_gates(target, considered, pass);
    let gates = target.rules.gates().filter(|_| asked).filter_map(|rule| {
        let decision = pass.gates.decision(rule, version.id, target)?.clone();
        let timezone = rule.rule.config.get("timezone").and_then(|zone| zone.as_str()).map(str::to_owned);
        Some(GateReport { policy: rule.policy.name.clone(), any_of: rule.rule.any_of.clone(), timezone, decision })
    });
    let skips = pass.snapshot.skips.iter().filter(|skip| skip.covers(version.id, target.target.key, pass.now));
    CandidateReport {
        version: Arc::clone(version),
        release: pass.release_id(target.target.key, considered),
        gates: gates.collect(),
        skips: skips.cloned().collect(),
        blocks,
    }
}

/// Why the target is held, and what ends it.
fn held_on(pass: &Pass, hold: &Hold) -> String {
    let tag = pass.version_index(hold.version).map_or("a release", |index| pass.snapshot.versions[index].tag.as_str());
    let (since, reason) = (hold.since, &hold.reason);
    match &hold.by {
        HeldBy::Rule { failed } => {
            let failed =
                pass.version_index(*failed).map_or("what failed", |index| pass.snapshot.versions[index].tag.as_str());
            format!(
                "held on {tag} since {since} until a version newer than {failed} may go or a person resumes: {reason}"
            )
        }
        HeldBy::Person { user } => {
            format!("held on {tag} by {user} since {since} until a person resumes: {reason}")
        }
    }
}

fn desired(pass: &Pass, target: &Target) -> Option<Arc<model::version::Version>> {
    let current = target.current.filter(|_| target.attached);
    let held = target.hold.as_ref().filter(|_| target.attached).and_then(|hold| pass.version_index(hold.version));
    let desired = target.chosen().or(held).or(target.desired).or(current)?;
    Some(Arc::clone(&pass.snapshot.versions[desired]))
}

fn standing(pass: &Pass, target: &Target, candidates: &[CandidateReport]) -> (Standing, String) {
    if !target.attached {
        return (Standing::Detached, "the selectors no longer match, so nothing new is started here".to_owned());
    }
    let tag = |index: usize| pass.snapshot.versions[index].tag.as_str();
    if let Some(chosen) = target.chosen() {
        match &target.next {
            Next::GaveUp { reason } => return (Standing::Failed, gave_up(pass, target, reason)),
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
    if let Some((job, missing)) = target.verifying.as_ref().filter(|_| target.active_job.is_none()) {
        let version = pass.version_of(*job).map_or("a version", |version| version.tag.as_str());
        return (Standing::Verifying, format!("{version} is deployed and not yet verified: {missing}"));
    }
    // A job that nobody has taken and that is not what was chosen is taken back, so it says nothing.
    if let Some(index) = target.active_job.filter(|job| in_hand(&pass.snapshot.jobs[*job]) || target.chosen().is_some())
    {
        let job = &pass.snapshot.jobs[index];
        let version = pass.version_of(index).map_or("a version", |version| version.tag.as_str());
        let status = job.state.status().name();
        return (Standing::Deploying, format!("attempt {} at {version} is {status}", job.attempt));
    }
    if let Some(hold) = &target.hold {
        let back_to = candidates.iter().find(|candidate| candidate.version.id == hold.version);
        let waits = back_to
            .and_then(blocked)
            .map_or_else(String::new, |(_, what, reason, _)| format!("; to go there waits for {what}: {reason}"));
        return (Standing::Held, format!("{}{waits}", held_on(pass, hold)));
    }
    if let Some((candidate, what, reason, others)) = candidates.first().and_then(blocked) {
        let more = if others == 0 { String::new() } else { format!(" (and {others} more)") };
        return (Standing::Blocked, format!("{} is held by {what}{more}: {reason}", candidate.version.tag));
    }
    match target.current {
        Some(current) => (Standing::UpToDate, format!("runs {}, the newest that may come here", tag(current))),
        None => (Standing::NoVersion, no_version(pass, target)),
    }
}

/// What holds a candidate first, and how much else does.
fn blocked(candidate: &CandidateReport) -> Option<(&CandidateReport, String, &str, usize)> {
    let others = candidate.blocks.len() + candidate.blocking();
    let (what, reason) = match (candidate.blocks.first(), candidate.blocked_by()) {
        (Some(block), _) => (block.kind.name().to_owned(), &block.reason),
        (None, Some(gate)) => (format!("{}/{}", gate.policy, gate.decision.rule_label), &gate.decision.answer.reason),
        (None, None) => return None,
    };
    Some((candidate, what, reason, others.saturating_sub(1)))
}

/// That there is nothing to go back to is worth saying where a rule would have gone back.
fn gave_up(pass: &Pass, target: &Target, reason: &str) -> String {
    let rollback =
        target.rules.rollback().is_some_and(|rollback| rollback.on_verification_failed || rollback.on_job_failed);
    let alone = target.current.is_none() || target.current == target.chosen();
    match &target.hold {
        Some(hold) => {
            format!("the rollback failed and nothing more is tried by itself: {reason} ({})", held_on(pass, hold))
        }
        None if rollback && alone => format!("{reason}; nothing else ran here with success to go back to"),
        None => reason.to_owned(),
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
        Closed::RolledBack => "was rolled back",
    });
    format!("{} is ready and {why} here, so it does not come by itself", version.tag)
}

/// When time alone may change something: what waits, what is allowed only until then and has not begun, what is frozen,
/// and what could not be answered in time.
fn next_evaluation(pass: &Pass, target: &Target, candidates: &[CandidateReport]) -> Option<Timestamp> {
    let verification = target.verifying.as_ref().and_then(|_| pass.ask_again_at(target));
    if !target.attached {
        return verification;
    }
    let decisions = || candidates.iter().flat_map(|candidate| &candidate.gates).map(|gate| &gate.decision);
    let gates = decisions().filter_map(Decision::next_evaluation).filter(|at| *at > pass.now).min();
    let unanswered = decisions().filter(|decision| decision.fault.is_some_and(is_transient));
    let unanswered = unanswered.map(|decision| ask_again_at(decision.at, pass.now)).min();
    let frozen = pass.freezes.next_change(target, pass.now).filter(|_| !candidates.is_empty());
    let own = match &target.next {
        Next::Wait { until, .. } => *until,
        Next::Nothing | Next::Ready { .. } | Next::Start { .. } | Next::GaveUp { .. } => None,
    };
    [verification, gates, unanswered, frozen, own].into_iter().flatten().min()
}
