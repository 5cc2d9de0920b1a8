//! The long poll: an agent asks for jobs and waits until there are some. It holds no connection while it waits.

use std::time::Duration;

use model::{
    access::Caller,
    id::JobAgentId,
    limits::{CLAIM_MAX, POLL_SECONDS_MAX},
};
use tokio::time::{Instant, sleep};

use crate::{ClaimError, Dispatch, Offer};

/// A waiter looks at least this often: a wake-up may be lost, or come from another replica.
const PERIOD: Duration = Duration::from_secs(5);

impl Dispatch {
    /// Claims up to `max` jobs of an agent for a node; waits up to `wait` for the first.
    pub async fn next(
        &self,
        caller: &Caller,
        agent: JobAgentId,
        node: &str,
        max: u32,
        wait: Duration,
    ) -> Result<Vec<Offer>, ClaimError> {
        self.check_agent(caller, agent).await?;
        let max = max.clamp(1, CLAIM_MAX);
        let end = Instant::now() + wait.min(Duration::from_secs(POLL_SECONDS_MAX));
        let signal = self.store.signals().jobs(agent);
        loop {
            // Registered before it looks: a job that comes in between wakes this waiter or another, never nobody.
            let mut woken = std::pin::pin!(signal.notified());
            woken.as_mut().enable();
            let offers = self.offer(caller.workspace, agent, node, max).await?;
            let left = end.saturating_duration_since(Instant::now());
            if !offers.is_empty() || left.is_zero() {
                return Ok(offers);
            }
            tokio::select! {
                () = woken => {}
                () = sleep(left.min(PERIOD)) => {}
            }
        }
    }

    /// The agent must be in the caller's workspace, and the caller's own if its key is for one.
    pub(crate) async fn check_agent(&self, caller: &Caller, agent: JobAgentId) -> Result<(), ClaimError> {
        let mut tx = self.store.read("dispatch.check_agent").await?;
        if store::job_agent::get(&mut tx, caller.workspace, agent).await?.is_none() {
            return Err(ClaimError::UnknownAgent(agent));
        }
        match caller.agent {
            Some(own) if own != agent => Err(ClaimError::OtherAgent(own)),
            Some(_) | None => Ok(()),
        }
    }
}
