//! Report: the holder acknowledges a job, says how far it is, or ends it.

use model::{
    access::Caller,
    event::{EventKind, NewEvent},
    id::JobId,
    job::Job,
    job_state::{IllegalTransition, JobState, JobStatus, Lease, LeaseToken},
    time::Timestamp,
};
use serde_json::json;
use store::{Tx, job_result::JobResult};

use crate::{
    Dispatch, Report, ReportError,
    commands::{refuse_stale, required, save},
    event, late,
    lease::{self, Standing},
};

/// What is said of a job that was done although somebody wanted it stopped.
const FINISHED_BEFORE_CANCEL: &str = "finished before cancel";

impl Dispatch {
    /// Takes in what the holder says. Whatever it says of an offer acknowledges it. The same end under the same token
    /// gets the same answer each time; another one is refused. Under a token that does not hold nothing changes, and
    /// what was said is kept.
    pub async fn report(
        &self,
        caller: &Caller,
        id: JobId,
        token: Option<LeaseToken>,
        report: &Report,
        body_hash: [u8; 32],
    ) -> Result<Job, ReportError> {
        let token = required(token)?;
        let mut tx = self.store.write("dispatch.report").await?;
        let job = self.lock_reported(&mut tx, caller, id).await?;
        match lease::standing(&job.state, token) {
            Standing::Holds(lease) => take_in(tx, job, &lease, report, body_hash).await,
            Standing::Ended => reported_again(tx, caller, job, token, report, body_hash).await,
            Standing::Stale => {
                late::keep(&mut tx, caller, &job, token, report, body_hash).await?;
                Err(refuse_stale(tx, &job).await)
            }
        }
    }
}

async fn take_in(
    mut tx: Tx,
    before: Job,
    lease: &Lease,
    report: &Report,
    body_hash: [u8; 32],
) -> Result<Job, ReportError> {
    let now = tx.now();
    let (job, events) = next(&before, lease, report, now)?;
    if job == before {
        // Commits what time did, if it did anything.
        tx.commit().await?;
        return Ok(job);
    }
    let status = job.state.status();
    save(&mut tx, &job, &events).await?;
    if status.is_final() {
        let (token, body) = (lease.token, late::body(report));
        let result = JobResult { token, at: now, accepted: true, status, body_hash, body };
        store::job_result::insert(&mut tx, job.id, &result).await?;
    }
    tx.commit().await?;
    if status.is_final() {
        store::crash_point!("dispatch.result_committed");
    } else if matches!(before.state, JobState::Offered { .. }) {
        store::crash_point!("dispatch.acknowledged");
    }
    Ok(job)
}

/// The job as the report leaves it, and what is to be said of that. Pure.
fn next(
    before: &Job,
    lease: &Lease,
    report: &Report,
    now: Timestamp,
) -> Result<(Job, Vec<NewEvent>), IllegalTransition> {
    let mut job = before.clone();
    let mut events = Vec::new();
    if matches!(job.state, JobState::Offered { .. }) {
        job.state = job.state.acknowledge(now, lease::until(&job, now, now))?;
        job.updated_at = now;
        events.push(event::by_holder(EventKind::JobStarted, lease, &job, json!({ "node": lease.holder })));
    }
    let started = job.clone();
    let cancel_requested = matches!(job.state, JobState::Running { cancel_requested_at: Some(_), .. });
    match report.status {
        None => {}
        Some(JobStatus::InProgress) => job.state = job.state.await_person(false)?,
        Some(JobStatus::ActionRequired) => job.state = job.state.await_person(true)?,
        Some(status) => match status.as_final() {
            Some(end) => job.state = job.state.end(end, now)?,
            None => return Err(IllegalTransition { from: before.state.status(), to: status }),
        },
    }
    if let Some(message) = &report.message {
        job.message.clone_from(message);
    }
    if report.external_id.is_some() {
        job.external_id.clone_from(&report.external_id);
    }
    job.links.extend(report.links.clone().unwrap_or_default());
    let status = job.state.status();
    let before_cancel = cancel_requested && status.is_final() && status != JobStatus::Cancelled;
    if before_cancel {
        job.message = match job.message.as_str() {
            "" => FINISHED_BEFORE_CANCEL.to_owned(),
            message => format!("{message} ({FINISHED_BEFORE_CANCEL})"),
        };
    }
    if job != started {
        job.updated_at = now;
        let kind = if status.is_final() { EventKind::JobEnded } else { EventKind::JobProgressed };
        let mut data = json!({ "node": lease.holder, "message": job.message, "externalId": job.external_id });
        if before_cancel {
            data["finishedBeforeCancel"] = true.into();
        }
        events.push(event::by_holder(kind, lease, &job, data));
    }
    Ok((job, events))
}

/// The job ended under this token: by this very report, by another one, or by something else than a report.
async fn reported_again(
    mut tx: Tx,
    caller: &Caller,
    job: Job,
    token: LeaseToken,
    report: &Report,
    body_hash: [u8; 32],
) -> Result<Job, ReportError> {
    let results = store::job_result::of_job(&mut tx, job.id).await?;
    match results.iter().find(|result| result.accepted) {
        Some(accepted) if accepted.body_hash == body_hash => {
            tx.commit().await?;
            Ok(job)
        }
        Some(accepted) => {
            late::keep(&mut tx, caller, &job, token, report, body_hash).await?;
            tx.commit().await?;
            Err(ReportError::OtherResult(accepted.status))
        }
        None => {
            late::keep(&mut tx, caller, &job, token, report, body_hash).await?;
            Err(refuse_stale(tx, &job).await)
        }
    }
}
