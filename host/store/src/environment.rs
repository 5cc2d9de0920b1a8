//! Environments and the systems they are linked to.

use std::collections::BTreeMap;

use model::{
    environment::Environment,
    id::{DeploymentId, EnvironmentId, SystemId, WorkspaceId},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many, run_many},
    row::{Link, Place, expect_one, labels, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- environment.",
            $name,
            "\nSELECT e.id, e.workspace_id, e.name, e.description, e.resource_selector, e.metadata, e.created_at\n",
            "FROM environments e ",
            $rest
        )
    };
}

const INSERT: &str = "-- environment.insert
INSERT INTO environments (id, workspace_id, name, description, resource_selector, metadata, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)";
const UPDATE: &str = "-- environment.update
UPDATE environments SET name = $3, description = $4, resource_selector = $5, metadata = $6
WHERE id = $1 AND workspace_id = $2";
const GET: &str = select!("get", "WHERE e.workspace_id = $1 AND e.id = $2");
const BY_NAME: &str = select!("by_name", "WHERE e.workspace_id = $1 AND e.name = $2");
const LIST: &str = select!("list", "WHERE e.workspace_id = $1 ORDER BY e.name LIMIT $2 OFFSET $3");
const COUNT: &str = "-- environment.count
SELECT COUNT(*) AS count FROM environments WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE e.workspace_id = $1 ORDER BY e.name");
const BESIDE: &str = select!(
    "beside_deployment",
    "WHERE e.workspace_id = $1 AND EXISTS (
  SELECT 1 FROM environment_systems es JOIN deployment_systems ds ON ds.system_id = es.system_id
  WHERE es.environment_id = e.id AND ds.deployment_id = $2)
ORDER BY e.name"
);
const UNLINK: &str = "-- environment.unlink
DELETE FROM environment_systems WHERE environment_id = $1";
const LINK: Many = Many {
    sql: "-- environment.link\nINSERT INTO environment_systems (environment_id, system_id) VALUES ",
    fixed: 0,
    columns: 2,
    tail: "",
};
const LINKS: Many = Many {
    sql: "-- environment.links
SELECT environment_id AS id, system_id AS linked FROM environment_systems WHERE environment_id IN (",
    fixed: 0,
    columns: 1,
    tail: ") ORDER BY environment_id, system_id",
};
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, GET, BY_NAME, LIST, COUNT, EVERY, BESIDE, UNLINK];
pub(crate) const MANY: &[Many] = &[LINK, LINKS];

/// Adds an environment with its links.
pub async fn insert(tx: &mut Tx, environment: &Environment) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        environment.id.0,
        environment.workspace.0,
        text(&environment.name),
        text(&environment.description),
        text(&environment.resource_selector),
        labels(&environment.metadata),
        environment.created_at.as_millis(),
    )?;
    link(tx, environment).await
}

/// Writes all but id, workspace and creation.
pub async fn update(tx: &mut Tx, environment: &Environment) -> Result<(), StoreError> {
    let changed = run!(
        tx,
        UPDATE,
        environment.id.0,
        environment.workspace.0,
        text(&environment.name),
        text(&environment.description),
        text(&environment.resource_selector),
        labels(&environment.metadata),
    )?;
    expect_one(changed, "environments", &environment.id)?;
    run!(tx, UNLINK, environment.id.0)?;
    link(tx, environment).await
}

/// The environment with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: EnvironmentId) -> Result<Option<Environment>, StoreError> {
    let row = one!(tx, Row, GET, workspace.0, id.0)?;
    Ok(with_systems(tx, row.into_iter().collect()).await?.pop())
}

/// The environment with this name.
pub async fn by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<Environment>, StoreError> {
    let row = one!(tx, Row, BY_NAME, workspace.0, text(name))?;
    Ok(with_systems(tx, row.into_iter().collect()).await?.pop())
}

/// Environments by name.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<Environment>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = with_systems(tx, rows).await?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every environment by name.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Environment>, StoreError> {
    let rows = all!(tx, Row, EVERY, workspace.0)?;
    with_systems(tx, rows).await
}

/// Environments that share a system with a deployment, by name.
pub async fn beside_deployment(
    tx: &mut Tx,
    workspace: WorkspaceId,
    deployment: DeploymentId,
) -> Result<Vec<Environment>, StoreError> {
    let rows = all!(tx, Row, BESIDE, workspace.0, deployment.0)?;
    with_systems(tx, rows).await
}

async fn link(tx: &mut Tx, environment: &Environment) -> Result<(), StoreError> {
    run_many!(tx, LINK, [], environment.systems, |system| [environment.id.0, system.0]);
    Ok(())
}

async fn with_systems(tx: &mut Tx, rows: Vec<Row>) -> Result<Vec<Environment>, StoreError> {
    let mut systems: BTreeMap<Uuid, Vec<SystemId>> = BTreeMap::new();
    for link in all_many!(tx, Link, LINKS, [], rows, |row| [row.id]) {
        systems.entry(link.id).or_default().push(link.linked.into());
    }
    rows.into_iter()
        .map(|row| {
            let place = Place { table: "environments", id: &row.id };
            Ok(Environment {
                metadata: place.labels("metadata", &row.metadata)?,
                systems: systems.remove(&row.id).unwrap_or_default(),
                id: row.id.into(),
                workspace: row.workspace_id.into(),
                name: row.name,
                description: row.description,
                resource_selector: row.resource_selector,
                created_at: Timestamp::from_millis(row.created_at),
            })
        })
        .collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    description: String,
    resource_selector: String,
    metadata: String,
    created_at: i64,
}
