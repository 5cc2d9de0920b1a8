//! Heartbeat: the holder is alive. Renews the lease, and tells whether somebody wants the job stopped.

use model::{
    access::Caller,
    id::JobId,
    job::Job,
    job_state::{JobState, LeaseToken},
    time::Timestamp,
};

use crate::{
    Beat, Dispatch, ReportError,
    commands::{refuse_stale, required},
    lease::{self, Standing},
};

impl Dispatch {
    /// Renews the lease of a running job. An offer is not renewed: it must be acknowledged. No event tells of it.
    pub async fn heartbeat(&self, caller: &Caller, id: JobId, token: Option<LeaseToken>) -> Result<Beat, ReportError> {
        let token = required(token)?;
        let mut tx = self.store.write("dispatch.heartbeat").await?;
        let now = tx.now();
        let mut job = self.lock_reported(&mut tx, caller, id).await?;
        match lease::standing(&job.state, token) {
            Standing::Holds(_) => {}
            Standing::Ended | Standing::Stale => return Err(refuse_stale(tx, &job).await),
        }
        match job.state {
            JobState::Running { started_at, .. } => {
                job.state = job.state.renew(lease::until(&job, started_at, now))?;
                store::job::save(&mut tx, &job).await?;
                tx.commit().await?;
            }
            JobState::Offered { .. }
            | JobState::Pending
            | JobState::Queued { .. }
            | JobState::Triggered { .. }
            | JobState::Ended { .. } => {}
        }
        Ok(beat(&job, now, self.grace_since(now)))
    }
}

fn beat(job: &Job, now: Timestamp, grace_since: Timestamp) -> Beat {
    let (ends_at, cancel) = match &job.state {
        JobState::Running { lease, cancel_requested_at, .. } => {
            (lease::ends_at(job, lease, grace_since), cancel_requested_at.is_some())
        }
        JobState::Offered { lease, .. } => (lease.until, false),
        JobState::Pending | JobState::Queued { .. } | JobState::Triggered { .. } | JobState::Ended { .. } => {
            (now, false)
        }
    };
    Beat { lease_seconds: ends_at.millis_since(now).max(0) / 1000, cancel }
}
