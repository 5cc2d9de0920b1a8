//! Sequences: of what could start, what starts now.
//!
//! A target has one deploy job at a time whatever a rule says. Where no sequence rule governs it, a job that nobody
//! has taken gives way to a newer version and one that runs is let end. With several rules all must start, any may
//! hold, any may cancel.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use model::{
    decision::DecisionScope,
    id::{JobId, RuleId},
    job::Job,
    job_state::JobState,
    plugin::{Fault, FaultCode, Plugin},
    policy::{OnError, RuleMode},
    question::{Answer, Ask, Question, ReadyRelease, RunningJob, SequenceRequest, SequenceStep},
};

use crate::{
    gates::decision_scope,
    pass::Pass,
    rules::GoverningRule,
    target::{Next, Target, job_facts},
};

/// What sequences came to.
#[derive(Debug, Default)]
pub struct Sequencing {
    /// Jobs to call off, and why.
    pub cancels: BTreeMap<JobId, String>,
}

/// A sequence question, and the targets that are ready in its group.
pub struct OpenSequence {
    ready: Vec<usize>,
    on_error: OnError,
    label: String,
    pub question: Question,
}

struct Group {
    rule: GoverningRule,
    plugin: Arc<Plugin>,
    members: Vec<usize>,
}

/// Starts what no rule governs, and asks the rules about the rest.
pub fn open(pass: &mut Pass) -> Vec<OpenSequence> {
    give_way(pass);
    let groups = groups(pass);
    let governed: HashSet<usize> = groups.values().flat_map(|group| group.members.iter().copied()).collect();
    let no_agent = pass.snapshot.job_agent.is_none();
    for index in pass.ready().collect::<Vec<_>>() {
        let Next::Ready { attempt, .. } = pass.targets[index].next else { continue };
        if no_agent {
            let reason = format!("deployment `{}` has no job agent to carry it out", pass.snapshot.deployment.name);
            pass.targets[index].next = Next::Wait { reason, until: None };
        } else if !governed.contains(&index) {
            pass.targets[index].next = busy(pass, &pass.targets[index]).unwrap_or(Next::Start { attempt });
        }
    }
    let open = groups.into_values().filter_map(|group| question(pass, group)).collect::<Vec<_>>();
    // What only waits for its sequence: starts unless a rule holds it.
    for index in pass.ready().collect::<Vec<_>>() {
        let Next::Ready { attempt, .. } = pass.targets[index].next else { continue };
        pass.targets[index].next = busy(pass, &pass.targets[index]).unwrap_or(Next::Start { attempt });
    }
    open
}

/// Takes the rules' answers in.
pub fn settle(pass: &mut Pass, open: Vec<OpenSequence>, answers: Vec<Answer>) {
    let stopping = stopping(&pass.snapshot.jobs);
    for (open, answer) in open.into_iter().zip(answers) {
        let Ask::Sequence(request) = &open.question.ask else { continue };
        let steps = match answer {
            Answer::Sequence(steps) => Ok(steps),
            Answer::Fault(fault) => Err(fault),
            Answer::Gate(_) | Answer::Retry(_) | Answer::Verify(_) => {
                Err(Fault { code: FaultCode::InvalidOutput, message: "it answered another hook's question".to_owned() })
            }
        };
        match steps.and_then(|steps| in_terms(steps, request)) {
            Ok(steps) => {
                for step in steps {
                    take(pass, &open, request, step, &stopping);
                }
            }
            Err(_) if open.on_error == OnError::Allow => {}
            Err(fault) => {
                for index in &open.ready {
                    hold(&mut pass.targets[*index], format!("{} could not answer, so it waits: {fault}", open.label));
                }
            }
        }
    }
}

/// Without a rule, a job that nobody has taken gives way to the version chosen in its place.
fn give_way(pass: &mut Pass) {
    for target in &pass.targets {
        let (Some(chosen), Some(job)) = (target.chosen(), target.active_job) else { continue };
        let (version, job) = (&pass.snapshot.versions[chosen], &pass.snapshot.jobs[job]);
        let governed = target.rules.sequences().any(|(rule, _)| rule.rule.mode == RuleMode::Enforce);
        // A newer one whose gate closed is withdrawn, not displaced.
        let older = pass.version_index(job.version).is_none_or(|brings| brings > chosen);
        if !governed && older && pass.job_in_hand(target).is_none() {
            pass.sequencing.cancels.insert(job.id, format!("superseded by {}", version.tag));
        }
    }
}

