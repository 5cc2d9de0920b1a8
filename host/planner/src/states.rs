//! What a target runs, should run and is held on, from its jobs and from what is kept of it.

use model::{
    job::Job,
    release::{Closed, Release},
    version::VersionStatus,
};

use crate::{
    matching::token,
    pass::Pass,
    target::{Target, in_hand},
    verify::Verdicts,
};

/// Takes what is kept of every target, and what its jobs came to.
pub fn take(pass: &mut Pass) {
    for index in 0..pass.targets.len() {
        let target = &pass.targets[index];
        let current_release = last_success(&pass.snapshot.jobs, target, &pass.verdicts).or(target.state.current);
        let current_release = current_release.and_then(|release| pass.release(release));
        let current = current_release.and_then(|release| pass.version_index(release.version));
        let current_release = current.and(current_release).map(|release| release.id);
        let in_progress = target
            .active_job
            .map(|job| &pass.snapshot.jobs[job])
            .filter(|job| in_hand(job))
            .and_then(|job| pass.version_index(job.version))
            .or(target.in_progress);
        let desired = target
            .state
            .desired
            .and_then(|release| pass.release(release))
            .filter(|release| {
                let arrived = Some(release.id) == current_release || in_progress.is_some();
                !target.attached || arrived || !withdrawn(pass, release)
            })
            .and_then(|release| pass.version_index(release.version));
        let redeploy = pass.redeploys.get(&target.target.key).and_then(|redeploy| pass.version_index(redeploy.version));
        let hold = pass.holds.get(&target.target.key).cloned();
        let target = &mut pass.targets[index];
        target.current = current;
        target.current_release = current_release;
        target.in_progress = in_progress;
        target.desired = desired;
        // What the target runs by now is newer: the redeploy was overtaken.
        target.redeploy =
            redeploy.filter(|version| target.attached && current.is_none_or(|current| *version <= current));
        target.hold = hold;
    }
}

/// Whether the release may no longer come anywhere by itself.
fn withdrawn(pass: &Pass, release: &Release) -> bool {
    let version = pass.version_index(release.version).map(|index| &pass.snapshot.versions[index]);
    release.closed.is_some_and(|(why, _)| matches!(why, Closed::Cancelled | Closed::RolledBack))
        || version.is_none_or(|version| version.status != VersionStatus::Ready)
}

/// The release whose deploy completed last and is healthy. Of two that completed at one instant the later token tells.
fn last_success(jobs: &[Job], target: &Target, verdicts: &Verdicts) -> Option<model::id::ReleaseId> {
    target
        .jobs
        .iter()
        .map(|job| &jobs[*job])
        .filter(|job| verdicts.is_good(job))
        .max_by_key(|job| (job.state.ended_at(), token(job), job.id))
        .map(|job| job.release)
}
