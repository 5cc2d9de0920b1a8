//! Jobs: who may start, and what may be called off.

use std::collections::HashSet;

use model::{
    job::{Job, JobKind},
    job_state::{FinalStatus, JobState},
    plan::Step,
    question::Intent,
    verification::Verified,
    version::VersionStatus,
};

use super::{
    Broken,
    look::{Look, ended, in_hand},
};

pub fn check(look: &Look<'_>, broken: &mut Broken) {
    let (mut busy, mut named) = (HashSet::new(), HashSet::new());
    for step in &look.plan.steps {
        match step {
            Step::CreateJob(job) => {
                broken.unless(busy.insert(job.target), || format!("{}: two jobs start", look.name(job.target)));
                start(look, job, broken);
                attempt(look, job, broken);
            }
            Step::CancelJob(id, reason) | Step::WithdrawJob(id, reason) => {
                broken.unless(named.insert(*id), || format!("job {id} is called off twice"));
                broken.unless(!reason.trim().is_empty(), || format!("job {id} is called off for no reason"));
                match look.jobs.get(id) {
                    Some(job) => call_off(look, job, matches!(step, Step::WithdrawJob(..)), broken),
                    None => broken.unless(false, || format!("job {id} is called off and was not read")),
                }
            }
            Step::AttachTarget(_)
            | Step::DetachTarget(_)
            | Step::CreateRelease(_)
            | Step::CloseRelease(..)
            | Step::SetDesired(..)
            | Step::SetCurrent(..)
            | Step::RecordDecision(_)
            | Step::SettleVerification(..)
            | Step::Measure(_)
            | Step::PlaceInRollout(..)
            | Step::Hold(_)
            | Step::EndHold(_)
            | Step::FinishRedeploy(_) => {}
        }
    }
    queued(look, broken);
}

fn start(look: &Look<'_>, job: &Job, broken: &mut Broken) {
    let name = || look.name(job.target);
    broken.unless(!look.jobs.contains_key(&job.id), || format!("{}: job {} was there before", name(), job.id));
    // Called off by this very plan is not ended: an agent may take it first.
    broken.unless(look.unfinished(job.target).is_none(), || format!("{}: a job starts beside another", name()));
    let release = look.releases.get(&job.release);
    let fits = release.is_some_and(|release| release.target == job.target && release.version == job.version);
    broken.unless(fits, || format!("{}: a job carries out a release that is not its own", name()));
    let held = look.holds.get(&job.target).is_some_and(|hold| hold.release == job.release);
    let redeployed = look.redeploys.get(&job.target).is_some_and(|redeploy| redeploy.release == job.release);
    broken.unless(held || !look.closed(job.release), || format!("{}: a job carries out a closed release", name()));
    let kept_away = look.holds.get(&job.target).is_some_and(|hold| hold.release != job.release) && !redeployed;
    broken.unless(!kept_away, || format!("{}: a job brings something else than it is held on", name()));
    match job.intent {
        Intent::Automatic | Intent::Retry => {}
        Intent::Redeploy => broken.unless(redeployed, || format!("{}: nobody asked for this redeploy", name())),
        Intent::Rollback => broken.unless(held, || format!("{}: it is rolled back and not held", name())),
    }
    let desired = look.after.get(&job.target).and_then(|state| state.desired);
    broken.unless(desired == Some(job.release), || format!("{}: a job brings what it should not run", name()));
    let current = look.after.get(&job.target).and_then(|state| state.current);
    let again = held || job.intent != Intent::Automatic;
    broken.unless(again || current != Some(job.release), || format!("{}: a job brings what it runs", name()));
    let ready = held || look.versions.get(&job.version).is_some_and(|version| version.status == VersionStatus::Ready);
    broken.unless(ready, || format!("{}: a job brings a version that is not ready", name()));
    let agent = look.snapshot.job_agent.as_ref();
    let agreed = agent.is_some_and(|agent| agent.id == job.agent && agent.lease_seconds == job.lease_seconds);
    broken.unless(agreed, || format!("{}: a job of another agent", name()));
    let fresh = matches!(job.state, JobState::Pending | JobState::Queued { offers: 0 });
    broken.unless(fresh && job.kind == JobKind::Deploy, || format!("{}: a job does not start afresh", name()));
    broken.unless(job.created_at == look.now && job.available_at >= look.now, || {
        format!("{}: a job starts at another time than now", name())
    });
}

