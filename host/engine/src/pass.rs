//! One pass over one deployment: claimed work in, a committed plan out.

use model::plan::Plan;
use store::{StoreError, planning::Claim};

use crate::Engine;

/// How a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    /// Its plan is committed.
    Committed,
    /// A fact changed meanwhile, or another replica has the work: nothing was written, and the work is still due.
    Stale,
}

impl Engine {
    /// Plans the claimed deployment and commits the plan, unless what it was made from no longer holds.
    pub(crate) async fn pass(&self, claim: &Claim) -> Result<Passed, StoreError> {
        let mut tx = self.store.read("engine.snapshot").await?;
        let now = tx.now();
        let seed = seed(tx.new_id());
        let snapshot = store::snapshot::load(&mut tx, claim.workspace, claim.deployment).await?;
        drop(tx);
        store::crash_point!("engine.snapshot_read");
        let plan = match snapshot {
            // The deployment is gone: nothing to plan, and nothing to plan it again for.
            None => Plan::default(),
            Some(snapshot) => {
                let checked = cfg!(debug_assertions).then(|| snapshot.clone());
                let outcome = self.converse(snapshot, now, seed).await;
                if let Some(snapshot) = checked {
                    let broken = planner::check::plan(&snapshot, &outcome);
                    assert!(broken.is_empty(), "a plan breaks its own rules: {broken:#?}");
                }
                for warning in &outcome.report.warnings {
                    tracing::warn!(deployment = %claim.deployment, "{warning}");
                }
                outcome.plan
            }
        };
        self.commit(claim, &plan).await
    }

    async fn commit(&self, claim: &Claim, plan: &Plan) -> Result<Passed, StoreError> {
        let mut tx = self.store.write("engine.apply").await?;
        store::plan::apply(&mut tx, claim.workspace, plan).await?;
        // Last, so that rows are locked in the order in which dispatch locks them: jobs, then planning.
        if !store::planning::finish(&mut tx, claim, plan.next_evaluation, plan.looks_at_dependencies).await? {
            drop(tx);
            self.abandon(claim).await?;
            return Ok(Passed::Stale);
        }
        store::crash_point!("engine.before_commit");
        tx.commit().await?;
        store::crash_point!("engine.committed");
        Ok(Passed::Committed)
    }

    /// Gives the work back, so that it is planned again at once.
    pub(crate) async fn abandon(&self, claim: &Claim) -> Result<(), StoreError> {
        let mut tx = self.store.write("engine.abandon").await?;
        store::planning::abandon(&mut tx, claim).await?;
        tx.commit().await
    }
}

/// A pass's seed: an id's random half, so that no two passes make the same ids.
pub(crate) fn seed(id: model::id::Uuid) -> u64 {
    id.as_u64_pair().1 ^ id.as_u64_pair().0
}
