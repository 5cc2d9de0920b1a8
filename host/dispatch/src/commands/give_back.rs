//! Give back: a node that was offered a job and has not begun returns it, at no cost of an attempt.

use model::{
    access::Caller,
    event::Actor,
    id::JobId,
    job::Job,
    job_state::{IllegalTransition, JobState, JobStatus, LeaseToken},
};

use crate::{
    Dispatch, ReportError,
    commands::{refuse_stale, required, save},
    lease::{self, Standing},
};

impl Dispatch {
    /// Returns an offered job to its queue.
    pub async fn give_back(&self, caller: &Caller, id: JobId, token: Option<LeaseToken>) -> Result<Job, ReportError> {
        let token = required(token)?;
        let mut tx = self.store.write("dispatch.give_back").await?;
        let now = tx.now();
        let mut job = self.lock_reported(&mut tx, caller, id).await?;
        let lease = match lease::standing(&job.state, token) {
            Standing::Holds(lease) => lease,
            Standing::Ended | Standing::Stale => return Err(refuse_stale(tx, &job).await),
        };
        let from = job.state.status();
        match job.state {
            JobState::Offered { .. } => {
                let actor = Actor::Node(lease.holder.clone());
                let event = lease::give_back(&mut job, &lease, "given_back", actor, now);
                save(&mut tx, &job, event.as_slice()).await?;
                tx.commit().await?;
                Ok(job)
            }
            JobState::Running { .. }
            | JobState::Pending
            | JobState::Queued { .. }
            | JobState::Triggered { .. }
            | JobState::Ended { .. } => Err(IllegalTransition { from, to: JobStatus::Queued }.into()),
        }
    }
}
