//! API keys, by the hash of their secret. The secret itself never comes here.

use model::{
    access::{ApiKey, Role},
    id::ApiKeyId,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    row::{Place, instant, millis, names, text},
    tx::{one, run},
};

const INSERT: &str = "-- access.insert
INSERT INTO api_keys (id, workspace_id, secret_hash, user_name, teams, role, agent_id, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const BY_HASH: &str = "-- access.by_hash
SELECT id, workspace_id, user_name, teams, role, agent_id, created_at, expires_at, last_used_at
FROM api_keys WHERE secret_hash = $1";
const TOUCH: &str = "-- access.touch
UPDATE api_keys SET last_used_at = $2 WHERE id = $1";
pub(crate) const ALL: &[&str] = &[INSERT, BY_HASH, TOUCH];

/// A key that was found, and when it was last used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// The key.
    pub key: ApiKey,
    /// As far as it was noted; see [`touch`].
    pub last_used_at: Option<Timestamp>,
}

/// Adds a key by its secret's hash.
pub async fn insert(tx: &mut Tx, key: &ApiKey, hash: &[u8; 32]) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        key.id.0,
        key.workspace.0,
        &hash[..],
        text(&key.user),
        names(&key.teams),
        key.role.name(),
        key.agent.map(|agent| agent.0),
        key.created_at.as_millis(),
        millis(key.expires_at),
    )?;
    Ok(())
}

/// The key whose secret has this hash, expired or not.
pub async fn by_hash(tx: &mut Tx, hash: &[u8; 32]) -> Result<Option<StoredKey>, StoreError> {
    one!(tx, Row, BY_HASH, &hash[..])?.map(StoredKey::try_from).transpose()
}

/// Notes that a key was used. Callers do so once a minute at most, lest every read becomes a write.
pub async fn touch(tx: &mut Tx, key: ApiKeyId) -> Result<(), StoreError> {
    let now = tx.now().as_millis();
    run!(tx, TOUCH, key.0, now)?;
    Ok(())
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    user_name: String,
    teams: String,
    role: String,
    agent_id: Option<Uuid>,
    created_at: i64,
    expires_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TryFrom<Row> for StoredKey {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "api_keys", id: &row.id };
        Ok(Self {
            key: ApiKey {
                id: row.id.into(),
                workspace: row.workspace_id.into(),
                teams: place.names("teams", &row.teams)?,
                role: place.word("role", &row.role, Role::parse)?,
                user: row.user_name,
                agent: row.agent_id.map(Into::into),
                created_at: Timestamp::from_millis(row.created_at),
                expires_at: instant(row.expires_at),
            },
            last_used_at: instant(row.last_used_at),
        })
    }
}
