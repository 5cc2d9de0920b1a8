//! Versions.

use model::{
    id::{DeploymentId, VersionId, WorkspaceId},
    time::Timestamp,
    version::{Version, VersionStatus},
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{Place, expect_one, instant, json, labels, millis, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- version.",
            $name,
            "\nSELECT id, workspace_id, deployment_id, tag, name, config, job_agent_config, metadata, status,\n",
            "  created_at, received_at, created_by, ready_at\nFROM versions ",
            $rest
        )
    };
}

const INSERT: &str = "-- version.insert
INSERT INTO versions (id, workspace_id, deployment_id, tag, name, config, job_agent_config, metadata, status,
  created_at, received_at, created_by, ready_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
const SET_STATUS: &str = "-- version.set_status
UPDATE versions SET status = $2, ready_at = COALESCE(ready_at, $3) WHERE id = $1";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_TAG: &str = select!("by_tag", "WHERE deployment_id = $1 AND tag = $2");
// Newest first, as `Version::age_key` says; one of two branches is the smaller, in both engines.
const LIST: &str = select!(
    "list",
    "WHERE workspace_id = $1 AND deployment_id = $2
ORDER BY CASE WHEN created_at < received_at THEN created_at ELSE received_at END DESC, id DESC LIMIT $3 OFFSET $4"
);
const COUNT: &str = "-- version.count
SELECT COUNT(*) AS count FROM versions WHERE workspace_id = $1 AND deployment_id = $2";
const OF_DEPLOYMENT: &str = select!(
    "of_deployment",
    "WHERE deployment_id = $1
ORDER BY CASE WHEN created_at < received_at THEN created_at ELSE received_at END DESC, id DESC"
);
const CURRENT_ELSEWHERE: &str = select!(
    "current_elsewhere",
    "WHERE id IN (
  SELECT c.version_id FROM release_targets t JOIN releases c ON c.id = t.current_release_id
  WHERE t.workspace_id = $1 AND t.deployment_id <> $2 AND t.attached)"
);
pub(crate) const ALL: &[&str] = &[INSERT, SET_STATUS, GET, BY_TAG, LIST, COUNT, OF_DEPLOYMENT, CURRENT_ELSEWHERE];

/// Adds a version.
pub async fn insert(tx: &mut Tx, version: &Version) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        version.id.0,
        version.workspace.0,
        version.deployment.0,
        text(&version.tag),
        text(&version.name),
        json(&version.config),
        json(&version.job_agent_config),
        labels(&version.metadata),
        version.status.name(),
        version.created_at.as_millis(),
        version.received_at.as_millis(),
        version.created_by.as_deref().map(text),
        millis(version.ready_at),
    )?;
    Ok(())
}

/// The version with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: VersionId) -> Result<Option<Version>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(Version::try_from).transpose()
}

/// The version of a deployment with this tag.
pub async fn by_tag(tx: &mut Tx, deployment: DeploymentId, tag: &str) -> Result<Option<Version>, StoreError> {
    one!(tx, Row, BY_TAG, deployment.0, text(tag))?.map(Version::try_from).transpose()
}

/// Versions of a deployment, newest first.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    deployment: DeploymentId,
    page: Page,
) -> Result<Listed<Version>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, deployment.0, page.limit(), page.offset())?;
    let items = rows.into_iter().map(Version::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0, deployment.0)?))
}

/// Every version of a deployment, newest first.
pub async fn of_deployment(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Version>, StoreError> {
    all!(tx, Row, OF_DEPLOYMENT, deployment.0)?.into_iter().map(Version::try_from).collect()
}

/// Versions that targets of other deployments run.
pub(crate) async fn current_elsewhere(
    tx: &mut Tx,
    workspace: WorkspaceId,
    than: DeploymentId,
) -> Result<Vec<Version>, StoreError> {
    all!(tx, Row, CURRENT_ELSEWHERE, workspace.0, than.0)?.into_iter().map(Version::try_from).collect()
}

/// Writes a version's status, and when it first became ready.
pub async fn set_status(tx: &mut Tx, id: VersionId, status: VersionStatus) -> Result<(), StoreError> {
    let ready_at = (status == VersionStatus::Ready).then(|| tx.now());
    let changed = run!(tx, SET_STATUS, id.0, status.name(), millis(ready_at))?;
    expect_one(changed, "versions", &id)
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    deployment_id: Uuid,
    tag: String,
    name: String,
    config: String,
    job_agent_config: String,
    metadata: String,
    status: String,
    created_at: i64,
    received_at: i64,
    created_by: Option<String>,
    ready_at: Option<i64>,
}

impl TryFrom<Row> for Version {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "versions", id: &row.id };
        Ok(Self {
            config: place.json("config", &row.config)?,
            job_agent_config: place.json("job_agent_config", &row.job_agent_config)?,
            metadata: place.labels("metadata", &row.metadata)?,
            status: place.word("status", &row.status, VersionStatus::parse)?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            deployment: row.deployment_id.into(),
            tag: row.tag,
            name: row.name,
            created_at: Timestamp::from_millis(row.created_at),
            received_at: Timestamp::from_millis(row.received_at),
            created_by: row.created_by,
            ready_at: instant(row.ready_at),
        })
    }
}
