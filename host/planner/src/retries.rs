//! Retries: what becomes of a version that a target may have and that was tried there before.
//!
//! Without a retry rule there is no other attempt. With several, every one must grant it, and the latest time
//! counts. A rule that cannot answer refuses, unless it says `onError: allow`: then it has no say, and another rule
//! must grant the attempt.

use std::{collections::HashSet, sync::Arc};

use model::{
    job_state::JobStatus,
    plugin::{Fault, FaultCode},
    policy::{OnError, RuleMode},
    question::{Answer, Ask, Question, RetryAnswer, RetryRequest},
    time::Timestamp,
};

use crate::{
    pass::Pass,
    target::{Next, Target, attempts},
};

/// A retry question and whose it is.
pub struct OpenRetry {
    target: usize,
    on_error: OnError,
    label: String,
    pub question: Question,
}

/// Decides what needs no rule, and asks the rules about the rest.
pub fn open(pass: &mut Pass) -> Vec<OpenRetry> {
    let mut open = Vec::new();
    for index in 0..pass.targets.len() {
        let target = &pass.targets[index];
        let Some(chosen) = target.chosen().filter(|_| target.attached) else { continue };
        let version = &pass.snapshot.versions[chosen];
        let serves = |job: usize| pass.snapshot.jobs[job].version == version.id;
        if target.active_job.is_some_and(serves) {
            continue;
        }
        let attempts = attempts(&pass.snapshot.jobs, &target.jobs, version.id);
        let next = match attempts.last() {
            None => ready(pass, target, chosen),
            Some(last) if last.status == JobStatus::Cancelled => {
                Next::GaveUp { reason: format!("{} was cancelled here; only a redeploy starts it again", version.tag) }
            }
            Some(last) => {
                let before = open.len();
                let rules = target.rules.retries().filter(|(rule, _)| rule.rule.mode == RuleMode::Enforce);
                open.extend(rules.map(|(rule, plugin)| OpenRetry {
                    target: index,
                    on_error: rule.rule.on_error,
                    label: format!("{}/{}", rule.policy.name, rule.rule.label()),
                    question: Question {
                        digest: plugin.digest,
                        now: pass.now,
                        rule: Arc::clone(&rule.rule),
                        ask: Ask::Retry(Box::new(RetryRequest {
                            target: Arc::clone(&target.target),
                            version: Arc::clone(version),
                            attempts: attempts.clone(),
                        })),
                    },
                }));
                match open.len() > before {
                    // Until a rule says otherwise.
                    true => ready(pass, target, chosen),
                    false => Next::GaveUp {
                        reason: format!(
                            "attempt {} at {} ended as {}, and no rule grants another",
                            last.attempt,
                            version.tag,
                            ended(last.status, &last.message)
                        ),
                    },
                }
            }
        };
        pass.targets[index].next = next;
    }
    open
}

/// Takes the rules' answers in.
pub fn settle(pass: &mut Pass, open: Vec<OpenRetry>, answers: Vec<Answer>) {
    let now = pass.now;
    let asked: Vec<usize> = open.iter().map(|open| open.target).collect();
    let mut granted = HashSet::new();
    for (open, answer) in open.into_iter().zip(answers) {
        let target = &mut pass.targets[open.target];
        let answer = match answer {
            Answer::Retry(answer) => Ok(answer),
            Answer::Fault(fault) => Err(fault),
            Answer::Gate(_) | Answer::Sequence(_) => {
                Err(Fault { code: FaultCode::InvalidOutput, message: "it answered another hook's question".to_owned() })
            }
        };
        match answer {
            Ok(RetryAnswer::GiveUp(reason)) => {
                target.next = Next::GaveUp { reason: format!("{} gives up: {reason}", open.label) };
            }
            Ok(RetryAnswer::RetryAt(at)) => {
                granted.insert(open.target);
                if at > now {
                    postpone(target, at, &open.label);
                }
            }
            Err(_) if open.on_error == OnError::Allow => {}
            Err(fault) => {
                target.next = Next::GaveUp {
                    reason: format!("{} could not answer, so there is no other attempt: {fault}", open.label),
                };
            }
        }
    }
    for index in asked.into_iter().filter(|index| !granted.contains(index)) {
        let next = &mut pass.targets[index].next;
        if !matches!(next, Next::GaveUp { .. }) {
            *next = Next::GaveUp { reason: "no rule could say whether there is another attempt".to_owned() };
        }
    }
}

/// Another attempt, not before `at`; a later time or a refusal that another rule gave stands.
fn postpone(target: &mut Target, at: Timestamp, label: &str) {
    let wait = Next::Wait { reason: format!("{label} tries again at {at}"), until: Some(at) };
    match &target.next {
        Next::Ready { .. } => target.next = wait,
        Next::Wait { until: Some(until), .. } if *until < at => target.next = wait,
        Next::Wait { .. } | Next::GaveUp { .. } | Next::Nothing | Next::Start { .. } => {}
    }
}

/// Ready for its next attempt. Numbers count every attempt that was ever made at the version here.
fn ready(pass: &Pass, target: &Target, chosen: usize) -> Next {
    let version = &pass.snapshot.versions[chosen];
    let made = target.jobs.iter().map(|job| &pass.snapshot.jobs[*job]).filter(|job| job.version == version.id);
    let last = made.map(|job| job.attempt).max().unwrap_or(0);
    let satisfied = target
        .rules
        .gates()
        .filter_map(|rule| pass.gates.decision(rule, version.id, target.target.key))
        .filter_map(|decision| decision.answer.satisfied_at)
        .max();
    Next::Ready { attempt: last + 1, since: satisfied.unwrap_or(version.received_at) }
}

fn ended(status: JobStatus, message: &str) -> String {
    match message.is_empty() {
        true => format!("`{}`", status.name()),
        false => format!("`{}` ({message})", status.name()),
    }
}
