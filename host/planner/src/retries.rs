//! Retries: what becomes of a version that was tried on a target before.
//!
//! Without a retry rule there is no other attempt. With several, every one must grant it, and the latest time
//! counts. A rule that cannot answer refuses, unless it says `onError: allow`: then it has no say, and another rule
//! must grant the attempt. Rules are asked before the gates: that a version has ended on a target is a fact there.

use std::sync::Arc;

use model::{
    job_state::JobStatus,
    plugin::{Fault, FaultCode},
    policy::{OnError, RuleMode},
    question::{Answer, Ask, Intent, JobFacts, Question, RetryAnswer, RetryRequest},
    time::Timestamp,
    verification::Verified,
};

use crate::{
    pass::Pass,
    target::{Next, Target, attempts},
};

/// What the rules say of another attempt at a version on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// It is granted, perhaps for later.
    Granted { until: Option<(Timestamp, String)> },
    /// There is none, and why.
    GaveUp { reason: String },
}

/// A retry question and whose it is.
pub struct OpenRetry {
    target: usize,
    version: usize,
    on_error: OnError,
    label: String,
    pub question: Question,
}

/// Asks the rules about every version whose last attempt on a target failed and that may still go there.
pub fn open(pass: &mut Pass) -> Vec<OpenRetry> {
    let mut open = Vec::new();
    for index in 0..pass.targets.len() {
        for version in failed(pass, &pass.targets[index]) {
            let attempts = attempts_at(pass, &pass.targets[index], version);
            let Some(last) = attempts.last() else { continue };
            let refused = Retry::GaveUp {
                reason: format!(
                    "attempt {} at {} ended as {}, and no rule grants another",
                    last.attempt,
                    pass.snapshot.versions[version].tag,
                    ended(last.status, &last.message)
                ),
            };
            let target = &pass.targets[index];
            let rules = target.rules.retries().filter(|(rule, _)| rule.rule.mode == RuleMode::Enforce);
            open.extend(rules.map(|(rule, plugin)| OpenRetry {
                target: index,
                version,
                on_error: rule.rule.on_error,
                label: format!("{}/{}", rule.policy.name, rule.rule.label()),
                question: Question {
                    digest: plugin.digest,
                    now: pass.now,
                    rule: Arc::clone(&rule.rule),
                    ask: Ask::Retry(Box::new(RetryRequest {
                        target: Arc::clone(&target.target),
                        version: Arc::clone(&pass.snapshot.versions[version]),
                        attempts: attempts.clone(),
                    })),
                },
            }));
            // Until a rule says otherwise.
            pass.targets[index].retries.insert(version, refused);
        }
    }
    open
}

/// Versions whose last attempt failed, and that the target may still get: newer than what it runs, or held there.
fn failed(pass: &Pass, target: &Target) -> Vec<usize> {
    if !target.attached {
        return Vec::new();
    }
    let held = target.hold.as_ref().and_then(|hold| pass.version_index(hold.version));
    let mut versions: Vec<usize> =
        target.jobs.iter().filter_map(|job| pass.version_index(pass.snapshot.jobs[*job].version)).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.retain(|version| {
        let wanted = target.current.is_none_or(|current| *version <= current) || held == Some(*version);
        let last = attempts_at(pass, target, *version).pop().map(|last| last.status);
        wanted && last.is_some_and(|status| status.is_final() && !is_settled(status))
    });
    versions
}

/// No retry follows a success, nor what a person called off.
fn is_settled(status: JobStatus) -> bool {
    matches!(status, JobStatus::Completed | JobStatus::Cancelled | JobStatus::Skipped)
}

fn attempts_at(pass: &Pass, target: &Target, version: usize) -> Vec<JobFacts> {
    attempts(&pass.snapshot.jobs, &target.jobs, pass.snapshot.versions[version].id, &pass.verdicts)
}

/// Takes the rules' answers in.
pub fn settle(pass: &mut Pass, open: Vec<OpenRetry>, answers: Vec<Answer>) {
    let now = pass.now;
    let mut open = open.into_iter().zip(answers).peekable();
    while let Some((first, answer)) = open.next() {
        let (target, version) = (first.target, first.version);
        let mut said = Said::default();
        said.take(&first, answer, now);
        while let Some((next, answer)) = open.next_if(|(next, _)| (next.target, next.version) == (target, version)) {
            said.take(&next, answer, now);
        }
        pass.targets[target].retries.insert(version, said.outcome());
    }
}

/// What the rules say together.
#[derive(Default)]
struct Said {
    refused: Option<String>,
    granted: bool,
    until: Option<(Timestamp, String)>,
}