/// Attempts rise by one; after one that ended without success, only a rule grants another.
fn attempt(look: &Look<'_>, job: &Job, broken: &mut Broken) {
    let name = || look.name(job.target);
    let deploys = look.deploys.get(&job.target).into_iter().flatten();
    let made: Vec<&Job> = deploys.copied().filter(|made| made.version == job.version).collect();
    let last = made.iter().map(|job| job.attempt).max().unwrap_or(0);
    broken.unless(job.attempt == last + 1, || format!("{}: attempt {} follows {last}", name(), job.attempt));
    if matches!(job.intent, Intent::Redeploy | Intent::Rollback) {
        return;
    }
    let Some(before) = made.last().and_then(|last| ended(last)) else { return };
    match before {
        FinalStatus::Cancelled => broken.unless(false, || format!("{}: a cancelled job is tried again", name())),
        FinalStatus::Completed => {
            let failed = made.last().is_some_and(|last| look.verified.get(&last.id) == Some(&Verified::Failed));
            broken.unless(!failed, || format!("{}: what is not healthy is tried again", name()));
        }
        FinalStatus::Skipped => {}
        FinalStatus::Failed
        | FinalStatus::InvalidJobAgent
        | FinalStatus::InvalidIntegration
        | FinalStatus::ExternalRunNotFound => {
            let grants = look.snapshot.policies.iter().filter(|policy| policy.enabled).any(|policy| {
                policy.rules.iter().any(|rule| {
                    let plugin = rule.plugin.resolve(look.snapshot.plugins.iter().map(AsRef::as_ref));
                    plugin.is_some_and(|plugin| plugin.manifest.hooks.retry)
                })
            });
            broken.unless(grants, || format!("{}: tried again, and there is no rule that grants it", name()));
        }
    }
}

fn call_off(look: &Look<'_>, job: &Job, withdrawn: bool, broken: &mut Broken) {
    let name = || look.name(job.target);
    broken.unless(ended(job).is_none(), || format!("{}: a job is called off that has ended", name()));
    broken.unless(!(withdrawn && in_hand(job)), || format!("{}: a job is withdrawn that somebody has", name()));
    let asked = matches!(job.state, JobState::Running { cancel_requested_at: Some(_), .. });
    broken.unless(!asked, || format!("{}: a job is asked to stop again", name()));
    let leaving = !look.attached(job.target) && in_hand(job);
    broken.unless(!leaving, || format!("{}: it left, and its running job is not let end", name()));
}

/// A job that nobody has taken and that stays must be free to go.
fn queued(look: &Look<'_>, broken: &mut Broken) {
    for (key, state) in look.after.iter().filter(|(_, state)| state.attached) {
        let Some(job) = look.unfinished(*key).filter(|job| !in_hand(job)) else { continue };
        if look.called_off.contains(&job.id) {
            continue;
        }
        let name = || look.name(state.key);
        let ready = look.versions.get(&job.version).is_some_and(|version| version.status == VersionStatus::Ready);
        let held = look.holds.get(key).is_some_and(|hold| hold.release == job.release);
        broken
            .unless(held || ready, || format!("{}: the job of a version that is not ready stays in the queue", name()));
        let candidates = look.lines.get(key).into_iter().flat_map(|line| &line.candidates);
        for candidate in candidates.filter(|candidate| candidate.version.id == job.version) {
            broken.unless(super::gates::is_free(candidate), || {
                format!("{}: a rule or a freeze holds a job that stays in the queue", name())
            });
        }
    }
}
