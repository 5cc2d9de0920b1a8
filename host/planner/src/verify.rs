//! Verification: whether a success is one. A job that completed is what its target runs only once every rule with that
//! hook calls it healthy; the rules say what is to be measured until then.
//!
//! A rule that cannot answer leaves the matter open, unless it says `onError: allow`: a defect of a policy is no reason
//! to go back, and none to take what was deployed for healthy.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use model::{
    id::{JobId, MeasurementId, RuleId},
    job::Job,
    job_state::FinalStatus,
    plugin::{Fault, FaultCode},
    policy::{OnError, RuleMode},
    question::{Answer, Ask, Assessment, Measured, Question, VerifyRequest},
    time::Timestamp,
    verification::{Measurement, Verified},
};

use crate::{
    gates::is_transient,
    pass::Pass,
    target::{Target, ended_as, in_hand, job_facts},
};

/// What became of jobs' verification, as read and as settled by this pass.
#[derive(Debug, Default)]
pub struct Verdicts {
    settled: HashMap<JobId, Verified>,
}

impl Verdicts {
    /// What became of the job's verification, if that is known.
    pub fn of(&self, job: &Job) -> Option<Verified> {
        job.verified.or_else(|| self.settled.get(&job.id).copied())
    }

    /// Whether the job ended with a success that stands.
    pub fn is_good(&self, job: &Job) -> bool {
        ended_as(job) == Some(FinalStatus::Completed) && self.of(job).is_some_and(Verified::is_good)
    }
}

/// What verification came to in this pass.
#[derive(Debug, Default)]
pub struct Verifying {
    /// Jobs settled by this pass, in order, with what was seen.
    pub settled: Vec<(usize, Verified, String)>,
    /// What is to be measured.
    pub wanted: Vec<Measurement>,
    /// When to ask again a rule that did not answer in time.
    pub ask_again_at: HashMap<usize, Timestamp>,
}

/// A question about one job.
pub struct OpenVerify {
    target: usize,
    job: usize,
    rule: RuleId,
    on_error: OnError,
    label: String,
    pub question: Question,
}

/// Settles what needs no rule, and asks the rules about the rest.
pub fn open(pass: &mut Pass) -> Vec<OpenVerify> {
    let mut measured: HashMap<(JobId, RuleId), Vec<Measured>> = HashMap::new();
    for measurement in &pass.snapshot.measurements {
        let Some((at, value)) = &measurement.taken else { continue };
        let of = measured.entry((measurement.job, measurement.rule)).or_default();
        of.push(Measured { metric: measurement.metric.clone(), at: *at, value: value.clone() });
    }
    // In the order in which they were taken, whatever the order in which they arrived.
    for list in measured.values_mut() {
        list.sort_by(|one, other| (one.at, &one.metric).cmp(&(other.at, &other.metric)));
    }
    let mut open = Vec::new();
    let mut settled = Vec::new();
    for (index, target) in pass.targets.iter().enumerate() {
        for (place, job) in target.jobs.iter().enumerate() {
            let about = &pass.snapshot.jobs[*job];
            let last = !target.jobs[place + 1..].iter().any(|later| has_begun(&pass.snapshot.jobs[*later]));
            match to_do(target, about, last) {
                ToDo::Nothing => {}
                ToDo::Settle(verified) => settled.push((*job, verified, String::new())),
                ToDo::Ask => open.extend(questions(pass, index, *job, &measured)),
            }
        }
    }
    for (job, verified, reason) in settled {
        settle_job(pass, job, verified, reason);
    }
    open
}

enum ToDo {
    Nothing,
    Settle(Verified),
    Ask,
}

fn to_do(target: &Target, job: &Job, last: bool) -> ToDo {
    if job.verified.is_some() {
        return ToDo::Nothing;
    }
    let asked = target.rules.verifications().any(|(rule, _)| rule.rule.mode == RuleMode::Enforce);
    match ended_as(job) {
        Some(FinalStatus::Completed) if !asked => ToDo::Settle(Verified::NotAsked),
        Some(FinalStatus::Completed) if !last => ToDo::Settle(Verified::Abandoned),
        Some(FinalStatus::Completed) => ToDo::Ask,
        // A rule may look into what runs, and into what failed; neither changes what the target runs.
        Some(
            FinalStatus::Failed
            | FinalStatus::InvalidJobAgent
            | FinalStatus::InvalidIntegration
            | FinalStatus::ExternalRunNotFound,
        ) if asked && last => ToDo::Ask,
        None if asked && in_hand(job) => ToDo::Ask,
        Some(
            FinalStatus::Failed
            | FinalStatus::InvalidJobAgent
            | FinalStatus::InvalidIntegration
            | FinalStatus::ExternalRunNotFound
            | FinalStatus::Cancelled
            | FinalStatus::Skipped,
        )
        | None => ToDo::Nothing,
    }
}

fn has_begun(job: &Job) -> bool {
    in_hand(job) || ended_as(job).is_some()
}

