//! Applies a plan: a constant number of statements, whatever the number of steps, and only what it says.
//!
//! A step that finds its change made already changes nothing, and the event that tells of it is not written again:
//! a plan that is applied twice is harmless.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    event::{Actor, EventKind, NewEvent, Subject},
    hold::Hold,
    id::{DecisionId, JobId, ReleaseId, WorkspaceId},
    job::Job,
    job_state::{FinalStatus, IllegalTransition, JobState, JobStatus},
    plan::{Plan, Step},
    release::{Closed, Release, RolloutPlace},
    release_target::TargetKey,
    verification::{Measurement, Verified},
};
use serde_json::json;

use crate::{
    StoreError, Tx, claim, decision, event, hold, job, measurement,
    planning::{self, Mark},
    redeploy, release, release_target,
};

/// Applies a plan in the caller's transaction.
pub async fn apply(tx: &mut Tx, workspace: WorkspaceId, plan: &Plan) -> Result<(), StoreError> {
    let steps = Steps::of(plan);
    // First, since jobs are locked before targets everywhere; and a release has one unfinished job at a time.
    let called_off = call_off(tx, workspace, &steps.called_off).await?;
    let settled = job::settle_all(tx, &steps.settled).await?;
    measurement::unwant_all(tx, &settled).await?;
    measurement::insert_all(tx, &steps.wanted).await?;
    let attached = release_target::attach_all(tx, workspace, &steps.attached).await?;
    let releases = release::insert_all(tx, &steps.releases).await?;
    release::place_all(tx, &steps.placed).await?;
    let jobs = job::insert_all(tx, &steps.jobs).await?;
    let mut closed = BTreeSet::new();
    for (reason, releases) in &steps.closed {
        closed.extend(release::close_all(tx, releases, reason.0).await?);
    }
    let changed = Changed {
        attached: set(attached),
        releases: set(releases),
        closed,
        desired: set(release_target::set_desired_all(tx, workspace, &steps.desired).await?),
        current: set(release_target::set_current_all(tx, workspace, &steps.current).await?),
        decisions: set(decision::record_all(tx, &steps.decisions).await?),
        jobs: set(jobs),
        settled: set(settled),
        held: set(hold::put_all(tx, &steps.held).await?),
        resumed: set(hold::end_all(tx, &steps.resumed).await?),
        redeploys_finished: set(redeploy::finish_all(tx, &steps.redeploys_finished).await?),
    };

    let mut events: Vec<NewEvent> = plan.events.iter().filter(|event| changed.tells_of(event)).cloned().collect();
    events.extend(called_off.iter().map(|(job, why)| called_off_event(job, why, Actor::System)));
    event::append_all(tx, workspace, &events).await?;
    // What other deployments wait for may be there now. Before rows of this deployment are marked, so that rows are
    // locked in one order.
    let now_current: BTreeSet<_> = changed.current.iter().map(|target| target.deployment).collect();
    for deployment in now_current {
        planning::mark_dependents(tx, workspace, deployment).await?;
    }
    // A job that is called off frees its target: what takes its place is planned next.
    let deployments: BTreeSet<_> = called_off.iter().map(|(job, _)| job.target.deployment).collect();
    for deployment in deployments {
        planning::mark(tx, deployment, Mark::Progress).await?;
    }
    Ok(())
}

/// Calls jobs off for whoever asks: what nobody works on ends, what runs is asked. Gives those that changed; the
/// planning that must follow is the caller's to mark.
pub async fn call_jobs_off(
    tx: &mut Tx,
    workspace: WorkspaceId,
    jobs: &[JobId],
    actor: &Actor,
    why: &str,
) -> Result<Vec<Job>, StoreError> {
    let called_off = jobs.iter().map(|job| (*job, CallOff::Cancel(why))).collect();
    let changed = call_off(tx, workspace, &called_off).await?;
    let events: Vec<NewEvent> = changed.iter().map(|(job, why)| called_off_event(job, why, actor.clone())).collect();
    event::append_all(tx, workspace, &events).await?;
    Ok(changed.into_iter().map(|(job, _)| job).collect())
}

