//! Jobs for agents: which may be handed out, which leases have ended, and the tokens of new ones. Whether and how a
//! job changes is dispatch's to say; this locks what it is given, so that nobody else hands out the same.
//!
//! The engines differ here and in nothing else: SQLite's one writer needs no row locks, PostgreSQL's many lock rows
//! and skip those that another one is at.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::collections::BTreeMap;

use model::{
    id::{JobAgentId, JobId, WorkspaceId},
    job::Job,
    job_state::LeaseToken,
    release_target::TargetKey,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    job::Row,
    release_target,
    row::instant,
    tx::{Inner, all, one},
};

const BECAME_AVAILABLE: &str = "-- claim.became_available
SELECT agent_id, COUNT(*) AS jobs FROM jobs
WHERE status = 'queued' AND lease_token IS NULL AND available_at > $1 AND available_at <= $2
GROUP BY agent_id ORDER BY agent_id";
const NEXT_AVAILABLE: &str = "-- claim.next_available
SELECT MIN(available_at) AS at FROM jobs WHERE status = 'queued' AND lease_token IS NULL AND available_at > $1";
// A running job's lease does not end within one lease length after `$1`; an offer costs nothing and may.
const NEXT_LAPSE: &str = "-- claim.next_lapse
SELECT MIN(CASE WHEN status <> 'queued' AND $1 + lease_seconds * 1000 > lease_until
  THEN $1 + lease_seconds * 1000 ELSE lease_until END) AS at
FROM jobs WHERE ended_at IS NULL AND lease_token IS NOT NULL";
const WAITING: &str = "-- claim.waiting
SELECT id FROM jobs
WHERE agent_id = $1 AND status = 'queued' AND lease_token IS NULL AND available_at <= $2 LIMIT 1";
pub(crate) const ALL: &[&str] = &[BECAME_AVAILABLE, NEXT_AVAILABLE, NEXT_LAPSE, WAITING];

/// Whether the agent may be offered anything now; a look that locks nothing.
pub async fn is_waiting(tx: &mut Tx, agent: JobAgentId) -> Result<bool, StoreError> {
    let now = tx.now().as_millis();
    Ok(one!(tx, crate::row::Id, WAITING, agent.0, now)?.is_some())
}

/// Up to `max` jobs that the agent may be offered now: by when they became available, then priority, then id.
pub async fn pick(tx: &mut Tx, agent: JobAgentId, max: u32) -> Result<Vec<Job>, StoreError> {
    let (now, max) = (tx.now().as_millis(), i64::from(max));
    let rows = match tx.inner {
        Inner::Sqlite(_) => all!(tx, Row, sqlite::PICK, agent.0, now, max),
        Inner::Postgres(_) => all!(tx, Row, postgres::PICK, agent.0, now, max),
    }?;
    rows.into_iter().map(Job::try_from).collect()
}

/// The job with this id, which nobody else changes until this transaction ends.
pub async fn lock(tx: &mut Tx, workspace: WorkspaceId, id: JobId) -> Result<Option<Job>, StoreError> {
    let row = match tx.inner {
        Inner::Sqlite(_) => one!(tx, Row, sqlite::LOCK, workspace.0, id.0),
        Inner::Postgres(_) => one!(tx, Row, postgres::LOCK, workspace.0, id.0),
    }?;
    row.map(Job::try_from).transpose()
}

/// Those of the jobs that are there, locked like [`lock`] does.
pub(crate) async fn lock_all(tx: &mut Tx, workspace: WorkspaceId, ids: &[JobId]) -> Result<Vec<Job>, StoreError> {
    let rows = match tx.inner {
        Inner::Sqlite(_) => crate::many::all_many!(tx, Row, sqlite::LOCK_ALL, [workspace.0], ids, |id| [id.0]),
        Inner::Postgres(_) => crate::many::all_many!(tx, Row, postgres::LOCK_ALL, [workspace.0], ids, |id| [id.0]),
    };
    rows.into_iter().map(Job::try_from).collect()
}

/// Up to `limit` jobs of any workspace whose lease has ended by now. No lease of a running job ends within one lease
/// length after `grace_since`.
pub async fn lapsed(tx: &mut Tx, grace_since: Timestamp, limit: u32) -> Result<Vec<Job>, StoreError> {
    let (now, since, limit) = (tx.now().as_millis(), grace_since.as_millis(), i64::from(limit));
    let rows = match tx.inner {
        Inner::Sqlite(_) => all!(tx, Row, sqlite::LAPSED, now, since, limit),
        Inner::Postgres(_) => all!(tx, Row, postgres::LAPSED, now, since, limit),
    }?;
    rows.into_iter().map(Job::try_from).collect()
}

/// New tokens, one for each target given, in their order; a target that is given twice gets two.
pub async fn tokens(tx: &mut Tx, workspace: WorkspaceId, targets: &[TargetKey]) -> Result<Vec<LeaseToken>, StoreError> {
    let mut wanted: BTreeMap<TargetKey, i64> = BTreeMap::new();
    for target in targets {
        *wanted.entry(*target).or_default() += 1;
    }
    let wanted: Vec<(TargetKey, i64)> = wanted.into_iter().collect();
    let last = release_target::take_tokens(tx, workspace, &wanted).await?;
    let mut last: BTreeMap<TargetKey, i64> = last.into_iter().map(|(key, token)| (key, token.0)).collect();
    let mut tokens = Vec::with_capacity(targets.len());
    // From the back, so that tokens rise in the order of the targets.
    for target in targets.iter().rev() {
        let Some(token) = last.get_mut(target) else {
            return Err(StoreError::Missing { table: "release_targets", id: target.to_string() });
        };
        tokens.push(LeaseToken(*token));
        *token -= 1;
    }
    tokens.reverse();
    Ok(tokens)
}

/// How many jobs of which agents became available after `since`, by time alone.
pub async fn became_available(tx: &mut Tx, since: Timestamp) -> Result<Vec<(JobAgentId, u32)>, StoreError> {
    let now = tx.now().as_millis();
    let rows = all!(tx, Available, BECAME_AVAILABLE, since.as_millis(), now)?;
    Ok(rows.into_iter().map(|row| (row.agent_id.into(), u32::try_from(row.jobs).unwrap_or(u32::MAX))).collect())
}

/// When time alone makes a job available, or ends a lease.
pub async fn next_due_at(tx: &mut Tx, grace_since: Timestamp) -> Result<Option<Timestamp>, StoreError> {
    let now = tx.now().as_millis();
    let available = one!(tx, At, NEXT_AVAILABLE, now)?.and_then(|row| instant(row.at));
    let lapse = one!(tx, At, NEXT_LAPSE, grace_since.as_millis())?.and_then(|row| instant(row.at));
    Ok(model::time::earliest(available, lapse))
}

#[derive(FromRow)]
struct At {
    at: Option<i64>,
}

#[derive(FromRow)]
struct Available {
    agent_id: Uuid,
    jobs: i64,
}