fn questions(
    pass: &Pass,
    target: usize,
    job: usize,
    measured: &HashMap<(JobId, RuleId), Vec<Measured>>,
) -> Vec<OpenVerify> {
    let Some(version) = pass.version_of(job) else { return Vec::new() };
    let about = &pass.snapshot.jobs[job];
    let of = &pass.targets[target];
    let rules = of.rules.verifications().filter(|(rule, _)| rule.rule.mode == RuleMode::Enforce);
    let question = |(rule, plugin): (&crate::rules::GoverningRule, &Arc<model::plugin::Plugin>)| OpenVerify {
        target,
        job,
        rule: rule.rule.id,
        on_error: rule.rule.on_error,
        label: format!("{}/{}", rule.policy.name, rule.rule.label()),
        question: Question {
            digest: plugin.digest,
            now: pass.now,
            rule: Arc::clone(&rule.rule),
            ask: Ask::Verify(Box::new(VerifyRequest {
                target: Arc::clone(&of.target),
                version: Arc::clone(version),
                job: job_facts(about),
                measurements: measured.get(&(about.id, rule.rule.id)).cloned().unwrap_or_default(),
            })),
        },
    };
    rules.map(question).collect()
}

/// What the rules of one job say together.
#[derive(Default)]
struct Said {
    target: usize,
    unhealthy: Vec<String>,
    missing: Vec<String>,
    fault: bool,
}

/// Takes the rules' answers in.
pub fn settle(pass: &mut Pass, open: Vec<OpenVerify>, answers: Vec<Answer>) {
    let wanted: HashSet<(JobId, RuleId, String)> = pass
        .snapshot
        .measurements
        .iter()
        .filter(|measurement| measurement.taken.is_none())
        .map(|measurement| (measurement.job, measurement.rule, measurement.metric.clone()))
        .collect();
    let mut jobs: Vec<usize> = Vec::new();
    let mut said: HashMap<usize, Said> = HashMap::new();
    for (open, answer) in open.into_iter().zip(answers) {
        if !said.contains_key(&open.job) {
            jobs.push(open.job);
        }
        let of_job = said.entry(open.job).or_insert_with(|| Said { target: open.target, ..Said::default() });
        let fault = match answer {
            Answer::Verify(Assessment::Healthy) => continue,
            Answer::Verify(Assessment::Unhealthy(reason)) => {
                of_job.unhealthy.push(format!("{}: {reason}", open.label));
                continue;
            }
            Answer::Verify(Assessment::Measure(metrics)) => {
                let names: Vec<&str> = metrics.iter().map(|(metric, _)| metric.as_str()).collect();
                of_job.missing.push(match names.is_empty() {
                    true => format!("{} has not begun", open.label),
                    false => format!("{} measures {}", open.label, names.join(", ")),
                });
                let job = pass.snapshot.jobs[open.job].id;
                for (metric, due_at) in metrics {
                    if !wanted.contains(&(job, open.rule, metric.clone())) {
                        pass.verification.wanted.push(Measurement {
                            id: MeasurementId(pass.ids.next(pass.now)),
                            workspace: pass.snapshot.workspace,
                            job,
                            rule: open.rule,
                            metric,
                            due_at,
                            taken: None,
                        });
                    }
                }
                continue;
            }
            Answer::Fault(fault) => fault,
            Answer::Gate(_) | Answer::Retry(_) | Answer::Sequence(_) => {
                Fault { code: FaultCode::InvalidOutput, message: "it answered another hook's question".to_owned() }
            }
        };
        if open.on_error == OnError::Allow {
            continue;
        }
        if is_transient(fault.code) {
            let ended_at = pass.snapshot.jobs[open.job].state.ended_at().unwrap_or(pass.now);
            pass.verification.ask_again_at.insert(open.target, crate::gates::ask_again_at(ended_at, pass.now));
        }
        of_job.fault = true;
        of_job.missing.push(format!("{} could not answer: {}", open.label, fault.message));
    }
    for job in jobs {
        let said = said.remove(&job).unwrap_or_default();
        let completed = match ended_as(&pass.snapshot.jobs[job]) {
            Some(FinalStatus::Completed) => true,
            // Looked into to the end; what it found is on record as measurements.
            Some(_) if said.missing.is_empty() || said.fault => {
                settle_job(pass, job, Verified::NotAsked, String::new());
                continue;
            }
            Some(_) | None => continue,
        };
        if completed && !said.unhealthy.is_empty() {
            settle_job(pass, job, Verified::Failed, said.unhealthy.join("; "));
        } else if said.missing.is_empty() {
            settle_job(pass, job, Verified::Passed, "every rule calls it healthy".to_owned());
        } else {
            let version = pass.version_of(job).and_then(|version| pass.version_index(version.id));
            let target = &mut pass.targets[said.target];
            target.in_progress = target.in_progress.or(version);
            target.verifying = Some((job, said.missing.join("; ")));
        }
    }
}

fn settle_job(pass: &mut Pass, job: usize, verified: Verified, reason: String) {
    pass.verdicts.settled.insert(pass.snapshot.jobs[job].id, verified);
    pass.verification.settled.push((job, verified, reason));
}
