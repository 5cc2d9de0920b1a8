//! Planning work: one row per deployment, claimed by whoever plans it.
//!
//! Whatever changes a fact marks the row in its own transaction. A pass claims the row, reads its snapshot, plans,
//! and in the transaction that applies the plan calls [`finish`], last. That fails when another took the claim over
//! or a fact moved that the plan must not be stale to; then the pass drops its transaction and calls [`abandon`].

use model::{
    id::{DeploymentId, WorkspaceId},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    row::{instant, millis},
    tx::{all, one, run},
};

const ENSURE: &str = "-- planning.ensure
INSERT INTO planning (deployment_id, workspace_id, generation, facts, planned) VALUES ($1, $2, 1, 1, 0)
ON CONFLICT (deployment_id) DO NOTHING";
const MARK: &str = "-- planning.mark
UPDATE planning SET generation = generation + 1, facts = facts + $2 WHERE deployment_id = $1";
const MARK_WORKSPACE: &str = "-- planning.mark_workspace
UPDATE planning SET generation = generation + 1, facts = facts + $2 WHERE workspace_id = $1";
// The planned row is in it too, so that two passes that mark each other lock rows in one order.
const MARK_DEPENDENTS: &str = "-- planning.mark_dependents
UPDATE planning SET generation = generation + CASE WHEN deployment_id = $2 THEN 0 ELSE 1 END
WHERE workspace_id = $1 AND (looks_at_dependencies OR deployment_id = $2)";
// The outer conditions stand again because PostgreSQL looks at them anew when it had to wait for a row.
const CLAIM: &str = "-- planning.claim_due
UPDATE planning SET claim_token = claim_token + 1, claimed_until = $2
WHERE deployment_id IN (
    SELECT deployment_id FROM planning
    WHERE (planned < generation OR next_at <= $1) AND (claimed_until IS NULL OR claimed_until <= $1)
    ORDER BY COALESCE(claimed_until, 0), deployment_id LIMIT $3)
  AND (planned < generation OR next_at <= $1) AND (claimed_until IS NULL OR claimed_until <= $1)
RETURNING workspace_id, deployment_id, claim_token, generation, facts";
// claimed_until becomes now, not null: who was planned longest ago is claimed first. Whoever begins to look at other
// deployments is due once more: what they run may have changed since the snapshot, when nobody marked this one for it.
const FINISH: &str = "-- planning.finish
UPDATE planning SET planned = $4, next_at = $5, claimed_until = $6,
  generation = generation + CASE WHEN $7 AND NOT looks_at_dependencies THEN 1 ELSE 0 END, looks_at_dependencies = $7
WHERE deployment_id = $1 AND claim_token = $2 AND facts = $3";
const ABANDON: &str = "-- planning.abandon
UPDATE planning SET claimed_until = $3 WHERE deployment_id = $1 AND claim_token = $2";
// Of a process that died; only where no other can hold one.
const RELEASE_ALL: &str = "-- planning.release_all
UPDATE planning SET claimed_until = NULL WHERE claimed_until IS NOT NULL";
const NEXT_DUE: &str = "-- planning.next_due_at
SELECT MIN(CASE
    WHEN planned >= generation AND (claimed_until IS NULL OR claimed_until <= next_at) THEN next_at
    WHEN planned < generation OR next_at IS NOT NULL THEN COALESCE(claimed_until, 0)
  END) AS at
FROM planning WHERE planned < generation OR next_at IS NOT NULL";
pub(crate) const ALL: &[&str] =
    &[ENSURE, MARK, MARK_WORKSPACE, MARK_DEPENDENTS, CLAIM, FINISH, ABANDON, RELEASE_ALL, NEXT_DUE];

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Something a plan must not be stale to: versions, approvals, policies, plugins, selectors, what they look at.
    Facts,
    /// How far jobs are: the next pass sees it, a pass under way may finish.
    Progress,
}

/// One deployment that this caller alone plans, until the claim runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Of which tenant.
    pub workspace: WorkspaceId,
    /// What to plan.
    pub deployment: DeploymentId,
    /// The fence.
    pub token: i64,
    /// Changes that the pass will have seen.
    pub generation: i64,
    /// Facts that must not move until it is applied.
    pub facts: i64,
}

