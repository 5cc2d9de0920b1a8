//! Claim: a node takes the one job it names (the second step after listing queued ones).

use model::{
    access::Caller,
    id::{JobAgentId, JobId},
    job_state::JobState,
};

use crate::{ClaimError, Dispatch, Offer, commands::offer::hand_out, commands::save, late, lease};

impl Dispatch {
    /// Claims one job of an agent for a node: once, however many try.
    pub async fn claim(&self, caller: &Caller, agent: JobAgentId, id: JobId, node: &str) -> Result<Offer, ClaimError> {
        self.check_agent(caller, agent).await?;
        let mut tx = self.store.write("dispatch.claim").await?;
        let now = tx.now();
        let job = store::claim::lock(&mut tx, caller.workspace, id).await?;
        let mut job = job.filter(|job| job.agent == agent).ok_or(ClaimError::UnknownJob(id))?;
        if let Some(event) = lease::settle(&mut job, now, self.grace_since(now)) {
            save(&mut tx, &job, &[event]).await?;
        }
        match job.state {
            JobState::Queued { .. } if job.available_at > now => Err(ClaimError::NotYet(job.available_at)),
            JobState::Queued { .. } => {
                let mut offers = hand_out(&mut tx, caller.workspace, node, vec![job]).await?;
                tx.commit().await?;
                store::crash_point!("dispatch.claimed");
                offers.pop().ok_or(ClaimError::UnknownJob(id))
            }
            JobState::Pending
            | JobState::Offered { .. }
            | JobState::Triggered { .. }
            | JobState::Running { .. }
            | JobState::Ended { .. } => {
                let holder = late::present_holder(&mut tx, &job).await?;
                tx.commit().await?;
                Err(ClaimError::NotFree { status: job.state.status(), holder })
            }
        }
    }
}
