//! Domain types to records: what a guest is asked.

use model::{
    Labels, approval, deployment, environment,
    job::JobKind,
    job_state::JobStatus,
    policy::Rule,
    question::{self, GateRequest, Intent, JobFacts, RetryRequest, SequenceRequest, VerifyRequest},
    release_target, resource,
    time::Timestamp,
    version,
};

use super::bindings::{
    exports::tidegate::policy::{gate, retry, sequence, verify},
    tidegate::policy::types,
};

/// What later minors add, by name; nothing yet.
const NO_EXTENSIONS: &str = "{}";

pub(crate) fn gate(now: Timestamp, rule: &Rule, ask: &GateRequest) -> gate::Request {
    gate::Request {
        now: now.as_millis(),
        rule: rule_of(rule),
        intent: match ask.intent {
            Intent::Automatic => types::Intent::Automatic,
            Intent::Retry => types::Intent::Retry,
            Intent::Redeploy => types::Intent::Redeploy,
            Intent::Rollback => types::Intent::Rollback,
        },
        candidate: version_of(&ask.candidate),
        deployment: deployment_of(&ask.deployment),
        environment: ask.environment.as_deref().map(environment_of),
        target: ask.target.as_ref().map(|facts| gate::TargetState {
            target: target_of(&facts.target),
            current: facts.current.as_deref().map(version_of),
            in_progress: facts.in_progress.as_deref().map(version_of),
        }),
        facts: gate::Facts {
            approvals: ask.approvals.as_deref().map(|all| all.iter().map(approval_of).collect()),
            target_jobs: ask.target_jobs.as_deref().map(|all| all.iter().map(job_of).collect()),
            version_history: ask.version_history.as_deref().map(|all| all.iter().map(|one| version_of(one)).collect()),
            environment_progress: ask.environment_progress.as_deref().map(|all| all.iter().map(progress_of).collect()),
            dependencies: ask.dependencies.as_deref().map(|all| all.iter().map(dependency_of).collect()),
            rollout_position: ask.rollout_position.as_ref().map(position_of),
        },
        extensions: NO_EXTENSIONS.to_owned(),
    }
}

pub(crate) fn retry(now: Timestamp, rule: &Rule, ask: &RetryRequest) -> retry::Request {
    retry::Request {
        now: now.as_millis(),
        rule: rule_of(rule),
        target: target_of(&ask.target),
        version: version_of(&ask.version),
        attempts: ask.attempts.iter().map(job_of).collect(),
        extensions: NO_EXTENSIONS.to_owned(),
    }
}

pub(crate) fn sequence(now: Timestamp, rule: &Rule, ask: &SequenceRequest) -> sequence::Request {
    sequence::Request {
        now: now.as_millis(),
        rule: rule_of(rule),
        targets: ask.targets,
        ready: ask.ready.iter().map(ready_of).collect(),
        running: ask.running.iter().map(running_of).collect(),
        extensions: NO_EXTENSIONS.to_owned(),
    }
}

pub(crate) fn verify(now: Timestamp, rule: &Rule, ask: &VerifyRequest) -> verify::Request {
    verify::Request {
        now: now.as_millis(),
        rule: rule_of(rule),
        target: target_of(&ask.target),
        version: version_of(&ask.version),
        job: job_of(&ask.job),
        measurements: ask.measurements.iter().map(measurement_of).collect(),
        extensions: NO_EXTENSIONS.to_owned(),
    }
}

fn measurement_of(measured: &question::Measured) -> verify::Measurement {
    verify::Measurement {
        metric: measured.metric.clone(),
        at: measured.at.as_millis(),
        value: measured.value.as_ref().map(ToString::to_string).map_err(Clone::clone),
    }
}

fn progress_of(progress: &question::EnvironmentProgress) -> gate::EnvironmentProgress {
    gate::EnvironmentProgress {
        environment: environment_of(&progress.environment),
        targets: progress.targets,
        statuses: progress
            .statuses
            .iter()
            .map(|count| gate::StatusCount {
                status: status_of(count.status),
                targets: count.targets,
                of_them_verified: count.of_them_verified,
            })
            .collect(),
        last_success_at: progress.last_success_at.map(Timestamp::as_millis),
    }
}

fn dependency_of(dependency: &question::Dependency) -> gate::Dependency {
    gate::Dependency {
        deployment: deployment_of(&dependency.deployment),
        environment: environment_of(&dependency.environment),
        current: dependency.current.as_deref().map(version_of),
    }
}