fn groups(pass: &Pass) -> BTreeMap<(RuleId, DecisionScope), Group> {
    let mut groups: BTreeMap<(RuleId, DecisionScope), Group> = BTreeMap::new();
    for (index, target) in pass.targets.iter().enumerate().filter(|(_, target)| target.attached) {
        for (rule, plugin) in target.rules.sequences().filter(|(rule, _)| rule.rule.mode == RuleMode::Enforce) {
            let key = (rule.rule.id, decision_scope(rule.scope(), target.target.key));
            let group = groups.entry(key).or_insert_with(|| Group {
                rule: rule.clone(),
                plugin: Arc::clone(plugin),
                members: Vec::new(),
            });
            group.members.push(index);
        }
    }
    groups
}

/// The question for a group in which something is ready.
fn question(pass: &Pass, group: Group) -> Option<OpenSequence> {
    let mut ready = Vec::new();
    let mut releases = Vec::new();
    let mut running = Vec::new();
    for index in &group.members {
        let target = &pass.targets[*index];
        if let (Next::Ready { since, .. }, Some(chosen)) = (&target.next, target.chosen()) {
            ready.push(*index);
            releases.push(ReadyRelease {
                id: pass.release_id(target.target.key, chosen)?,
                target: Arc::clone(&target.target),
                version: Arc::clone(&pass.snapshot.versions[chosen]),
                ready_at: *since,
            });
        }
        if let Some(job) = target.active_job {
            let version = pass.version_of(job)?;
            running.push(RunningJob {
                job: job_facts(&pass.snapshot.jobs[job]),
                target: Arc::clone(&target.target),
                version: Arc::clone(version),
            });
        }
    }
    if ready.is_empty() {
        return None;
    }
    let request =
        SequenceRequest { targets: u32::try_from(group.members.len()).unwrap_or(u32::MAX), ready: releases, running };
    Some(OpenSequence {
        ready,
        on_error: group.rule.rule.on_error,
        label: format!("{}/{}", group.rule.policy.name, group.rule.rule.label()),
        question: Question {
            digest: group.plugin.digest,
            now: pass.now,
            rule: Arc::clone(&group.rule.rule),
            ask: Ask::Sequence(Box::new(request)),
        },
    })
}

/// Every ready release must have exactly one start or hold, and nothing else may be named.
fn in_terms(steps: Vec<SequenceStep>, request: &SequenceRequest) -> Result<Vec<SequenceStep>, Fault> {
    let invalid = |message: String| Fault { code: FaultCode::InvalidOutput, message };
    let mut open: HashSet<_> = request.ready.iter().map(|ready| ready.id).collect();
    for step in &steps {
        match step {
            SequenceStep::Start(id) | SequenceStep::Hold(id, _) => {
                if !open.remove(id) {
                    return Err(invalid(format!("it names release {id} twice, or it was not asked about it")));
                }
            }
            SequenceStep::Cancel(id, _) => {
                if !request.running.iter().any(|running| running.job.id == *id) {
                    return Err(invalid(format!("it cancels job {id}, which does not run in the group")));
                }
            }
        }
    }
    match open.iter().min() {
        Some(id) => Err(invalid(format!("it neither starts nor holds release {id}"))),
        None => Ok(steps),
    }
}

/// Jobs whose agent was asked to stop.
fn stopping(jobs: &[Job]) -> HashSet<JobId> {
    let asked = |job: &&Job| match &job.state {
        JobState::Running { cancel_requested_at, .. } => cancel_requested_at.is_some(),
        JobState::Pending
        | JobState::Queued { .. }
        | JobState::Offered { .. }
        | JobState::Triggered { .. }
        | JobState::Ended { .. } => false,
    };
    jobs.iter().filter(asked).map(|job| job.id).collect()
}

fn take(
    pass: &mut Pass,
    open: &OpenSequence,
    request: &SequenceRequest,
    step: SequenceStep,
    stopping: &HashSet<JobId>,
) {
    match step {
        SequenceStep::Start(_) => {}
        SequenceStep::Hold(id, reason) => {
            let place = request.ready.iter().position(|ready| ready.id == id);
            if let Some(index) = place.map(|place| open.ready[place]) {
                hold(&mut pass.targets[index], format!("{}: {reason}", open.label));
            }
        }
        // Whoever was asked to stop already is not asked at every pass again.
        SequenceStep::Cancel(id, _) if stopping.contains(&id) => {}
        SequenceStep::Cancel(id, reason) => {
            pass.sequencing.cancels.entry(id).or_insert_with(|| format!("{}: {reason}", open.label));
        }
    }
}

/// The first reason to wait stands.
fn hold(target: &mut Target, reason: String) {
    if matches!(target.next, Next::Start { .. }) {
        target.next = Next::Wait { reason, until: None };
    }
}

/// A job that has not ended keeps its target busy.
fn busy(pass: &Pass, target: &Target) -> Option<Next> {
    let job = target.active_job?;
    let tag = pass.version_of(job).map_or("another version", |version| version.tag.as_str());
    let status = pass.snapshot.jobs[job].state.status().name();
    Some(Next::Wait { reason: format!("the job of {tag} on this target ({status}) must end first"), until: None })
}
