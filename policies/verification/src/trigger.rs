//! When a verification begins.

use tidegate_policy::{Job, JobStatus, Timestamp};

use crate::config::TriggerOn;

/// Whether a job has set a verification going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It has, then.
    At(Timestamp),
    /// Not yet.
    Later,
    /// It ended another way.
    Never,
}

/// When the job set it going.
#[must_use]
pub fn start(trigger: TriggerOn, job: &Job) -> Start {
    let ended_at = job.completed_at.unwrap_or(job.created_at);
    match (trigger, phase(job.status)) {
        (TriggerOn::JobCreated, _) => Start::At(job.created_at),
        (TriggerOn::JobStarted, phase) => match (job.started_at, phase) {
            (Some(started_at), _) => Start::At(started_at),
            // An agent that reports the end alone has begun, too.
            (None, Phase::Succeeded) => Start::At(ended_at),
            (None, Phase::Waiting | Phase::Running) => Start::Later,
            (None, Phase::Failed | Phase::Withdrawn) => Start::Never,
        },
        (TriggerOn::JobSuccess, Phase::Succeeded) | (TriggerOn::JobFailure, Phase::Failed) => Start::At(ended_at),
        (TriggerOn::JobSuccess | TriggerOn::JobFailure, Phase::Waiting | Phase::Running) => Start::Later,
        (TriggerOn::JobSuccess, Phase::Failed | Phase::Withdrawn)
        | (TriggerOn::JobFailure, Phase::Succeeded | Phase::Withdrawn) => Start::Never,
    }
}

enum Phase {
    Waiting,
    Running,
    Succeeded,
    Failed,
    Withdrawn,
}

fn phase(status: JobStatus) -> Phase {
    match status {
        JobStatus::Pending | JobStatus::Queued => Phase::Waiting,
        JobStatus::Triggered | JobStatus::InProgress | JobStatus::ActionRequired => Phase::Running,
        JobStatus::Completed => Phase::Succeeded,
        JobStatus::Failed
        | JobStatus::InvalidJobAgent
        | JobStatus::InvalidIntegration
        | JobStatus::ExternalRunNotFound => Phase::Failed,
        JobStatus::Cancelled | JobStatus::Skipped => Phase::Withdrawn,
    }
}

#[cfg(test)]
mod tests {
    use tidegate_policy::JobKind;

    use super::*;

    #[test]
    fn each_trigger_by_each_status() {
        use JobStatus::{Cancelled, Completed, Failed, InProgress, InvalidJobAgent, Queued, Skipped};
        use TriggerOn::{JobCreated, JobFailure, JobStarted, JobSuccess};
        let check = |trigger, status, started_at, expect| {
            let job = Job {
                id: "j".into(),
                kind: JobKind::Deploy,
                version_id: "v".into(),
                status,
                attempt: 1,
                created_at: 100,
                started_at,
                completed_at: matches!(status, Completed | Failed | Cancelled | InvalidJobAgent).then_some(300),
                message: String::new(),
            };
            assert_eq!(start(trigger, &job), expect, "{trigger:?} {status:?} {started_at:?}");
        };
        check(JobCreated, Queued, None, Start::At(100));
        check(JobCreated, Failed, Some(200), Start::At(100));
        check(JobStarted, Queued, None, Start::Later);
        check(JobStarted, InProgress, Some(200), Start::At(200));
        check(JobStarted, Completed, Some(200), Start::At(200));
        check(JobStarted, Completed, None, Start::At(300));
        check(JobStarted, InvalidJobAgent, None, Start::Never);
        check(JobSuccess, InProgress, Some(200), Start::Later);
        check(JobSuccess, Completed, Some(200), Start::At(300));
        check(JobSuccess, Failed, Some(200), Start::Never);
        check(JobSuccess, Cancelled, None, Start::Never);
        check(JobFailure, InProgress, Some(200), Start::Later);
        check(JobFailure, Failed, Some(200), Start::At(300));
        check(JobFailure, InvalidJobAgent, None, Start::At(300));
        check(JobFailure, Completed, Some(200), Start::Never);
        check(JobFailure, Skipped, None, Start::Never);
    }
}
