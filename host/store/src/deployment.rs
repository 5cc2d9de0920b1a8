//! Deployments and the systems they are linked to.

use std::collections::BTreeMap;

use model::{
    deployment::Deployment,
    id::{DeploymentId, SystemId, WorkspaceId},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many, run_many},
    row::{Link, Place, expect_one, json, labels, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- deployment.",
            $name,
            "\nSELECT id, workspace_id, name, description, resource_selector, job_agent_id, job_agent_config,\n",
            "  job_deadline_seconds, metadata, created_at\nFROM deployments ",
            $rest
        )
    };
}

const INSERT: &str = "-- deployment.insert
INSERT INTO deployments (id, workspace_id, name, description, resource_selector, job_agent_id, job_agent_config,
  job_deadline_seconds, metadata, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const UPDATE: &str = "-- deployment.update
UPDATE deployments SET name = $3, description = $4, resource_selector = $5, job_agent_id = $6, job_agent_config = $7,
  job_deadline_seconds = $8, metadata = $9
WHERE id = $1 AND workspace_id = $2";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_NAME: &str = select!("by_name", "WHERE workspace_id = $1 AND name = $2");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY name LIMIT $2 OFFSET $3");
const COUNT: &str = "-- deployment.count
SELECT COUNT(*) AS count FROM deployments WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY name");
const UNLINK: &str = "-- deployment.unlink
DELETE FROM deployment_systems WHERE deployment_id = $1";
const LINK: Many = Many {
    sql: "-- deployment.link\nINSERT INTO deployment_systems (deployment_id, system_id) VALUES ",
    fixed: 0,
    columns: 2,
    tail: "",
};
const LINKS: Many = Many {
    sql: "-- deployment.links
SELECT deployment_id AS id, system_id AS linked FROM deployment_systems WHERE deployment_id IN (",
    fixed: 0,
    columns: 1,
    tail: ") ORDER BY deployment_id, system_id",
};
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, GET, BY_NAME, LIST, COUNT, EVERY, UNLINK];
pub(crate) const MANY: &[Many] = &[LINK, LINKS];

/// Adds a deployment with its links. Its planning row is the caller's to add (see [`crate::planning::ensure`]).
pub async fn insert(tx: &mut Tx, deployment: &Deployment) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        deployment.id.0,
        deployment.workspace.0,
        text(&deployment.name),
        text(&deployment.description),
        text(&deployment.resource_selector),
        deployment.job_agent.map(|agent| agent.0),
        json(&deployment.job_agent_config),
        deployment.job_deadline_seconds,
        labels(&deployment.metadata),
        deployment.created_at.as_millis(),
    )?;
    link(tx, deployment).await
}

/// Writes all but id, workspace and creation.
pub async fn update(tx: &mut Tx, deployment: &Deployment) -> Result<(), StoreError> {
    let changed = run!(
        tx,
        UPDATE,
        deployment.id.0,
        deployment.workspace.0,
        text(&deployment.name),
        text(&deployment.description),
        text(&deployment.resource_selector),
        deployment.job_agent.map(|agent| agent.0),
        json(&deployment.job_agent_config),
        deployment.job_deadline_seconds,
        labels(&deployment.metadata),
    )?;
    expect_one(changed, "deployments", &deployment.id)?;
    run!(tx, UNLINK, deployment.id.0)?;
    link(tx, deployment).await
}

/// The deployment with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: DeploymentId) -> Result<Option<Deployment>, StoreError> {
    let row = one!(tx, Row, GET, workspace.0, id.0)?;
    Ok(with_systems(tx, row.into_iter().collect()).await?.pop())
}

/// The deployment with this name.
pub async fn by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<Deployment>, StoreError> {
    let row = one!(tx, Row, BY_NAME, workspace.0, text(name))?;
    Ok(with_systems(tx, row.into_iter().collect()).await?.pop())
}

/// Deployments by name.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<Deployment>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = with_systems(tx, rows).await?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every deployment by name.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Deployment>, StoreError> {
    let rows = all!(tx, Row, EVERY, workspace.0)?;
    with_systems(tx, rows).await
}

async fn link(tx: &mut Tx, deployment: &Deployment) -> Result<(), StoreError> {
    run_many!(tx, LINK, [], deployment.systems, |system| [deployment.id.0, system.0]);
    Ok(())
}

async fn with_systems(tx: &mut Tx, rows: Vec<Row>) -> Result<Vec<Deployment>, StoreError> {
    let mut systems: BTreeMap<Uuid, Vec<SystemId>> = BTreeMap::new();
    for link in all_many!(tx, Link, LINKS, [], rows, |row| [row.id]) {
        systems.entry(link.id).or_default().push(link.linked.into());
    }
    rows.into_iter()
        .map(|row| {
            let place = Place { table: "deployments", id: &row.id };
            Ok(Deployment {
                job_agent_config: place.json("job_agent_config", &row.job_agent_config)?,
                metadata: place.labels("metadata", &row.metadata)?,
                systems: systems.remove(&row.id).unwrap_or_default(),
                id: row.id.into(),
                workspace: row.workspace_id.into(),
                name: row.name,
                description: row.description,
                resource_selector: row.resource_selector,
                job_agent: row.job_agent_id.map(Into::into),
                job_deadline_seconds: row.job_deadline_seconds,
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
    job_agent_id: Option<Uuid>,
    job_agent_config: String,
    job_deadline_seconds: i64,
    metadata: String,
    created_at: i64,
}
