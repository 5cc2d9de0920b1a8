//! Freezes. One that is lifted is gone; the trail tells of it.

use model::{
    freeze::Freeze,
    id::{FreezeId, WorkspaceId},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{expect_one, instant, millis, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- freeze.",
            $name,
            "\nSELECT id, workspace_id, name, selector, starts_at, ends_at, reason, created_by, created_at\n",
            "FROM freezes ",
            $rest
        )
    };
}

const INSERT: &str = "-- freeze.insert
INSERT INTO freezes (id, workspace_id, name, selector, starts_at, ends_at, reason, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const UPDATE: &str = "-- freeze.update
UPDATE freezes SET selector = $2, starts_at = $3, ends_at = $4, reason = $5 WHERE id = $1";
const DELETE: &str = "-- freeze.delete
DELETE FROM freezes WHERE id = $1";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_NAME: &str = select!("by_name", "WHERE workspace_id = $1 AND name = $2");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY name LIMIT $2 OFFSET $3");
const COUNT: &str = "-- freeze.count
SELECT COUNT(*) AS count FROM freezes WHERE workspace_id = $1";
const NOT_OVER: &str =
    select!("not_over", "WHERE workspace_id = $1 AND (ends_at IS NULL OR ends_at > $2) ORDER BY name");
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, DELETE, GET, BY_NAME, LIST, COUNT, NOT_OVER];

/// Adds a freeze.
pub async fn insert(tx: &mut Tx, freeze: &Freeze) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        freeze.id.0,
        freeze.workspace.0,
        text(&freeze.name),
        text(&freeze.selector),
        freeze.starts_at.as_millis(),
        millis(freeze.ends_at),
        text(&freeze.reason),
        text(&freeze.created_by),
        freeze.created_at.as_millis(),
    )?;
    Ok(())
}

/// Writes selector, span and reason.
pub async fn update(tx: &mut Tx, freeze: &Freeze) -> Result<(), StoreError> {
    let (starts_at, ends_at) = (freeze.starts_at.as_millis(), millis(freeze.ends_at));
    let changed = run!(tx, UPDATE, freeze.id.0, text(&freeze.selector), starts_at, ends_at, text(&freeze.reason))?;
    expect_one(changed, "freezes", &freeze.id)
}

/// Removes a freeze.
pub async fn delete(tx: &mut Tx, id: FreezeId) -> Result<(), StoreError> {
    let changed = run!(tx, DELETE, id.0)?;
    expect_one(changed, "freezes", &id)
}

/// The freeze with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: FreezeId) -> Result<Option<Freeze>, StoreError> {
    Ok(one!(tx, Row, GET, workspace.0, id.0)?.map(Freeze::from))
}

/// The freeze with this name.
pub async fn by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<Freeze>, StoreError> {
    Ok(one!(tx, Row, BY_NAME, workspace.0, text(name))?.map(Freeze::from))
}

/// Freezes by name, those that are over as well.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<Freeze>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    Ok(Listed::new(rows.into_iter().map(Freeze::from).collect(), count!(tx, COUNT, workspace.0)?))
}

/// Freezes that are not over, by name; some may not have begun.
pub async fn not_over(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Freeze>, StoreError> {
    let now = tx.now().as_millis();
    Ok(all!(tx, Row, NOT_OVER, workspace.0, now)?.into_iter().map(Freeze::from).collect())
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    selector: String,
    starts_at: i64,
    ends_at: Option<i64>,
    reason: String,
    created_by: String,
    created_at: i64,
}

impl From<Row> for Freeze {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            name: row.name,
            selector: row.selector,
            starts_at: Timestamp::from_millis(row.starts_at),
            ends_at: instant(row.ends_at),
            reason: row.reason,
            created_by: row.created_by,
            created_at: Timestamp::from_millis(row.created_at),
        }
    }
}
