//! Redeploys that wait: at most one for a target; a later one takes the place of the one that is there.

use model::{
    id::{DeploymentId, ReleaseId},
    redeploy::Redeploy,
    release_target::TargetKey,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    many::{Many, all_many},
    release_target::KeyRow,
    row::text,
    tx::{all, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- redeploy.",
            $name,
            "\nSELECT deployment_id, environment_id, resource_id, workspace_id, release_id, version_id, user_name,\n",
            "  reason, requested_at\nFROM redeploys ",
            $rest
        )
    };
}

const PUT: &str = "-- redeploy.put
INSERT INTO redeploys (deployment_id, environment_id, resource_id, workspace_id, release_id, version_id, user_name,
  reason, requested_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (deployment_id, environment_id, resource_id) DO UPDATE
SET release_id = excluded.release_id, version_id = excluded.version_id, user_name = excluded.user_name,
  reason = excluded.reason, requested_at = excluded.requested_at";
const DROP_OF_RELEASE: &str = "-- redeploy.drop_of_release
DELETE FROM redeploys WHERE deployment_id = $1 AND environment_id = $2 AND resource_id = $3 AND release_id = $4";
const FINISH: Many = Many {
    sql: "-- redeploy.finish
DELETE FROM redeploys WHERE (deployment_id, environment_id, resource_id) IN (VALUES ",
    fixed: 0,
    columns: 3,
    tail: ") RETURNING deployment_id, environment_id, resource_id",
};
const GET: &str = select!("get", "WHERE deployment_id = $1 AND environment_id = $2 AND resource_id = $3");
const OF_DEPLOYMENT: &str = select!("of_deployment", "WHERE deployment_id = $1 ORDER BY environment_id, resource_id");
pub(crate) const ALL: &[&str] = &[PUT, DROP_OF_RELEASE, GET, OF_DEPLOYMENT];
pub(crate) const MANY: &[Many] = &[FINISH];

/// Writes a redeploy in place of one that waits for the target.
pub async fn put(tx: &mut Tx, redeploy: &Redeploy) -> Result<(), StoreError> {
    run!(
        tx,
        PUT,
        redeploy.target.deployment.0,
        redeploy.target.environment.0,
        redeploy.target.resource.0,
        redeploy.workspace.0,
        redeploy.release.0,
        redeploy.version.0,
        text(&redeploy.user),
        text(&redeploy.reason),
        redeploy.requested_at.as_millis(),
    )?;
    Ok(())
}

/// Removes the redeploy of a release that waits for its target; false when there is none.
pub async fn drop_of_release(tx: &mut Tx, target: TargetKey, release: ReleaseId) -> Result<bool, StoreError> {
    let TargetKey { deployment, environment, resource } = target;
    Ok(run!(tx, DROP_OF_RELEASE, deployment.0, environment.0, resource.0, release.0)? > 0)
}

/// The redeploy that waits for a target.
pub async fn get(tx: &mut Tx, target: TargetKey) -> Result<Option<Redeploy>, StoreError> {
    let row = one!(tx, Row, GET, target.deployment.0, target.environment.0, target.resource.0)?;
    Ok(row.map(Redeploy::from))
}

/// Redeploys that wait for targets of a deployment.
pub async fn of_deployment(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Redeploy>, StoreError> {
    Ok(all!(tx, Row, OF_DEPLOYMENT, deployment.0)?.into_iter().map(Redeploy::from).collect())
}

/// What waited is served or overtaken; gives the targets for which something waited.
pub(crate) async fn finish_all(tx: &mut Tx, targets: &[TargetKey]) -> Result<Vec<TargetKey>, StoreError> {
    let rows = all_many!(tx, KeyRow, FINISH, [], targets, |key| [key.deployment.0, key.environment.0, key.resource.0]);
    Ok(rows.into_iter().map(TargetKey::from).collect())
}

#[derive(FromRow)]
struct Row {
    deployment_id: Uuid,
    environment_id: Uuid,
    resource_id: Uuid,
    workspace_id: Uuid,
    release_id: Uuid,
    version_id: Uuid,
    user_name: String,
    reason: String,
    requested_at: i64,
}

impl From<Row> for Redeploy {
    fn from(row: Row) -> Self {
        Self {
            workspace: row.workspace_id.into(),
            target: TargetKey {
                deployment: row.deployment_id.into(),
                environment: row.environment_id.into(),
                resource: row.resource_id.into(),
            },
            release: row.release_id.into(),
            version: row.version_id.into(),
            user: row.user_name,
            reason: row.reason,
            requested_at: Timestamp::from_millis(row.requested_at),
        }
    }
}
