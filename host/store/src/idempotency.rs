//! Answers to POSTs that carried an `Idempotency-Key`.

use model::{id::WorkspaceId, time::Timestamp};
use sqlx::FromRow;

use crate::{
    StoreError, Tx,
    row::{Place, text},
    tx::{one, run},
};

const KEEP_SECONDS: i64 = 24 * 3600;

const GET: &str = "-- idempotency.get
SELECT request_hash, status, body FROM idempotency_keys WHERE workspace_id = $1 AND key = $2 AND at > $3";
const PUT: &str = "-- idempotency.put
INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, body, at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (workspace_id, key) DO NOTHING";
const EXPIRE: &str = "-- idempotency.expire
DELETE FROM idempotency_keys WHERE workspace_id = $1 AND at <= $2";
pub(crate) const ALL: &[&str] = &[GET, PUT, EXPIRE];

/// An answer that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// SHA-256 of the request; another request under the same key is a mistake.
    pub request_hash: [u8; 32],
    /// The answer's HTTP status.
    pub status: u16,
    /// The answer's body.
    pub body: String,
}

/// The answer under a key, for 24 hours.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, key: &str) -> Result<Option<Answered>, StoreError> {
    let since = kept_since(tx.now());
    let Some(row) = one!(tx, Row, GET, workspace.0, text(key), since)? else { return Ok(None) };
    let place = Place { table: "idempotency_keys", id: &key };
    Ok(Some(Answered {
        request_hash: row.request_hash.try_into().map_err(|_| place.bad("request_hash", "not 32 bytes"))?,
        status: u16::try_from(row.status).map_err(|_| place.bad("status", "no HTTP status"))?,
        body: row.body,
    }))
}

/// Keeps an answer; false when there is one under the key already. Old ones of the workspace go.
pub async fn put(tx: &mut Tx, workspace: WorkspaceId, key: &str, answer: &Answered) -> Result<bool, StoreError> {
    let now = tx.now();
    run!(tx, EXPIRE, workspace.0, kept_since(now))?;
    let Answered { request_hash, status, body } = answer;
    let inserted =
        run!(tx, PUT, workspace.0, text(key), &request_hash[..], i64::from(*status), text(body), now.as_millis())?;
    Ok(inserted == 1)
}

fn kept_since(now: Timestamp) -> i64 {
    now.plus_seconds(-KEEP_SECONDS).as_millis()
}

#[derive(FromRow)]
struct Row {
    request_hash: Vec<u8>,
    status: i64,
    body: String,
}
