//! Releases and states: what is made and closed, what a target should run and what it runs.

use std::collections::{HashMap, HashSet};

use model::{
    hold::HeldBy,
    id::{JobId, ReleaseId, VersionId},
    job::Job,
    job_state::{FinalStatus, JobState},
    plan::Step,
    release::{Closed, Release},
    release_target::{TargetKey, TargetState},
    verification::Verified,
    version::{Version, VersionStatus},
};

use super::{
    Broken,
    look::{Look, ended, in_hand, younger},
};

pub fn check(look: &Look<'_>, broken: &mut Broken) {
    let mut pairs: HashMap<(TargetKey, VersionId), ReleaseId> =
        look.snapshot.releases.iter().map(|release| ((release.target, release.version), release.id)).collect();
    let read: HashSet<ReleaseId> = look.snapshot.releases.iter().map(|release| release.id).collect();
    let mut closed = HashSet::new();
    for step in &look.plan.steps {
        match step {
            Step::CreateRelease(release) => {
                broken.unless(!read.contains(&release.id), || format!("release {} was there before", release.id));
                let first = pairs.insert((release.target, release.version), release.id).is_none();
                broken.unless(first, || format!("{}: a second release of one version", look.name(release.target)));
                made(look, release, broken);
            }
            Step::CloseRelease(id, why) => {
                broken.unless(closed.insert(*id), || format!("release {id} is closed twice"));
                close(look, *id, *why, broken);
            }
            Step::SetDesired(key, release) => desire(look, *key, *release, broken),
            Step::SetCurrent(key, release) => {
                let same = look.before.get(key).is_some_and(|state| state.current == Some(*release));
                broken.unless(!same, || format!("{}: made current, but it was before", look.name(*key)));
                broken.unless(Some(*release) == last_success(look, *key), || {
                    format!("{}: made current, but it is not what completed last", look.name(*key))
                });
            }
            Step::AttachTarget(_)
            | Step::DetachTarget(_)
            | Step::RecordDecision(_)
            | Step::CreateJob(_)
            | Step::CancelJob(..)
            | Step::WithdrawJob(..)
            | Step::FinishRedeploy(_) => {}
            Step::SettleVerification(id, verified, _) => settled(look, *id, *verified, broken),
            Step::Measure(measurement) => {
                let open = look.jobs.get(&measurement.job).is_some_and(|job| job.verified.is_none());
                broken.unless(open, || format!("job {} is measured and settled", measurement.job));
            }
            Step::PlaceInRollout(id, place) => {
                let known = look.releases.get(id);
                broken.unless(known.is_some(), || format!("release {id} has a place and was not read"));
                broken.unless(place.index < place.total, || format!("release {id} has a place outside its rollout"));
                let before = known.and_then(|release| release.rollout);
                let kept = before.is_none_or(|before| {
                    (before.index, before.total) == (place.index, place.total)
                        && before.started_at.is_none_or(|at| Some(at) == place.started_at)
                });
                broken.unless(kept, || format!("release {id} is given another place"));
            }
            Step::Hold(hold) => {
                let its = look.releases.get(&hold.release);
                let its = its.is_some_and(|of| of.target == hold.target && of.version == hold.version);
                broken.unless(its, || format!("{}: held on a release that is not its own", look.name(hold.target)));
            }
            Step::EndHold(key) => {
                let held = look.snapshot.holds.iter().any(|hold| hold.target == *key);
                broken.unless(held, || format!("{}: no longer held, and it was not", look.name(*key)));
            }
        }
    }
    for state in look.after.values() {
        after(look, state, broken);
    }
}

/// What a job's verification came to is decided once, after it ended.
fn settled(look: &Look<'_>, id: JobId, verified: Verified, broken: &mut Broken) {
    let Some(job) = look.jobs.get(&id) else {
        return broken.unless(false, || format!("job {id} is verified and was not read"));
    };
    broken.unless(job.verified.is_none(), || format!("job {id} is verified twice"));
    broken.unless(ended(job).is_some(), || format!("job {id} is verified before it ended"));
    let good = ended(job) == Some(FinalStatus::Completed) || !matches!(verified, Verified::Passed | Verified::Failed);
    broken.unless(good, || format!("job {id} failed and is verified"));
}

fn made(look: &Look<'_>, release: &Release, broken: &mut Broken) {
    let name = || look.name(release.target);
    let ready = look.versions.get(&release.version).is_some_and(|version| version.status == VersionStatus::Ready);
    broken.unless(ready, || format!("{}: a release of a version that is not ready", name()));
    broken.unless(release.closed.is_none(), || format!("{}: a release is made closed", name()));
    broken.unless(release.created_at == look.now, || format!("{}: a release is made at another time than now", name()));
    broken.unless(release.workspace == look.snapshot.workspace, || format!("{}: a release of a stranger", name()));
    broken.unless(!look.closing.contains_key(&release.id), || format!("{}: a release is made and closed", name()));
}

