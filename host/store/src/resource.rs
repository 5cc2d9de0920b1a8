//! Resources.

use model::{
    id::{ResourceId, WorkspaceId},
    resource::Resource,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{Place, expect_one, json, labels, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- resource.",
            $name,
            "\nSELECT id, workspace_id, identifier, name, kind, version, metadata, config, created_at FROM resources ",
            $rest
        )
    };
}

const INSERT: &str = "-- resource.insert
INSERT INTO resources (id, workspace_id, identifier, name, kind, version, metadata, config, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const UPDATE: &str = "-- resource.update
UPDATE resources SET identifier = $3, name = $4, kind = $5, version = $6, metadata = $7, config = $8
WHERE id = $1 AND workspace_id = $2";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_IDENTIFIER: &str = select!("by_identifier", "WHERE workspace_id = $1 AND identifier = $2");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY identifier LIMIT $2 OFFSET $3");
const COUNT: &str = "-- resource.count
SELECT COUNT(*) AS count FROM resources WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY identifier");
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, GET, BY_IDENTIFIER, LIST, COUNT, EVERY];

/// Adds a resource.
pub async fn insert(tx: &mut Tx, resource: &Resource) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        resource.id.0,
        resource.workspace.0,
        text(&resource.identifier),
        text(&resource.name),
        text(&resource.kind),
        text(&resource.version),
        labels(&resource.metadata),
        json(&resource.config),
        resource.created_at.as_millis(),
    )?;
    Ok(())
}

/// Writes all but id, workspace and creation.
pub async fn update(tx: &mut Tx, resource: &Resource) -> Result<(), StoreError> {
    let changed = run!(
        tx,
        UPDATE,
        resource.id.0,
        resource.workspace.0,
        text(&resource.identifier),
        text(&resource.name),
        text(&resource.kind),
        text(&resource.version),
        labels(&resource.metadata),
        json(&resource.config),
    )?;
    expect_one(changed, "resources", &resource.id)
}

/// The resource with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: ResourceId) -> Result<Option<Resource>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(Resource::try_from).transpose()
}

/// The resource with this identifier.
pub async fn by_identifier(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &str,
) -> Result<Option<Resource>, StoreError> {
    one!(tx, Row, BY_IDENTIFIER, workspace.0, text(identifier))?.map(Resource::try_from).transpose()
}

/// Resources by identifier.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<Resource>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = rows.into_iter().map(Resource::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every resource by identifier.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Resource>, StoreError> {
    all!(tx, Row, EVERY, workspace.0)?.into_iter().map(Resource::try_from).collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    identifier: String,
    name: String,
    kind: String,
    version: String,
    metadata: String,
    config: String,
    created_at: i64,
}

impl TryFrom<Row> for Resource {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "resources", id: &row.id };
        Ok(Self {
            metadata: place.labels("metadata", &row.metadata)?,
            config: place.json("config", &row.config)?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            identifier: row.identifier,
            name: row.name,
            kind: row.kind,
            version: row.version,
            created_at: Timestamp::from_millis(row.created_at),
        })
    }
}
