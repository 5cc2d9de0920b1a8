//! Claims on PostgreSQL: row locks. Claimers and sweepers skip what another one is at; whoever asks for one job
//! waits for it.

use crate::{job::select, many::Many};

pub(crate) const PICK: &str = select!(
    "pick",
    "WHERE j.agent_id = $1 AND j.status = 'queued' AND j.lease_token IS NULL AND j.available_at <= $2
ORDER BY j.available_at, j.priority DESC, j.id LIMIT $3 FOR UPDATE SKIP LOCKED"
);
pub(crate) const LOCK: &str = select!("lock", "WHERE j.workspace_id = $1 AND j.id = $2 FOR UPDATE");
pub(crate) const LOCK_ALL: Many = Many {
    sql: select!("lock_all", "WHERE j.workspace_id = $1 AND j.id IN ("),
    fixed: 1,
    columns: 1,
    tail: ") ORDER BY j.id FOR UPDATE",
};
pub(crate) const LAPSED: &str = select!(
    "lapsed",
    "WHERE j.ended_at IS NULL AND j.lease_token IS NOT NULL AND j.lease_until <= $1
  AND (j.status = 'queued' OR $2 + j.lease_seconds * 1000 <= $1)
ORDER BY j.lease_until, j.id LIMIT $3 FOR UPDATE SKIP LOCKED"
);
pub(crate) const ALL: &[&str] = &[PICK, LOCK, LAPSED];
pub(crate) const MANY: &[Many] = &[LOCK_ALL];