fn close(look: &Look<'_>, id: ReleaseId, why: Closed, broken: &mut Broken) {
    let Some(release) = look.releases.get(&id) else {
        return broken.unless(false, || format!("release {id} is closed and was not read"));
    };
    let name = || look.name(release.target);
    broken.unless(release.closed.is_none(), || format!("{}: a release is closed that was closed before", name()));
    let state = look.after.get(&release.target);
    let stands = state.is_some_and(|state| state.current == Some(id) || state.desired == Some(id));
    broken.unless(!stands, || format!("{}: what it runs or should run is closed", name()));
    let busy = look.unfinished(release.target).is_some_and(|job| job.release == id);
    broken.unless(!busy, || format!("{}: a release is closed while its job has not ended", name()));
    let ran = jobs(look, release.target).any(|job| job.release == id && look.is_good(job));
    match why {
        Closed::Replaced => broken.unless(ran, || format!("{}: replaced, but it never ran", name())),
        Closed::Superseded => broken.unless(!ran, || format!("{}: superseded, but it ran", name())),
        Closed::Cancelled => broken.unless(false, || format!("{}: only people cancel releases", name())),
        Closed::RolledBack => {
            let held = look.holds.get(&release.target);
            let failed = held.is_some_and(|hold| hold.by == HeldBy::Rule { failed: release.version });
            return broken.unless(failed, || format!("{}: rolled back and not held for it", name()));
        }
    }
    let by = state.into_iter().flat_map(|state| [state.current, state.desired]).flatten();
    let younger = by
        .filter_map(|by| look.version(by))
        .any(|by| look.versions.get(&release.version).is_some_and(|version| younger(by, version)));
    broken.unless(younger, || format!("{}: closed, but nothing younger runs or should run there", name()));
}

fn desire(look: &Look<'_>, key: TargetKey, release: Option<ReleaseId>, broken: &mut Broken) {
    let name = || look.name(key);
    let before = look.before.get(&key).and_then(|state| state.desired);
    broken.unless(before != release, || format!("{}: made desired, but it was before", name()));
    let current = look.after.get(&key).and_then(|state| state.current);
    let Some(id) = release else {
        return broken.unless(current.is_none(), || format!("{}: it runs something and should run nothing", name()));
    };
    let of_target = look.releases.get(&id).is_some_and(|release| release.target == key);
    broken.unless(of_target, || format!("{}: it should run a release that is not its own", name()));
    let Some(version) = look.version(id) else { return };
    let held = look.holds.get(&key).is_some_and(|hold| hold.release == id);
    if current != Some(id) && !held {
        broken.unless(version.status == VersionStatus::Ready, || format!("{}: {} is not ready", name(), version.tag));
        broken.unless(!look.closed(id), || format!("{}: the release of {} is closed", name(), version.tag));
    }
    // A version that once was to come here is not left for an older one, unless it was withdrawn.
    let Some(left) = before.and_then(|before| look.version(before)) else { return };
    let withdrawn = left.status != VersionStatus::Ready || before.is_some_and(|before| look.closed(before));
    broken.unless(withdrawn || look.is_steered(key) || look.is_queue() || !younger(left, version), || {
        format!("{}: it should run {} and goes back to {}", name(), left.tag, version.tag)
    });
}

/// The state that the plan leaves.
fn after(look: &Look<'_>, state: &TargetState, broken: &mut Broken) {
    let name = || look.name(state.key);
    // Of a place that is gone nothing is reported, and nothing needs to be kept.
    if let Some(success) = last_success(look, state.key).filter(|_| look.lines.contains_key(&state.key)) {
        broken
            .unless(state.current == Some(success), || format!("{}: what completed last is not what it runs", name()));
    }
    let of = |release: Option<ReleaseId>| release.and_then(|release| look.version(release));
    let (current, desired) = (of(state.current), of(state.desired));
    let Some(desired) = desired.filter(|_| state.attached && !look.is_steered(state.key)) else { return };
    let below = |other: &Version| younger(other, desired);
    broken.unless(!current.is_some_and(below), || format!("{}: it should run less than it runs", name()));
    let coming = look.unfinished(state.key).filter(|job| in_hand(job));
    let coming = coming.and_then(|job| look.versions.get(&job.version).copied());
    let moved = look.before.get(&state.key).is_none_or(|before| before.desired != state.desired);
    broken.unless(!(moved && coming.is_some_and(below)), || format!("{}: it should run less than what comes", name()));
}

fn jobs<'a>(look: &'a Look<'_>, key: TargetKey) -> impl Iterator<Item = &'a Job> {
    look.deploys.get(&key).into_iter().flatten().copied()
}

/// The release whose job completed last.
fn last_success(look: &Look<'_>, key: TargetKey) -> Option<ReleaseId> {
    let completed = jobs(look, key).filter(|job| look.is_good(job));
    // Two may complete at one instant; then the later claim was the later job.
    let when = |job: &&Job| match job.state {
        JobState::Ended { ended_at, token, .. } => Some((ended_at, token, job.id)),
        _ => None,
    };
    completed.max_by_key(when).map(|job| job.release)
}
