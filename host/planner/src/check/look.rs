//! What was read and what would be after the plan, side by side.

use std::collections::{HashMap, HashSet};

use model::{
    hold::Hold,
    id::{JobId, ReleaseId, VersionId},
    job::{Job, JobKind},
    job_state::{FinalStatus, JobState},
    plan::{Plan, Step},
    policy::Order,
    redeploy::Redeploy,
    release::{Closed, Release},
    release_target::{TargetKey, TargetState},
    report::{Report, TargetReport},
    snapshot::Snapshot,
    time::Timestamp,
    verification::Verified,
    version::Version,
};

use crate::Outcome;

/// Both sides of a plan.
pub struct Look<'a> {
    pub snapshot: &'a Snapshot,
    pub plan: &'a Plan,
    pub report: &'a Report,
    pub now: Timestamp,
    pub versions: HashMap<VersionId, &'a Version>,
    /// Those that were read and those that the plan makes.
    pub releases: HashMap<ReleaseId, &'a Release>,
    /// Versions whose release on the target was read as closed.
    pub closed_before: HashSet<(TargetKey, VersionId)>,
    pub closing: HashMap<ReleaseId, Closed>,
    pub jobs: HashMap<JobId, &'a Job>,
    /// Deploy jobs that were read, as they were made; without those that were withdrawn.
    pub deploys: HashMap<TargetKey, Vec<&'a Job>>,
    /// The jobs that the plan makes.
    pub creating: HashMap<TargetKey, &'a Job>,
    pub called_off: HashSet<JobId>,
    pub before: HashMap<TargetKey, TargetState>,
    pub after: HashMap<TargetKey, TargetState>,
    pub lines: HashMap<TargetKey, &'a TargetReport>,
    /// What became of jobs' verification, before or by the plan.
    pub verified: HashMap<JobId, Verified>,
    /// Targets that a rollback holds after the plan.
    pub holds: HashMap<TargetKey, &'a Hold>,
    /// Targets where a person wants something started again, before the plan.
    pub redeploys: HashMap<TargetKey, &'a Redeploy>,
}

impl<'a> Look<'a> {
    pub fn new(snapshot: &'a Snapshot, outcome: &'a Outcome) -> Self {
        let mut look = Self {
            snapshot,
            plan: &outcome.plan,
            report: &outcome.report,
            now: outcome.now,
            versions: snapshot.versions.iter().map(|version| (version.id, version.as_ref())).collect(),
            releases: snapshot.releases.iter().map(|release| (release.id, release)).collect(),
            closed_before: HashSet::new(),
            closing: HashMap::new(),
            jobs: snapshot.jobs.iter().map(|job| (job.id, job)).collect(),
            deploys: HashMap::new(),
            creating: HashMap::new(),
            called_off: HashSet::new(),
            before: snapshot.targets.iter().map(|state| (state.key, *state)).collect(),
            after: snapshot.targets.iter().map(|state| (state.key, *state)).collect(),
            lines: outcome.report.targets.iter().map(|line| (line.target.key, line)).collect(),
            verified: snapshot.jobs.iter().filter_map(|job| Some((job.id, job.verified?))).collect(),
            holds: snapshot.holds.iter().map(|hold| (hold.target, hold)).collect(),
            redeploys: snapshot.redeploys.iter().map(|redeploy| (redeploy.target, redeploy)).collect(),
        };
        for job in snapshot.jobs.iter().filter(|job| job.kind == JobKind::Deploy) {
            if ended(job) != Some(FinalStatus::Skipped) {
                look.deploys.entry(job.target).or_default().push(job);
            }
        }
        let closed = snapshot.releases.iter().filter(|release| release.closed.is_some());
        look.closed_before.extend(closed.map(|release| (release.target, release.version)));
        outcome.plan.steps.iter().for_each(|step| look.follow(step));
        look
    }

    /// What the step makes of the state.
    fn follow(&mut self, step: &'a Step) {
        match step {
            Step::AttachTarget(key) => self.state(*key).attached = true,
            Step::DetachTarget(key) => self.state(*key).attached = false,
            Step::CreateRelease(release) => {
                self.releases.insert(release.id, release);
            }
            Step::CloseRelease(id, why) => {
                self.closing.insert(*id, *why);
            }
            Step::SetDesired(key, release) => self.state(*key).desired = *release,
            Step::SetCurrent(key, release) => self.state(*key).current = Some(*release),
            Step::SettleVerification(id, verified, _) => {
                self.verified.insert(*id, *verified);
            }
            Step::Hold(hold) => {
                self.holds.insert(hold.target, hold);
            }
            Step::EndHold(key) => {
                self.holds.remove(key);
            }
            Step::RecordDecision(_) | Step::Measure(_) | Step::PlaceInRollout(..) | Step::FinishRedeploy(_) => {}
            Step::CreateJob(job) => {
                self.creating.insert(job.target, job);
            }
            Step::CancelJob(id, _) | Step::WithdrawJob(id, _) => {
                self.called_off.insert(*id);
            }
        }
    }

    fn state(&mut self, key: TargetKey) -> &mut TargetState {
        self.after.entry(key).or_insert(TargetState { key, attached: false, desired: None, current: None })
    }

    /// How people call the target.
    pub fn name(&self, key: TargetKey) -> String {
        self.lines.get(&key).map_or_else(|| key.to_string(), |line| line.target.path())
    }

    /// The version of a release.
    pub fn version(&self, release: ReleaseId) -> Option<&'a Version> {
        self.releases.get(&release).and_then(|release| self.versions.get(&release.version).copied())
    }

    /// Whether the target will be attached.
    pub fn attached(&self, key: TargetKey) -> bool {
        self.after.get(&key).is_some_and(|state| state.attached)
    }

    /// The target's deploy job that was read and has not ended.
    pub fn unfinished(&self, key: TargetKey) -> Option<&'a Job> {
        self.deploys.get(&key).and_then(|jobs| jobs.iter().copied().find(|job| ended(job).is_none()))
    }

    /// Whether the job ended with a success that stands.
    pub fn is_good(&self, job: &Job) -> bool {
        let good = self.verified.get(&job.id).copied().is_some_and(Verified::is_good);
        good && ended(job) == Some(FinalStatus::Completed)
    }

    /// Whether a person or a rollback has a say in what the target should run.
    pub fn is_steered(&self, key: TargetKey) -> bool {
        self.holds.contains_key(&key) || self.redeploys.contains_key(&key)
    }

    /// Whether the target takes its versions one after the other.
    pub fn is_queue(&self) -> bool {
        let rules = self.snapshot.policies.iter().flat_map(|policy| &policy.rules);
        rules.into_iter().any(|rule| rule.order == Order::Queue)
    }

    /// Whether a release was closed before the plan or is by it.
    pub fn closed(&self, release: ReleaseId) -> bool {
        self.closing.contains_key(&release)
            || self.releases.get(&release).is_some_and(|release| release.closed.is_some())
    }
}

/// How the job ended, if it did.
pub fn ended(job: &Job) -> Option<FinalStatus> {
    job.state.status().as_final()
}

/// Whether somebody works on the job, or was handed it.
pub fn in_hand(job: &Job) -> bool {
    job.state.lease().is_some() || matches!(job.state, JobState::Triggered { .. })
}

/// Whether one version is younger than the other: by the earlier of its two instants, then by id.
pub fn younger(one: &Version, other: &Version) -> bool {
    let age = |version: &Version| (version.created_at.min(version.received_at), version.id);
    age(one) > age(other)
}
