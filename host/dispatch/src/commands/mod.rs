//! One file per command. Each locks the job, lets time have its way with it first, and answers for every state that
//! it may then be in.

mod cancel;
mod claim;
mod give_back;
mod heartbeat;
mod offer;
mod report;

use model::{
    access::Caller,
    event::NewEvent,
    id::JobId,
    job::Job,
    job_state::{JobState, LeaseToken},
};
use store::{
    StoreError, Tx,
    planning::{self, Mark},
};

use crate::{Dispatch, ReportError, late, lease};

/// Writes a job that changed, with what is to be said of it, and has its deployment planned.
async fn save(tx: &mut Tx, job: &Job, events: &[NewEvent]) -> Result<(), StoreError> {
    store::job::save(tx, job).await?;
    store::event::append_all(tx, job.workspace, events).await?;
    if matches!(job.state, JobState::Queued { .. }) && job.available_at <= tx.now() {
        tx.wake_for_job(job.agent);
    }
    planning::mark(tx, job.target.deployment, Mark::Progress).await
}

impl Dispatch {
    /// The job that a holder speaks of, locked, after time had its way; that way is written already.
    async fn lock_reported(&self, tx: &mut Tx, caller: &Caller, id: JobId) -> Result<Job, ReportError> {
        let job = store::claim::lock(tx, caller.workspace, id).await?;
        let mut job = job.ok_or(ReportError::UnknownJob(id))?;
        if let Some(own) = caller.agent
            && own != job.agent
        {
            return Err(ReportError::OtherAgent(own));
        }
        let now = tx.now();
        if let Some(event) = lease::settle(&mut job, now, self.grace_since(now)) {
            save(tx, &job, &[event]).await?;
        }
        Ok(job)
    }
}

/// The answer to whoever has a token that does not hold. Commits: what time did stays done.
async fn refuse_stale(mut tx: Tx, job: &Job) -> ReportError {
    let holder = match late::present_holder(&mut tx, job).await {
        Ok(holder) => holder,
        Err(error) => return error.into(),
    };
    match tx.commit().await {
        Ok(()) => ReportError::StaleLease { status: job.state.status(), holder },
        Err(error) => error.into(),
    }
}

/// Whoever speaks of a job shows its token.
fn required(token: Option<LeaseToken>) -> Result<LeaseToken, ReportError> {
    token.ok_or(ReportError::TokenRequired)
}