fn position_of(position: &question::RolloutPosition) -> gate::RolloutPosition {
    gate::RolloutPosition {
        index: position.index,
        total: position.total,
        pending_index: position.pending_index,
        started_at: position.started_at.as_millis(),
        last_start_at: position.last_start_at.map(Timestamp::as_millis),
        failed: position.failed,
        unverified: position.unverified,
    }
}

fn ready_of(ready: &question::ReadyRelease) -> sequence::Ready {
    sequence::Ready {
        id: ready.id.to_string(),
        target: target_of(&ready.target),
        version: version_of(&ready.version),
        ready_at: ready.ready_at.as_millis(),
    }
}

fn running_of(running: &question::RunningJob) -> sequence::Running {
    sequence::Running {
        job: job_of(&running.job),
        target: target_of(&running.target),
        version: version_of(&running.version),
    }
}

fn rule_of(rule: &Rule) -> types::Rule {
    types::Rule {
        id: rule.id.to_string(),
        policy_id: rule.policy.to_string(),
        created_at: rule.created_at.as_millis(),
        config: rule.config.to_string(),
    }
}

fn labels_of(labels: &Labels) -> types::Labels {
    labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn version_of(version: &version::Version) -> types::Version {
    types::Version {
        id: version.id.to_string(),
        tag: version.tag.clone(),
        name: version.name.clone(),
        created_at: version.created_at.as_millis(),
        received_at: version.received_at.as_millis(),
        created_by: version.created_by.clone(),
        labels: labels_of(&version.metadata),
        config: version.config.to_string(),
    }
}

fn deployment_of(deployment: &deployment::Deployment) -> types::Deployment {
    types::Deployment {
        id: deployment.id.to_string(),
        name: deployment.name.clone(),
        labels: labels_of(&deployment.metadata),
    }
}

fn environment_of(environment: &environment::Environment) -> types::Environment {
    types::Environment {
        id: environment.id.to_string(),
        name: environment.name.clone(),
        labels: labels_of(&environment.metadata),
    }
}

fn asset_of(resource: &resource::Resource) -> types::Asset {
    types::Asset {
        id: resource.id.to_string(),
        identifier: resource.identifier.clone(),
        name: resource.name.clone(),
        kind: resource.kind.clone(),
        version: resource.version.clone(),
        labels: labels_of(&resource.metadata),
        config: resource.config.to_string(),
    }
}

fn target_of(target: &release_target::ReleaseTarget) -> types::ReleaseTarget {
    types::ReleaseTarget {
        id: target.key.to_string(),
        deployment: deployment_of(&target.deployment),
        environment: environment_of(&target.environment),
        asset: asset_of(&target.resource),
    }
}

fn approval_of(approval: &approval::Approval) -> gate::Approval {
    gate::Approval {
        user: approval.user.clone(),
        roles_then: approval.roles_then.clone(),
        roles_now: approval.roles_now.clone(),
        decision: match approval.decision {
            approval::ApprovalDecision::Approved => gate::ApprovalDecision::Approved,
            approval::ApprovalDecision::Rejected => gate::ApprovalDecision::Rejected,
        },
        at: approval.at.as_millis(),
        reason: approval.reason.clone(),
    }
}

fn job_of(job: &JobFacts) -> types::Job {
    types::Job {
        id: job.id.to_string(),
        kind: match job.kind {
            JobKind::Deploy => types::JobKind::Deploy,
            JobKind::Drain => types::JobKind::Drain,
            JobKind::Teardown => types::JobKind::Teardown,
        },
        version_id: job.version.to_string(),
        status: status_of(job.status),
        attempt: job.attempt,
        created_at: job.created_at.as_millis(),
        started_at: job.started_at.map(Timestamp::as_millis),
        completed_at: job.completed_at.map(Timestamp::as_millis),
        message: job.message.clone(),
    }
}

const fn status_of(status: JobStatus) -> types::JobStatus {
    match status {
        JobStatus::Pending => types::JobStatus::Pending,
        JobStatus::Queued => types::JobStatus::Queued,
        JobStatus::Triggered => types::JobStatus::Triggered,
        JobStatus::InProgress => types::JobStatus::InProgress,
        JobStatus::ActionRequired => types::JobStatus::ActionRequired,
        JobStatus::Completed => types::JobStatus::Completed,
        JobStatus::Failed => types::JobStatus::Failed,
        JobStatus::Cancelled => types::JobStatus::Cancelled,
        JobStatus::Skipped => types::JobStatus::Skipped,
        JobStatus::InvalidJobAgent => types::JobStatus::InvalidJobAgent,
        JobStatus::InvalidIntegration => types::JobStatus::InvalidIntegration,
        JobStatus::ExternalRunNotFound => types::JobStatus::ExternalRunNotFound,
    }
}
