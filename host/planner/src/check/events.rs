//! Events: every step that people must hear of has exactly one, about the right things, and nothing else has.

use std::collections::HashMap;

use model::{
    event::{Actor, EventKind, Subject},
    id::{ReleaseId, Uuid},
    plan::Step,
    release::Closed,
    verification::Verified,
};

use super::{Broken, look::Look};

/// A subject as something that can be counted.
type Key = (EventKind, [Option<Uuid>; 8]);

pub fn check(look: &Look<'_>, broken: &mut Broken) {
    let mut balance: HashMap<Key, i64> = HashMap::new();
    for step in &look.plan.steps {
        if let Some((kind, subject)) = due(look, step) {
            *balance.entry(key(kind, &subject)).or_default() += 1;
        }
    }
    for event in &look.plan.events {
        *balance.entry(key(event.kind, &event.subject)).or_default() -= 1;
        broken.unless(event.actor == Actor::System, || format!("{}: a plan speaks for another", event.kind.name()));
    }
    for ((kind, subject), count) in balance {
        let about = || subject.iter().flatten().map(Uuid::to_string).collect::<Vec<_>>().join(" ");
        broken.unless(count <= 0, || format!("a step has no {} event about {}", kind.name(), about()));
        broken.unless(count >= 0, || format!("a {} event about {} has no step", kind.name(), about()));
    }
}

/// The event of a step. What calling off a job comes to is known only when it is done; whoever does it says so.
fn due(look: &Look<'_>, step: &Step) -> Option<(EventKind, Subject)> {
    let about = |key, release: Option<ReleaseId>| Subject {
        release,
        version: release.and_then(|release| look.version(release)).map(|version| version.id),
        ..Subject::target(key)
    };
    let due = match step {
        Step::AttachTarget(key) => (EventKind::TargetAttached, Subject::target(*key)),
        Step::DetachTarget(key) => (EventKind::TargetDetached, Subject::target(*key)),
        Step::CreateRelease(release) => (EventKind::ReleaseCreated, about(release.target, Some(release.id))),
        Step::CloseRelease(id, Closed::Superseded) => {
            (EventKind::ReleaseSuperseded, about(look.releases.get(id)?.target, Some(*id)))
        }
        Step::SetDesired(key, release) => (EventKind::ReleaseDesired, about(*key, *release)),
        Step::SetCurrent(key, release) => (EventKind::ReleaseCurrent, about(*key, Some(*release))),
        Step::RecordDecision(decision) => (
            EventKind::DecisionChanged,
            Subject {
                deployment: Some(decision.scope.deployment),
                environment: decision.scope.environment,
                resource: decision.scope.resource,
                version: Some(decision.version),
                policy: Some(decision.policy),
                ..Subject::default()
            },
        ),
        Step::CreateJob(job) => {
            (EventKind::JobCreated, Subject { job: Some(job.id), ..about(job.target, Some(job.release)) })
        }
        Step::SettleVerification(id, Verified::Passed, _) => {
            (EventKind::VerificationPassed, look.jobs.get(id)?.subject())
        }
        Step::SettleVerification(id, Verified::Failed, _) => {
            (EventKind::VerificationFailed, look.jobs.get(id)?.subject())
        }
        Step::Hold(hold) => {
            let kind = if hold.failed_at.is_some() { EventKind::RollbackFailed } else { EventKind::TargetHeld };
            (kind, about(hold.target, Some(hold.release)))
        }
        Step::EndHold(key) => {
            let hold = look.snapshot.holds.iter().find(|hold| hold.target == *key)?;
            (EventKind::TargetResumed, about(*key, Some(hold.release)))
        }
        Step::FinishRedeploy(key) => {
            let redeploy = look.redeploys.get(key)?;
            let served = |job: &model::job::Job| job.version == redeploy.version;
            if look.creating.get(key).is_some_and(|job| served(job)) || look.unfinished(*key).is_some_and(served) {
                return None;
            }
            (EventKind::RedeployOvertaken, about(*key, Some(redeploy.release)))
        }
        Step::SettleVerification(_, Verified::NotAsked | Verified::Abandoned, _)
        | Step::Measure(_)
        | Step::PlaceInRollout(..)
        | Step::CloseRelease(_, Closed::Replaced | Closed::Cancelled | Closed::RolledBack)
        | Step::CancelJob(..)
        | Step::WithdrawJob(..) => return None,
    };
    Some(due)
}

fn key(kind: EventKind, subject: &Subject) -> Key {
    let Subject { system, deployment, environment, resource, version, release, job, policy } = *subject;
    let ids = [
        system.map(|id| id.0),
        deployment.map(|id| id.0),
        environment.map(|id| id.0),
        resource.map(|id| id.0),
        version.map(|id| id.0),
        release.map(|id| id.0),
        job.map(|id| id.0),
        policy.map(|id| id.0),
    ];
    (kind, ids)
}
