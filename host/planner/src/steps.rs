//! From what the pass found to what is to be done: the plan, with the events that go into the audit trail.

use std::collections::HashSet;

use model::{
    event::{Actor, EventKind, NewEvent, Subject},
    hold::{HeldBy, Hold},
    id::{JobId, VersionId},
    job::{Job, JobKind},
    job_agent::AgentType,
    job_state::JobState,
    plan::{Plan, Step},
    question::Intent,
    release::{Closed, Release},
    release_target::TargetKey,
    verification::Verified,
    version::VersionStatus,
};
use serde_json::json;

use crate::{
    dispatch_context::{dispatch_context, merged_config},
    pass::Pass,
    target::{Next, Target, attempts, ended_as, in_hand},
};

/// The plan: targets first; then what verification came to; then, one target after the other, its releases, their places
/// in rollouts, what it runs, what it is held on, what it should run and what is closed; then decisions, what is called
/// off, and new jobs.
pub fn plan(pass: &mut Pass) -> Plan {
    let mut plan = Plan::default();
    for target in &pass.targets {
        attach(&mut plan, target);
    }
    for state in pass.gone.iter().filter(|state| state.attached) {
        plan.steps.push(Step::DetachTarget(state.key));
        plan.events.push(NewEvent {
            kind: EventKind::TargetDetached,
            actor: Actor::System,
            subject: Subject::target(state.key),
            data: json!({"target": state.key.to_string()}),
        });
    }
    verification(pass, &mut plan);
    for index in 0..pass.targets.len() {
        let target = &pass.targets[index];
        make_releases(pass, target, &mut plan);
        place_in_rollouts(pass, index, &mut plan);
        set_current(pass, target, &mut plan);
        set_hold(pass, target, &mut plan);
        finish_redeploy(pass, target, &mut plan);
        set_desired(pass, target, &mut plan);
        close_releases(pass, target, &mut plan);
    }
    for decision in pass.gates.changed() {
        let subject = Subject {
            deployment: Some(decision.scope.deployment),
            environment: decision.scope.environment,
            resource: decision.scope.resource,
            version: Some(decision.version),
            policy: Some(decision.policy),
            ..Subject::default()
        };
        let data = json!({
            "rule": decision.rule_label,
            "verdict": decision.answer.verdict.name(),
            "mode": decision.mode.name(),
            "reason": decision.answer.reason,
            "fault": decision.fault.map(model::plugin::FaultCode::name),
            "nextEvaluation": decision.next_evaluation().map(|at| at.to_string()),
        });
        plan.events.push(NewEvent { kind: EventKind::DecisionChanged, actor: Actor::System, subject, data });
        plan.steps.push(Step::RecordDecision(decision.clone()));
    }
    call_off(pass, &mut plan);
    make_jobs(pass, &mut plan);
    plan
}

fn attach(plan: &mut Plan, target: &Target) {
    let key = target.target.key;
    let (step, kind) = match (target.attached, target.state.attached, target.is_new) {
        (true, _, true) | (true, false, false) => (Step::AttachTarget(key), EventKind::TargetAttached),
        (false, true, _) => (Step::DetachTarget(key), EventKind::TargetDetached),
        (true, true, false) | (false, false, _) => return,
    };
    plan.steps.push(step);
    plan.events.push(about(target, kind, json!({"target": target.target.path()})));
}

fn make_releases(pass: &Pass, target: &Target, plan: &mut Plan) {
    for considered in &target.considered {
        let version = &pass.snapshot.versions[*considered];
        let Some(id) = pass.new_releases.get(&(target.target.key, version.id)) else { continue };
        plan.steps.push(Step::CreateRelease(Release {
            id: *id,
            workspace: pass.snapshot.workspace,
            target: target.target.key,
            version: version.id,
            variables: None,
            created_at: pass.now,
            closed: None,
            rollout: None,
        }));
        let mut event = about(target, EventKind::ReleaseCreated, json!({"version": version.tag}));
        event.subject.release = Some(*id);
        event.subject.version = Some(version.id);
        plan.events.push(event);
    }
}

