//! Rollbacks: when a target goes back, what it is held on, and when that ends.
//!
//! A rule sends a target back to the release that it ran last with success when what came after it fails for good. It
//! is then held there until a version newer than the failed one may go. If what it went back to fails as well, it
//! stops: nothing is tried in its place, and somebody is told. A person's rollback holds until a person resumes.

use model::{
    hold::{HeldBy, Hold},
    job::Job,
    job_state::FinalStatus,
    question::Intent,
};

use crate::{
    pass::Pass,
    retries::{failed_verification, has_failed},
    target::{Target, ended_as},
};

/// Holds every target that a rule sends back.
pub fn take(pass: &mut Pass) {
    for index in 0..pass.targets.len() {
        if let Some(hold) = begins(pass, &pass.targets[index]) {
            pass.targets[index].hold = Some(hold);
        }
    }
}

/// The hold that a failure begins now.
fn begins(pass: &Pass, target: &Target) -> Option<Hold> {
    let rollback = target.rules.rollback().filter(|_| target.attached && target.hold.is_none())?;
    let job = target.jobs.last().copied().filter(|_| target.active_job.is_none())?;
    let last = &pass.snapshot.jobs[job];
    let failed = pass.version_index(last.version)?;
    // A failed rollback is not rolled back, and what a person asks for comes first.
    if last.intent == Intent::Rollback || target.redeploy.is_some() || !has_failed(pass, target, failed) {
        return None;
    }
    let tag = &pass.snapshot.versions[failed].tag;
    let (applies, what) = match ended_as(last) {
        Some(FinalStatus::Completed) => (rollback.on_verification_failed, "is not healthy"),
        _ => (rollback.on_job_failed, "failed"),
    };
    // What ran before is what runs: going back would change nothing.
    let (current, release) = target.current.zip(target.current_release).filter(|(current, _)| *current != failed)?;
    if !applies || failed_before(pass, target, failed) {
        return None;
    }
    let back_to = &pass.snapshot.versions[current];
    let seen = failed_verification(pass, target, failed).map_or_else(|| last.message.clone(), |job| pass.seen(job));
    let seen = if seen.is_empty() { String::new() } else { format!(" ({seen})") };
    Some(Hold {
        workspace: pass.snapshot.workspace,
        target: target.target.key,
        release,
        version: back_to.id,
        by: HeldBy::Rule { failed: last.version },
        steps_back: 1,
        reason: format!("{tag} {what}{seen}, so the target goes back to {}", back_to.tag),
        since: pass.now,
        failed_at: None,
    })
}

/// Whether this failure was dealt with already: a hold of it was ended by a person.
fn failed_before(pass: &Pass, target: &Target, failed: usize) -> bool {
    pass.closed_as_rolled_back(target.target.key, failed)
}

/// Whether the hold is served: a job of its release was made since it began.
pub fn is_served(pass: &Pass, target: &Target, hold: &Hold) -> bool {
    serving(pass, target, hold).next().is_some()
}

/// Whether what the target is held on came there since the hold began.
pub fn is_done(pass: &Pass, target: &Target, hold: &Hold) -> bool {
    serving(pass, target, hold).any(|job| pass.verdicts.is_good(job))
}

/// Jobs that carry the rollback out. At one instant the release may have gone there before, for another reason.
fn serving<'a>(pass: &'a Pass, target: &'a Target, hold: &'a Hold) -> impl Iterator<Item = &'a Job> {
    let jobs = target.jobs.iter().map(|job| &pass.snapshot.jobs[*job]);
    jobs.filter(|job| {
        let goes_back = matches!(job.intent, Intent::Rollback | Intent::Retry);
        goes_back && job.release == hold.release && job.created_at >= hold.since
    })
}

/// Whether the hold leaves versions newer than the failed one free to go.
pub fn lets_newer_go(hold: &Hold) -> bool {
    match hold.by {
        HeldBy::Rule { .. } => true,
        HeldBy::Person { .. } => false,
    }
}
