//! The planning loop: claims what is due, plans it, sleeps until something changes or a timer comes.
//!
//! A signal carries nothing and may be lost: the loop looks again by period, and what is due is rows. It registers
//! for the signal before it looks, so that nothing falls between.

use std::time::Duration;

use model::time::Timestamp;
use store::StoreError;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{Engine, pass::Passed};

/// Looks at least this often, whatever was signalled.
const PERIOD: Duration = Duration::from_secs(2);
/// Waits this long after the database failed.
const BACKOFF: Duration = Duration::from_millis(500);
/// Deployments claimed at once.
const CLAIMS_MAX: u32 = 8;
/// A claim that its holder has not finished by then may be taken over.
const CLAIM_SECONDS: i64 = 60;

impl Engine {
    /// Plans until `shutdown`. The pass in hand is finished first.
    pub async fn run(&self, shutdown: CancellationToken) {
        let mut signal = self.store.signals().planning();
        while !shutdown.is_cancelled() {
            signal.mark_unchanged();
            match self.work_off().await {
                Ok(Some(sleep_for)) => {
                    let woken = async {
                        // A closed channel means that the store is gone; the period then paces the loop.
                        if signal.changed().await.is_err() {
                            sleep(PERIOD).await;
                        }
                    };
                    tokio::select! {
                        _ = timeout(sleep_for, woken) => {}
                        () = shutdown.cancelled() => {}
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "planning could not go on; trying again");
                    tokio::select! { () = sleep(BACKOFF) => {}, () = shutdown.cancelled() => {} }
                }
            }
        }
    }

    /// Plans what is due now; how long nothing will be due, or nothing when there may be more at once.
    async fn work_off(&self) -> Result<Option<Duration>, StoreError> {
        let mut tx = self.store.read("engine.due").await?;
        let now = tx.now();
        let due_at = store::planning::next_due_at(&mut tx).await?;
        drop(tx);
        match due_at {
            None => return Ok(Some(PERIOD)),
            Some(at) if at > now => {
                let millis = u64::try_from(at.millis_since(now)).unwrap_or(0);
                return Ok(Some(PERIOD.min(Duration::from_millis(millis))));
            }
            Some(_) => {}
        }
        let mut tx = self.store.write("engine.claim").await?;
        let claims = store::planning::claim_due(&mut tx, CLAIMS_MAX, CLAIM_SECONDS).await?;
        tx.commit().await?;
        if claims.is_empty() {
            // What is due is claimed by somebody else; its claim may lapse.
            return Ok(Some(BACKOFF));
        }
        let mut passes = JoinSet::new();
        for claim in claims {
            let engine = self.clone();
            passes.spawn(async move { (claim, engine.pass(&claim).await) });
        }
        let mut failed = None;
        while let Some(joined) = passes.join_next().await {
            match joined {
                Ok((_, Ok(Passed::Committed))) => {}
                Ok((claim, Ok(Passed::Stale))) => {
                    tracing::debug!(deployment = %claim.deployment, "a fact changed during the pass; planning again");
                }
                Ok((claim, Err(error))) => {
                    tracing::warn!(deployment = %claim.deployment, %error, "a pass failed");
                    failed = Some(error);
                    // As good as can be: if the database is away for this too, the claim lapses.
                    drop(self.abandon(&claim).await);
                }
                // One deployment that cannot be planned holds no other up; it is tried again when its claim lapses.
                Err(panic) => tracing::error!(%panic, "a pass broke off"),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Plans what is due at the present instant, one deployment after the other, until nothing is: what tests and
    /// simulations do in place of [`Engine::run`], since its order is always the same.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn settle(&self) -> Result<(), StoreError> {
        loop {
            let mut tx = self.store.write("engine.claim").await?;
            let claims = store::planning::claim_due(&mut tx, 1, CLAIM_SECONDS).await?;
            tx.commit().await?;
            let Some(claim) = claims.first() else { return Ok(()) };
            self.pass(claim).await?;
        }
    }

    /// When time alone makes planning due next; an instant in the past when it is due now.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn next_due_at(&self) -> Result<Option<Timestamp>, StoreError> {
        let mut tx = self.store.read("engine.due").await?;
        store::planning::next_due_at(&mut tx).await
    }
}
