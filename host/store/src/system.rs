//! Systems.

use model::{
    id::{SystemId, WorkspaceId},
    system::System,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{Place, labels, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- system.",
            $name,
            "\nSELECT id, workspace_id, name, description, metadata, created_at FROM systems ",
            $rest
        )
    };
}

const INSERT: &str = "-- system.insert
INSERT INTO systems (id, workspace_id, name, description, metadata, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
const UPDATE: &str = "-- system.update
UPDATE systems SET name = $3, description = $4, metadata = $5 WHERE id = $1 AND workspace_id = $2";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_NAME: &str = select!("by_name", "WHERE workspace_id = $1 AND name = $2");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY name LIMIT $2 OFFSET $3");
const COUNT: &str = "-- system.count
SELECT COUNT(*) AS count FROM systems WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY name");
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, GET, BY_NAME, LIST, COUNT, EVERY];

/// Adds a system.
pub async fn insert(tx: &mut Tx, system: &System) -> Result<(), StoreError> {
    let System { id, workspace, name, description, metadata, created_at } = system;
    let created_at = created_at.as_millis();
    run!(tx, INSERT, id.0, workspace.0, text(name), text(description), labels(metadata), created_at)?;
    Ok(())
}

/// Writes all but id, workspace and creation.
pub async fn update(tx: &mut Tx, system: &System) -> Result<(), StoreError> {
    let System { id, workspace, name, description, metadata, created_at: _ } = system;
    let changed = run!(tx, UPDATE, id.0, workspace.0, text(name), text(description), labels(metadata))?;
    crate::row::expect_one(changed, "systems", id)
}

/// The system with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: SystemId) -> Result<Option<System>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(System::try_from).transpose()
}

/// The system with this name.
pub async fn by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<System>, StoreError> {
    one!(tx, Row, BY_NAME, workspace.0, text(name))?.map(System::try_from).transpose()
}

/// Systems by name.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<System>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = rows.into_iter().map(System::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every system by name.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<System>, StoreError> {
    all!(tx, Row, EVERY, workspace.0)?.into_iter().map(System::try_from).collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    description: String,
    metadata: String,
    created_at: i64,
}

impl TryFrom<Row> for System {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "systems", id: &row.id };
        Ok(Self {
            metadata: place.labels("metadata", &row.metadata)?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            name: row.name,
            description: row.description,
            created_at: Timestamp::from_millis(row.created_at),
        })
    }
}