/// A plan's steps by kind. Where two steps are about the same thing, the later one stands.
#[derive(Default)]
struct Steps<'a> {
    attached: Vec<(TargetKey, bool)>,
    releases: Vec<&'a Release>,
    closed: BTreeMap<ByName, Vec<ReleaseId>>,
    desired: Vec<(TargetKey, Option<ReleaseId>)>,
    current: Vec<(TargetKey, ReleaseId)>,
    decisions: Vec<&'a model::decision::Decision>,
    jobs: Vec<Job>,
    called_off: BTreeMap<JobId, CallOff<'a>>,
    settled: Vec<(JobId, (Verified, &'a str))>,
    wanted: Vec<&'a Measurement>,
    placed: Vec<(ReleaseId, RolloutPlace)>,
    held: Vec<&'a Hold>,
    resumed: Vec<TargetKey>,
    redeploys_finished: Vec<TargetKey>,
}

/// Why a job is called off.
#[derive(Clone, Copy)]
enum CallOff<'a> {
    Cancel(&'a str),
    Withdraw(&'a str),
}

impl<'a> Steps<'a> {
    fn of(plan: &'a Plan) -> Self {
        let mut steps = Self::default();
        let mut attached = BTreeMap::new();
        let mut desired = BTreeMap::new();
        let mut current = BTreeMap::new();
        let mut decisions = BTreeMap::new();
        let mut settled = BTreeMap::new();
        let mut placed = BTreeMap::new();
        let mut holds: BTreeMap<TargetKey, Option<&Hold>> = BTreeMap::new();
        let mut redeploys = BTreeSet::new();
        for step in &plan.steps {
            match step {
                Step::AttachTarget(key) => {
                    attached.insert(*key, true);
                }
                Step::DetachTarget(key) => {
                    attached.insert(*key, false);
                }
                Step::CreateRelease(release) => steps.releases.push(release),
                Step::CloseRelease(release, closed) => {
                    steps.closed.entry(ByName(*closed)).or_default().push(*release);
                }
                Step::SetDesired(key, release) => {
                    desired.insert(*key, *release);
                }
                Step::SetCurrent(key, release) => {
                    current.insert(*key, *release);
                }
                Step::RecordDecision(decision) => {
                    decisions.insert((decision.rule, decision.version, decision.scope), decision);
                }
                Step::CreateJob(job) => steps.jobs.push(job.clone()),
                Step::CancelJob(id, why) => {
                    steps.called_off.insert(*id, CallOff::Cancel(why));
                }
                Step::WithdrawJob(id, why) => {
                    steps.called_off.insert(*id, CallOff::Withdraw(why));
                }
                Step::SettleVerification(job, verified, seen) => {
                    settled.insert(*job, (*verified, seen.as_str()));
                }
                Step::Measure(measurement) => steps.wanted.push(measurement),
                Step::PlaceInRollout(release, place) => {
                    placed.insert(*release, *place);
                }
                Step::Hold(hold) => {
                    holds.insert(hold.target, Some(hold));
                }
                Step::EndHold(key) => {
                    holds.insert(*key, None);
                }
                Step::FinishRedeploy(key) => {
                    redeploys.insert(*key);
                }
            }
        }
        steps.attached = attached.into_iter().collect();
        steps.desired = desired.into_iter().collect();
        steps.current = current.into_iter().collect();
        steps.decisions = decisions.into_values().collect();
        steps.settled = settled.into_iter().collect();
        steps.placed = placed.into_iter().collect();
        for (key, hold) in holds {
            match hold {
                Some(hold) => steps.held.push(hold),
                None => steps.resumed.push(key),
            }
        }
        steps.redeploys_finished = redeploys.into_iter().collect();
        steps
    }
}

/// Orders reasons, so that releases are always closed in the same order.
struct ByName(Closed);

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for ByName {}

impl PartialOrd for ByName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.name().cmp(other.0.name())
    }
}

/// What really changed.
struct Changed {
    attached: BTreeSet<TargetKey>,
    releases: BTreeSet<ReleaseId>,
    closed: BTreeSet<ReleaseId>,
    desired: BTreeSet<TargetKey>,
    current: BTreeSet<TargetKey>,
    decisions: BTreeSet<DecisionId>,
    jobs: BTreeSet<JobId>,
    settled: BTreeSet<JobId>,
    held: BTreeSet<TargetKey>,
    resumed: BTreeSet<TargetKey>,
    redeploys_finished: BTreeSet<TargetKey>,
}

