//! Holds: at most one on a target; a later one takes the place of the one that is there.

use model::{
    hold::{HeldBy, Hold},
    id::{DeploymentId, WorkspaceId},
    release_target::TargetKey,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    many::{Many, all_many},
    release_target::KeyRow,
    row::{Place, instant, millis, text},
    tx::{all, one},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- hold.",
            $name,
            "\nSELECT deployment_id, environment_id, resource_id, workspace_id, release_id, version_id, held_by,\n",
            "  failed_version_id, user_name, steps_back, reason, since, failed_at\nFROM holds ",
            $rest
        )
    };
}

// One that is there as it is written changes nothing and gives nothing back.
const PUT: Many = Many {
    sql: "-- hold.put
INSERT INTO holds (deployment_id, environment_id, resource_id, workspace_id, release_id, version_id, held_by,
  failed_version_id, user_name, steps_back, reason, since, failed_at)
VALUES ",
    fixed: 0,
    columns: 13,
    tail: " ON CONFLICT (deployment_id, environment_id, resource_id) DO UPDATE
SET release_id = excluded.release_id, version_id = excluded.version_id, held_by = excluded.held_by,
  failed_version_id = excluded.failed_version_id, user_name = excluded.user_name, steps_back = excluded.steps_back,
  reason = excluded.reason, since = excluded.since, failed_at = excluded.failed_at
WHERE holds.release_id <> excluded.release_id OR holds.held_by <> excluded.held_by
  OR holds.failed_version_id IS DISTINCT FROM excluded.failed_version_id
  OR holds.user_name IS DISTINCT FROM excluded.user_name OR holds.steps_back <> excluded.steps_back
  OR holds.reason <> excluded.reason OR holds.since <> excluded.since
  OR holds.failed_at IS DISTINCT FROM excluded.failed_at
RETURNING deployment_id, environment_id, resource_id",
};
const END: Many = Many {
    sql: "-- hold.end
DELETE FROM holds WHERE (deployment_id, environment_id, resource_id) IN (VALUES ",
    fixed: 0,
    columns: 3,
    tail: ") RETURNING deployment_id, environment_id, resource_id",
};
const GET: &str = select!("get", "WHERE deployment_id = $1 AND environment_id = $2 AND resource_id = $3");
const OF_DEPLOYMENT: &str = select!("of_deployment", "WHERE deployment_id = $1 ORDER BY environment_id, resource_id");
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY deployment_id, environment_id, resource_id");
pub(crate) const ALL: &[&str] = &[GET, OF_DEPLOYMENT, EVERY];
pub(crate) const MANY: &[Many] = &[PUT, END];

/// Writes a hold in place of what holds the target now.
pub async fn put(tx: &mut Tx, hold: &Hold) -> Result<(), StoreError> {
    put_all(tx, &[hold]).await?;
    Ok(())
}

/// Ends what holds the target; false when nothing does.
pub async fn end(tx: &mut Tx, target: TargetKey) -> Result<bool, StoreError> {
    Ok(!end_all(tx, &[target]).await?.is_empty())
}

/// What holds the target.
pub async fn get(tx: &mut Tx, target: TargetKey) -> Result<Option<Hold>, StoreError> {
    let row = one!(tx, Row, GET, target.deployment.0, target.environment.0, target.resource.0)?;
    row.map(Hold::try_from).transpose()
}

/// What holds targets of a deployment.
pub async fn of_deployment(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Hold>, StoreError> {
    all!(tx, Row, OF_DEPLOYMENT, deployment.0)?.into_iter().map(Hold::try_from).collect()
}

/// What holds targets of a workspace.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Hold>, StoreError> {
    all!(tx, Row, EVERY, workspace.0)?.into_iter().map(Hold::try_from).collect()
}

/// [`put`] for many; gives the targets for which that changed something.
pub(crate) async fn put_all(tx: &mut Tx, holds: &[&Hold]) -> Result<Vec<TargetKey>, StoreError> {
    let rows = all_many!(tx, KeyRow, PUT, [], holds, |hold| [
        hold.target.deployment.0,
        hold.target.environment.0,
        hold.target.resource.0,
        hold.workspace.0,
        hold.release.0,
        hold.version.0,
        columns(&hold.by).0,
        columns(&hold.by).1,
        columns(&hold.by).2.map(text),
        i64::from(hold.steps_back),
        text(&hold.reason),
        hold.since.as_millis(),
        millis(hold.failed_at),
    ]);
    Ok(rows.into_iter().map(TargetKey::from).collect())
}

/// [`end`] for many; gives the targets that were held.
pub(crate) async fn end_all(tx: &mut Tx, targets: &[TargetKey]) -> Result<Vec<TargetKey>, StoreError> {
    let rows = all_many!(tx, KeyRow, END, [], targets, |key| [key.deployment.0, key.environment.0, key.resource.0]);
    Ok(rows.into_iter().map(TargetKey::from).collect())
}

const RULE: &str = "rule";
const PERSON: &str = "person";

/// Who holds it as cells: the word, the version that failed, the person.
fn columns(by: &HeldBy) -> (&'static str, Option<Uuid>, Option<&str>) {
    match by {
        HeldBy::Rule { failed } => (RULE, Some(failed.0), None),
        HeldBy::Person { user } => (PERSON, None, Some(user)),
    }
}

#[derive(FromRow)]
struct Row {
    deployment_id: Uuid,
    environment_id: Uuid,
    resource_id: Uuid,
    workspace_id: Uuid,
    release_id: Uuid,
    version_id: Uuid,
    held_by: String,
    failed_version_id: Option<Uuid>,
    user_name: Option<String>,
    steps_back: i64,
    reason: String,
    since: i64,
    failed_at: Option<i64>,
}

impl TryFrom<Row> for Hold {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let target = TargetKey {
            deployment: row.deployment_id.into(),
            environment: row.environment_id.into(),
            resource: row.resource_id.into(),
        };
        let place = Place { table: "holds", id: &target };
        let by = match row.held_by.as_str() {
            RULE => HeldBy::Rule { failed: place.needed("failed_version_id", row.failed_version_id)?.into() },
            PERSON => HeldBy::Person { user: place.needed("user_name", row.user_name)? },
            other => return Err(place.bad("held_by", format!("`{other}` is not known here"))),
        };
        Ok(Self {
            workspace: row.workspace_id.into(),
            target,
            release: row.release_id.into(),
            version: row.version_id.into(),
            by,
            steps_back: place.count("steps_back", row.steps_back)?,
            reason: row.reason,
            since: Timestamp::from_millis(row.since),
            failed_at: instant(row.failed_at),
        })
    }
}