/// What became of jobs' verification, and what is still to be measured.
fn verification(pass: &Pass, plan: &mut Plan) {
    for (index, verified, seen) in &pass.verification.settled {
        let job = &pass.snapshot.jobs[*index];
        plan.steps.push(Step::SettleVerification(job.id, *verified, seen.clone()));
        let kind = match verified {
            Verified::Passed => EventKind::VerificationPassed,
            Verified::Failed => EventKind::VerificationFailed,
            Verified::NotAsked | Verified::Abandoned => continue,
        };
        let version = pass.version_of(*index).map(|version| &version.tag);
        let data = json!({"version": version, "attempt": job.attempt, "message": seen});
        plan.events.push(NewEvent { kind, actor: Actor::System, subject: job.subject(), data });
    }
    plan.steps.extend(pass.verification.wanted.iter().cloned().map(Step::Measure));
}

fn place_in_rollouts(pass: &Pass, index: usize, plan: &mut Plan) {
    let target = &pass.targets[index];
    for ((_, version), place) in pass.rollouts.placed.range((index, 0)..=(index, usize::MAX)) {
        if let Some(release) = pass.release_id(target.target.key, *version) {
            plan.steps.push(Step::PlaceInRollout(release, *place));
        }
    }
}

/// A rule sent the target back, or what it went back to failed as well, or something newer goes.
fn set_hold(pass: &Pass, target: &Target, plan: &mut Plan) {
    let Some(hold) = &target.hold else { return };
    let subject = Subject { release: Some(hold.release), version: Some(hold.version), ..Subject::target(hold.target) };
    let tag = pass.version_index(hold.version).map(|index| &pass.snapshot.versions[index].tag);
    let mut tell = |kind, data| plan.events.push(NewEvent { kind, actor: Actor::System, subject, data });
    if hold_ends(pass, target) {
        let by = target.chosen().map(|chosen| &pass.snapshot.versions[chosen].tag);
        tell(EventKind::TargetResumed, json!({"version": tag, "by": by}));
        plan.steps.push(Step::EndHold(hold.target));
    } else if !pass.holds.contains_key(&hold.target) {
        tell(EventKind::TargetHeld, json!({"version": tag, "reason": hold.reason}));
        plan.steps.push(Step::Hold(hold.clone()));
    } else if let (None, Next::GaveUp { reason }) = (hold.failed_at, &target.next) {
        tell(EventKind::RollbackFailed, json!({"version": tag, "reason": reason}));
        plan.steps.push(Step::Hold(Hold { failed_at: Some(pass.now), ..hold.clone() }));
    }
}

/// Whether something newer than what failed goes, so that the target is held no longer.
pub fn hold_ends(pass: &Pass, target: &Target) -> bool {
    let Some(HeldBy::Rule { failed }) = target.hold.as_ref().map(|hold| &hold.by) else { return false };
    target.chosen().zip(pass.version_index(*failed)).is_some_and(|(chosen, failed)| chosen < failed)
        && target.intent != Intent::Redeploy
}

/// A job serves the redeploy, or something newer took its place.
fn finish_redeploy(pass: &Pass, target: &Target, plan: &mut Plan) {
    let Some(redeploy) = pass.redeploys.get(&target.target.key) else { return };
    let goes = target.redeploy.is_some() && target.intent == Intent::Redeploy && target.chosen() == target.redeploy;
    let queued = target.active_job.is_some_and(|job| pass.snapshot.jobs[job].version == redeploy.version)
        && pass.job_in_hand(target).is_none();
    let starts = matches!(target.next, Next::Start { .. });
    let overtaken = target.redeploy.is_none() || (!goes && starts);
    if overtaken {
        let version = pass.version_index(redeploy.version).map(|index| &pass.snapshot.versions[index].tag);
        let mut event = about(target, EventKind::RedeployOvertaken, json!({"version": version}));
        event.subject.release = Some(redeploy.release);
        event.subject.version = Some(redeploy.version);
        plan.events.push(event);
    }
    if overtaken || (goes && (starts || queued)) {
        plan.steps.push(Step::FinishRedeploy(target.target.key));
    }
}