impl Changed {
    /// Whether an event tells of something that happened here, or of something that no step makes.
    fn tells_of(&self, event: &NewEvent) -> bool {
        let Subject { deployment, environment, resource, release, job, .. } = event.subject;
        let target = match (deployment, environment, resource) {
            (Some(deployment), Some(environment), Some(resource)) => {
                Some(TargetKey { deployment, environment, resource })
            }
            _ => None,
        };
        let target_in = |set: &BTreeSet<TargetKey>| target.is_none_or(|key| set.contains(&key));
        let release_in = |set: &BTreeSet<ReleaseId>| release.is_none_or(|id| set.contains(&id));
        #[expect(clippy::wildcard_enum_match_arm, reason = "of all kinds, these are what steps make")]
        match event.kind {
            EventKind::TargetAttached | EventKind::TargetDetached => target_in(&self.attached),
            EventKind::ReleaseCreated => release_in(&self.releases),
            EventKind::ReleaseSuperseded => release_in(&self.closed),
            EventKind::ReleaseDesired => target_in(&self.desired),
            EventKind::ReleaseCurrent => target_in(&self.current),
            EventKind::DecisionChanged => !self.decisions.is_empty(),
            EventKind::JobCreated => job.is_none_or(|id| self.jobs.contains(&id)),
            EventKind::VerificationPassed | EventKind::VerificationFailed => {
                job.is_none_or(|id| self.settled.contains(&id))
            }
            EventKind::TargetHeld | EventKind::RollbackFailed => target_in(&self.held),
            EventKind::TargetResumed => target_in(&self.resumed),
            EventKind::RedeployOvertaken => target_in(&self.redeploys_finished),
            _ => true,
        }
    }
}

fn set<T: Ord>(values: Vec<T>) -> BTreeSet<T> {
    values.into_iter().collect()
}

/// Cancels and withdraws jobs as they stand now; gives those that changed, and why.
async fn call_off<'a>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    called_off: &BTreeMap<JobId, CallOff<'a>>,
) -> Result<Vec<(Job, &'a str)>, StoreError> {
    let ids: Vec<JobId> = called_off.keys().copied().collect();
    let now = tx.now();
    let mut changed = Vec::new();
    for mut job in claim::lock_all(tx, workspace, &ids).await? {
        let Some(call_off) = called_off.get(&job.id) else { continue };
        let (next, why) = match call_off {
            CallOff::Cancel(why) => (job.state.cancel(now), *why),
            CallOff::Withdraw(why) => (withdraw(&job.state, now), *why),
        };
        // The job moved on since the snapshot was read: what it has become stands, and the next pass sees it.
        let Ok(next) = next else { continue };
        if next != job.state {
            job.state = next;
            job.message = why.to_owned();
            job.updated_at = now;
            changed.push((job, why));
        }
    }
    let jobs: Vec<&Job> = changed.iter().map(|(job, _)| job).collect();
    job::save_all(tx, &jobs).await?;
    Ok(changed)
}

/// Only what no agent has been handed can be withdrawn.
fn withdraw(state: &JobState, now: model::time::Timestamp) -> Result<JobState, IllegalTransition> {
    match state {
        JobState::Pending | JobState::Queued { .. } => state.end(FinalStatus::Skipped, now),
        JobState::Offered { .. } | JobState::Triggered { .. } | JobState::Running { .. } | JobState::Ended { .. } => {
            Err(IllegalTransition { from: state.status(), to: JobStatus::Skipped })
        }
    }
}

fn called_off_event(job: &Job, why: &str, actor: Actor) -> NewEvent {
    let kind = match job.state {
        JobState::Ended { .. } => EventKind::JobEnded,
        JobState::Pending
        | JobState::Queued { .. }
        | JobState::Offered { .. }
        | JobState::Triggered { .. }
        | JobState::Running { .. } => EventKind::JobCancelRequested,
    };
    NewEvent {
        kind,
        actor,
        subject: job.subject(),
        data: json!({ "status": job.state.status().name(), "attempt": job.attempt, "message": why }),
    }
}
