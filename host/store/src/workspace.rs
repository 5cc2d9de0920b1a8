//! Workspaces.

use model::{id::WorkspaceId, time::Timestamp, workspace::Workspace};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::text,
    tx::{all, count, one, run},
};

const INSERT: &str = "-- workspace.insert
INSERT INTO workspaces (id, slug, name, created_at) VALUES ($1, $2, $3, $4)";
const GET: &str = "-- workspace.get
SELECT id, slug, name, created_at FROM workspaces WHERE id = $1";
const BY_SLUG: &str = "-- workspace.by_slug
SELECT id, slug, name, created_at FROM workspaces WHERE slug = $1";
const LIST: &str = "-- workspace.list
SELECT id, slug, name, created_at FROM workspaces ORDER BY slug LIMIT $1 OFFSET $2";
const COUNT: &str = "-- workspace.count
SELECT COUNT(*) AS count FROM workspaces";
pub(crate) const ALL: &[&str] = &[INSERT, GET, BY_SLUG, LIST, COUNT];

/// Adds a workspace.
pub async fn insert(tx: &mut Tx, workspace: &Workspace) -> Result<(), StoreError> {
    let Workspace { id, slug, name, created_at } = workspace;
    run!(tx, INSERT, id.0, text(slug), text(name), created_at.as_millis())?;
    Ok(())
}

/// The workspace with this id.
pub async fn get(tx: &mut Tx, id: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
    Ok(one!(tx, Row, GET, id.0)?.map(Workspace::from))
}

/// The workspace with this slug.
pub async fn by_slug(tx: &mut Tx, slug: &str) -> Result<Option<Workspace>, StoreError> {
    Ok(one!(tx, Row, BY_SLUG, text(slug))?.map(Workspace::from))
}

/// Workspaces by slug.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<Workspace>, StoreError> {
    let rows = all!(tx, Row, LIST, page.limit(), page.offset())?;
    Ok(Listed::new(rows.into_iter().map(Workspace::from).collect(), count!(tx, COUNT)?))
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    slug: String,
    name: String,
    created_at: i64,
}

impl From<Row> for Workspace {
    fn from(row: Row) -> Self {
        Self { id: row.id.into(), slug: row.slug, name: row.name, created_at: Timestamp::from_millis(row.created_at) }
    }
}