fn set_current(pass: &Pass, target: &Target, plan: &mut Plan) {
    let (Some(release), Some(current)) = (target.current_release, target.current) else { return };
    if target.state.current == Some(release) {
        return;
    }
    let version = &pass.snapshot.versions[current];
    plan.steps.push(Step::SetCurrent(target.target.key, release));
    let mut event = about(target, EventKind::ReleaseCurrent, json!({"version": version.tag}));
    event.subject.release = Some(release);
    event.subject.version = Some(version.id);
    plan.events.push(event);
}

/// What a target should run is what was chosen. With nothing chosen it stays what it was, unless that may no longer
/// come there by itself and has not: then it is again what the target runs.
fn set_desired(pass: &Pass, target: &Target, plan: &mut Plan) {
    let desired = match target.chosen() {
        Some(chosen) => pass.release_id(target.target.key, chosen),
        None if target.attached && target.hold.is_some() => target.hold.as_ref().map(|hold| hold.release),
        None if target.attached && target.desired.is_none() => target.current_release,
        None => return,
    };
    if target.state.desired == desired {
        return;
    }
    plan.steps.push(Step::SetDesired(target.target.key, desired));
    let held = target.hold.as_ref().and_then(|hold| pass.version_index(hold.version));
    let version = target.chosen().or(held).or(target.current).filter(|_| desired.is_some());
    let version = version.map(|index| &pass.snapshot.versions[index]);
    let data = json!({"version": version.map(|version| &version.tag)});
    let mut event = about(target, EventKind::ReleaseDesired, data);
    event.subject.release = desired;
    event.subject.version = version.map(|version| version.id);
    plan.events.push(event);
}

/// Whatever is older than what a target should run, or runs, is not started there by itself any more.
fn close_releases(pass: &Pass, target: &Target, plan: &mut Plan) {
    if let Some(hold) = target.hold.as_ref().filter(|hold| !pass.holds.contains_key(&hold.target))
        && let HeldBy::Rule { failed } = hold.by
        && let Some(release) = pass.releases.get(&(hold.target, failed)).filter(|release| release.closed.is_none())
    {
        plan.steps.push(Step::CloseRelease(release.id, Closed::RolledBack));
    }
    // What a target is held on does not push anything older out.
    if target.hold.is_some() && !hold_ends(pass, target) {
        return;
    }
    let Some(floor) = [target.chosen(), target.current].into_iter().flatten().min() else { return };
    let superseding = &pass.snapshot.versions[floor];
    for version in &pass.snapshot.versions[floor + 1..] {
        let Some(release) = pass.releases.get(&(target.target.key, version.id)) else { continue };
        let busy = target.active_job.is_some_and(|job| pass.snapshot.jobs[job].version == version.id);
        if release.closed.is_some() || busy || Some(release.id) == target.current_release {
            continue;
        }
        if completed(pass, target, version.id) {
            plan.steps.push(Step::CloseRelease(release.id, Closed::Replaced));
            continue;
        }
        plan.steps.push(Step::CloseRelease(release.id, Closed::Superseded));
        let data = json!({"version": version.tag, "by": superseding.tag});
        let mut event = about(target, EventKind::ReleaseSuperseded, data);
        event.subject.release = Some(release.id);
        event.subject.version = Some(version.id);
        plan.events.push(event);
    }
}

fn completed(pass: &Pass, target: &Target, version: VersionId) -> bool {
    target
        .jobs
        .iter()
        .map(|job| &pass.snapshot.jobs[*job])
        .any(|job| job.version == version && pass.verdicts.is_good(job))
}

/// Jobs that sequences call off; and jobs that nobody has taken and that no longer may run.
fn call_off(pass: &Pass, plan: &mut Plan) {
    for (job, reason) in &pass.sequencing.cancels {
        plan.steps.push(Step::CancelJob(*job, reason.clone()));
    }
    for target in &pass.targets {
        let Some(index) = target.active_job.filter(|_| pass.job_in_hand(target).is_none()) else { continue };
        let job = &pass.snapshot.jobs[index];
        if pass.sequencing.cancels.contains_key(&job.id) || job.kind != JobKind::Deploy {
            continue;
        }
        if let Some(reason) = may_not_start(pass, target, job) {
            plan.steps.push(Step::WithdrawJob(job.id, reason));
        }
    }
    let gone: HashSet<TargetKey> = pass.gone.iter().map(|state| state.key).collect();
    for job in pass.snapshot.jobs.iter().filter(|job| gone.contains(&job.target)) {
        if job.kind == JobKind::Deploy && ended_as(job).is_none() && !in_hand(job) {
            plan.steps.push(Step::CancelJob(job.id, "its resource or environment is gone".to_owned()));
        }
    }
}

