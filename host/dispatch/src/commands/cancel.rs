//! Cancel: a person calls a job off. What nobody works on ends; what runs is asked.

use model::{
    access::Caller,
    event::{Actor, EventKind},
    id::JobId,
    job::Job,
    job_state::JobState,
};
use serde_json::json;

use crate::{CancelError, Dispatch, commands::save, event, lease};

impl Dispatch {
    /// Calls a job off. Asked again of a job that runs, it changes nothing.
    pub async fn cancel(&self, caller: &Caller, id: JobId, reason: &str) -> Result<Job, CancelError> {
        let mut tx = self.store.write("dispatch.cancel").await?;
        let now = tx.now();
        let job = store::claim::lock(&mut tx, caller.workspace, id).await?;
        let mut job = job.ok_or(CancelError::UnknownJob(id))?;
        if let Some(event) = lease::settle(&mut job, now, self.grace_since(now)) {
            save(&mut tx, &job, &[event]).await?;
        }
        let next = match job.state.cancel(now) {
            Ok(next) => next,
            Err(illegal) => {
                tx.commit().await?;
                return Err(illegal.into());
            }
        };
        if next != job.state {
            let kind = match next {
                JobState::Ended { .. } => EventKind::JobEnded,
                JobState::Pending
                | JobState::Queued { .. }
                | JobState::Offered { .. }
                | JobState::Triggered { .. }
                | JobState::Running { .. } => EventKind::JobCancelRequested,
            };
            job.state = next;
            job.message = reason.to_owned();
            job.updated_at = now;
            let actor = Actor::User(caller.user.clone());
            let event = event::about(kind, actor, &job, json!({ "message": reason }));
            save(&mut tx, &job, &[event]).await?;
        }
        tx.commit().await?;
        Ok(job)
    }
}