impl Said {
    fn take(&mut self, open: &OpenRetry, answer: Answer, now: Timestamp) {
        let fault = match answer {
            Answer::Retry(RetryAnswer::GiveUp(reason)) => {
                self.refused.get_or_insert(format!("{} gives up: {reason}", open.label));
                return;
            }
            Answer::Retry(RetryAnswer::RetryAt(at)) => {
                self.granted = true;
                if at > now && self.until.as_ref().is_none_or(|(until, _)| *until < at) {
                    self.until = Some((at, format!("{} tries again at {at}", open.label)));
                }
                return;
            }
            Answer::Fault(fault) => fault,
            Answer::Gate(_) | Answer::Sequence(_) | Answer::Verify(_) => {
                Fault { code: FaultCode::InvalidOutput, message: "it answered another hook's question".to_owned() }
            }
        };
        if open.on_error == OnError::Block {
            let label = &open.label;
            self.refused.get_or_insert(format!("{label} could not answer, so there is no other attempt: {fault}"));
        }
    }

    fn outcome(self) -> Retry {
        match self.refused {
            Some(reason) => Retry::GaveUp { reason },
            None if self.granted => Retry::Granted { until: self.until },
            None => Retry::GaveUp { reason: "no rule could say whether there is another attempt".to_owned() },
        }
    }
}

/// Whether the version ended on the target for good, without success: no attempt is left, or what came is not healthy.
pub fn has_failed(pass: &Pass, target: &Target, version: usize) -> bool {
    match target.retries.get(&version) {
        Some(Retry::GaveUp { .. }) => true,
        Some(Retry::Granted { .. }) => false,
        None => {
            attempts_at(pass, target, version).last().is_some_and(|last| last.status == JobStatus::Completed)
                && failed_verification(pass, target, version).is_some()
        }
    }
}

/// The last job of the version, where it completed and is not healthy.
pub fn failed_verification(pass: &Pass, target: &Target, version: usize) -> Option<usize> {
    let id = pass.snapshot.versions[version].id;
    let last = target.jobs.iter().copied().rfind(|job| pass.snapshot.jobs[*job].version == id)?;
    (pass.verdicts.of(&pass.snapshot.jobs[last]) == Some(Verified::Failed)).then_some(last)
}

/// Says of every target with a chosen version whether a job may be made, as far as the target alone is concerned.
pub fn decide(pass: &mut Pass) {
    for index in 0..pass.targets.len() {
        let target = &pass.targets[index];
        let Some(chosen) = target.chosen().filter(|_| target.attached) else { continue };
        let next = next(pass, target, chosen);
        pass.targets[index].next = next;
    }
}

fn next(pass: &Pass, target: &Target, chosen: usize) -> Next {
    let version = &pass.snapshot.versions[chosen];
    // A new series that waits for its first job: what went before does not count.
    if (target.intent == Intent::Redeploy || target.intent == Intent::Rollback) && !pass.served(target, chosen) {
        let queued = target.active_job.is_some_and(|job| pass.snapshot.jobs[job].version == version.id);
        return if queued && pass.job_in_hand(target).is_none() { Next::Nothing } else { ready(pass, target, chosen) };
    }
    if target.active_job.is_some_and(|job| pass.snapshot.jobs[job].version == version.id) {
        return Next::Nothing;
    }
    match target.retries.get(&chosen) {
        Some(Retry::Granted { until: None }) => return ready(pass, target, chosen),
        Some(Retry::Granted { until: Some((until, reason)) }) => {
            return Next::Wait { reason: reason.clone(), until: Some(*until) };
        }
        Some(Retry::GaveUp { reason }) => return Next::GaveUp { reason: reason.clone() },
        None => {}
    }
    match attempts_at(pass, target, chosen).last() {
        None if pass.held_and_done(target, chosen) => Next::Nothing,
        None => ready(pass, target, chosen),
        Some(last) if last.status == JobStatus::Completed => match failed_verification(pass, target, chosen) {
            Some(job) => Next::GaveUp { reason: format!("{} is not healthy here: {}", version.tag, pass.seen(job)) },
            None => Next::Nothing,
        },
        Some(_) => {
            Next::GaveUp { reason: format!("{} was cancelled here; only a redeploy starts it again", version.tag) }
        }
    }
}

/// Ready for its next attempt. Numbers count every attempt that was ever made at the version here.
fn ready(pass: &Pass, target: &Target, chosen: usize) -> Next {
    let version = &pass.snapshot.versions[chosen];
    let made = target.jobs.iter().map(|job| &pass.snapshot.jobs[*job]).filter(|job| job.version == version.id);
    let last = made.map(|job| job.attempt).max().unwrap_or(0);
    let since = pass.gates.satisfied_at(target, version);
    Next::Ready { attempt: last + 1, since }
}

fn ended(status: JobStatus, message: &str) -> String {
    match message.is_empty() {
        true => format!("`{}`", status.name()),
        false => format!("`{}` ({message})", status.name()),
    }
}