/// Why a job that nobody has taken may not start now. Nothing of it was begun, so it is withdrawn and not cancelled:
/// when the reason goes, the same attempt is made again.
fn may_not_start(pass: &Pass, target: &Target, job: &Job) -> Option<String> {
    if !target.attached {
        return Some("the selectors no longer match".to_owned());
    }
    let brings = pass.version_index(job.version);
    let version = brings.map(|index| &pass.snapshot.versions[index]);
    if let Some(version) = version.filter(|version| version.status != VersionStatus::Ready) {
        return Some(format!("{} is {} now", version.tag, version.status.name()));
    }
    if let Some(hold) = target.hold.as_ref().filter(|hold| hold.version != job.version && !hold_ends(pass, target)) {
        let on = pass
            .version_index(hold.version)
            .map_or("another version", |index| pass.snapshot.versions[index].tag.as_str());
        return Some(format!("a rollback holds the target on {on}"));
    }
    // A sequence rule has the say over what a newer version displaces.
    let displaced = target.chosen().is_some_and(|chosen| brings.is_none_or(|brings| brings >= chosen));
    (!displaced).then(|| "a rule no longer lets the version go; it starts again when every rule does".to_owned())
}

fn make_jobs(pass: &mut Pass, plan: &mut Plan) {
    let Some(agent) = pass.snapshot.job_agent.clone() else { return };
    for index in 0..pass.targets.len() {
        let Next::Start { attempt } = pass.targets[index].next else { continue };
        let id = JobId(pass.ids.next(pass.now));
        let target = &pass.targets[index];
        let Some(chosen) = target.chosen() else { continue };
        let Some(release) = pass.release_id(target.target.key, chosen) else { continue };
        let version = &pass.snapshot.versions[chosen];
        let deployment = &pass.snapshot.deployment;
        let about_job = json!({
            "id": id.to_string(),
            "kind": JobKind::Deploy.name(),
            "attempt": attempt,
        });
        plan.steps.push(Step::CreateJob(Job {
            id,
            workspace: pass.snapshot.workspace,
            release,
            target: target.target.key,
            version: version.id,
            kind: JobKind::Deploy,
            agent: agent.id,
            attempt,
            available_at: pass.now,
            priority: 0,
            lease_seconds: agent.lease_seconds,
            deadline_seconds: deployment.job_deadline_seconds,
            config: merged_config(&agent, deployment, version),
            context: dispatch_context(&target.target, version, release, &json!({}), about_job),
            external_id: None,
            links: model::Labels::new(),
            message: String::new(),
            created_at: pass.now,
            updated_at: pass.now,
            state: match agent.agent_type {
                // A pull agent may claim it as soon as it is there.
                AgentType::Pull | AgentType::Simulated => JobState::Queued { offers: 0 },
            },
            intent: job_intent(pass, target, chosen),
            verified: None,
        }));
        let data = json!({"version": version.tag, "attempt": attempt, "target": target.target.path()});
        let mut event = about(target, EventKind::JobCreated, data);
        event.subject.release = Some(release);
        event.subject.version = Some(version.id);
        event.subject.job = Some(id);
        plan.events.push(event);
    }
}

/// A redeploy's and a rollback's first job begins a new series; what follows it are retries.
fn job_intent(pass: &Pass, target: &Target, chosen: usize) -> Intent {
    match target.intent {
        Intent::Redeploy => Intent::Redeploy,
        Intent::Rollback if !pass.served(target, chosen) => Intent::Rollback,
        Intent::Rollback | Intent::Automatic | Intent::Retry => {
            match attempts(&pass.snapshot.jobs, &target.jobs, pass.snapshot.versions[chosen].id, &pass.verdicts)
                .is_empty()
            {
                true => Intent::Automatic,
                false => Intent::Retry,
            }
        }
    }
}

fn about(target: &Target, kind: EventKind, data: model::Json) -> NewEvent {
    NewEvent { kind, actor: Actor::System, subject: Subject::target(target.target.key), data }
}
