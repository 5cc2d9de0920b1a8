//! What time alone does: offers lapse, leases and deadlines end, jobs become available.

use std::{collections::BTreeSet, time::Duration};

use model::time::Timestamp;
use store::{
    StoreError, claim,
    planning::{self, Mark},
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{Dispatch, lease};

/// Looks at least this often.
const PERIOD: Duration = Duration::from_secs(1);
/// And not more often: what is due may be in another replica's hands.
const PAUSE_MIN: Duration = Duration::from_millis(20);
/// Jobs of one transaction; writers wait while it runs.
const BATCH: u32 = 200;

impl Dispatch {
    /// Sweeps until `shutdown`, by period and when something is due.
    pub async fn run(&self, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            let pause = match self.sweep().await {
                Ok((now, Some(due))) => {
                    let millis = u64::try_from(due.millis_since(now)).unwrap_or(0);
                    Duration::from_millis(millis).clamp(PAUSE_MIN, PERIOD)
                }
                Ok((_, None)) => PERIOD,
                Err(error) => {
                    // Heartbeats may not have reached the database either.
                    self.grace().lost();
                    tracing::warn!(error = &error as &dyn std::error::Error, "leases could not be looked at");
                    PERIOD
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// Does what is due; gives the instant it looked at and when something is due next.
    pub async fn sweep(&self) -> Result<(Timestamp, Option<Timestamp>), StoreError> {
        loop {
            let mut tx = self.store.read("dispatch.look").await?;
            let now = tx.now();
            let grace_since = self.grace_since(now);
            let since = self.grace().woken_until.unwrap_or(now);
            for (agent, jobs) in claim::became_available(&mut tx, since).await? {
                (0..jobs).for_each(|_| tx.wake_for_job(agent));
            }
            let due = claim::next_due_at(&mut tx, grace_since).await?;
            tx.commit().await?;
            self.grace().woken_until = Some(now);
            if due.is_none_or(|due| due > now) || !self.sweep_batch().await? {
                return Ok((now, due));
            }
        }
    }

    /// Whether anything changed.
    async fn sweep_batch(&self) -> Result<bool, StoreError> {
        let mut tx = self.store.write("dispatch.sweep").await?;
        let now = tx.now();
        let grace_since = self.grace_since(now);
        let mut changed = Vec::new();
        let mut deployments = BTreeSet::new();
        for mut job in claim::lapsed(&mut tx, grace_since, BATCH).await? {
            let Some(event) = lease::settle(&mut job, now, grace_since) else { continue };
            store::event::append(&mut tx, job.workspace, event).await?;
            if !job.state.status().is_final() {
                tx.wake_for_job(job.agent);
            }
            deployments.insert(job.target.deployment);
            changed.push(job);
        }
        store::job::save_all(&mut tx, &changed.iter().collect::<Vec<_>>()).await?;
        for deployment in deployments {
            planning::mark(&mut tx, deployment, Mark::Progress).await?;
        }
        tx.commit().await?;
        Ok(!changed.is_empty())
    }
}