/// A deployment's row, due at once.
pub async fn ensure(tx: &mut Tx, workspace: WorkspaceId, deployment: DeploymentId) -> Result<(), StoreError> {
    run!(tx, ENSURE, deployment.0, workspace.0)?;
    tx.pending.planning = true;
    Ok(())
}

/// Something of this deployment changed.
pub async fn mark(tx: &mut Tx, deployment: DeploymentId, mark: Mark) -> Result<(), StoreError> {
    run!(tx, MARK, deployment.0, mark.facts())?;
    tx.pending.planning = true;
    Ok(())
}

/// Something changed that any deployment of the workspace may depend on.
pub async fn mark_workspace(tx: &mut Tx, workspace: WorkspaceId, mark: Mark) -> Result<(), StoreError> {
    run!(tx, MARK_WORKSPACE, workspace.0, mark.facts())?;
    tx.pending.planning = true;
    Ok(())
}

/// What this deployment runs changed: for those that look at others, that is progress.
pub(crate) async fn mark_dependents(
    tx: &mut Tx,
    workspace: WorkspaceId,
    deployment: DeploymentId,
) -> Result<(), StoreError> {
    run!(tx, MARK_DEPENDENTS, workspace.0, deployment.0)?;
    tx.pending.planning = true;
    Ok(())
}

/// Takes over what is due, longest unplanned first.
pub async fn claim_due(tx: &mut Tx, limit: u32, claim_seconds: i64) -> Result<Vec<Claim>, StoreError> {
    let (now, until) = (tx.now(), tx.now().plus_seconds(claim_seconds));
    let rows = all!(tx, Row, CLAIM, now.as_millis(), until.as_millis(), i64::from(limit))?;
    Ok(rows.into_iter().map(Claim::from).collect())
}

/// The pass is applied and everything up to its generation seen. False when the claim was taken over or facts
/// moved: then nothing of the pass may be committed.
pub async fn finish(
    tx: &mut Tx,
    claim: &Claim,
    next_at: Option<Timestamp>,
    looks_at_dependencies: bool,
) -> Result<bool, StoreError> {
    let Claim { deployment, token, generation, facts, workspace: _ } = *claim;
    let now = tx.now().as_millis();
    let next_at = millis(next_at);
    let looks = looks_at_dependencies;
    let changed = run!(tx, FINISH, deployment.0, token, facts, generation, next_at, now, looks)?;
    // Marked again in the meantime, or by the plan itself: somebody should look at once.
    tx.pending.planning = true;
    Ok(changed == 1)
}

/// Gives a claim up, so that others need not wait for its end.
pub async fn abandon(tx: &mut Tx, claim: &Claim) -> Result<(), StoreError> {
    let now = tx.now().as_millis();
    run!(tx, ABANDON, claim.deployment.0, claim.token, now)?;
    tx.pending.planning = true;
    Ok(())
}

/// Gives every claim up. For the start of a database that one process alone may open: whoever held one is gone.
pub(crate) async fn release_all(tx: &mut Tx) -> Result<(), StoreError> {
    run!(tx, RELEASE_ALL)?;
    Ok(())
}

/// When there is work next, by time alone; an instant in the past when there is some now.
pub async fn next_due_at(tx: &mut Tx) -> Result<Option<Timestamp>, StoreError> {
    Ok(one!(tx, Due, NEXT_DUE)?.and_then(|row| instant(row.at)))
}

impl Mark {
    const fn facts(self) -> i64 {
        match self {
            Self::Facts => 1,
            Self::Progress => 0,
        }
    }
}

#[derive(FromRow)]
struct Due {
    at: Option<i64>,
}

#[derive(FromRow)]
struct Row {
    workspace_id: Uuid,
    deployment_id: Uuid,
    claim_token: i64,
    generation: i64,
    facts: i64,
}

impl From<Row> for Claim {
    fn from(row: Row) -> Self {
        Self {
            workspace: row.workspace_id.into(),
            deployment: row.deployment_id.into(),
            token: row.claim_token,
            generation: row.generation,
            facts: row.facts,
        }
    }
}
