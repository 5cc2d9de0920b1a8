//! Releases: added, given a place in a rollout, closed, and opened again by whoever wants one started once more.

use model::{
    id::{DeploymentId, ReleaseId, VersionId, WorkspaceId},
    release::{Closed, Release, RolloutPlace},
    release_target::TargetKey,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many, run_many},
    planned::planned_releases,
    row::{Id, Place, expect_one, instant, json, millis},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $($rest:expr),+) => {
        concat!(
            "-- release.",
            $name,
            "\nSELECT r.id, r.workspace_id, r.deployment_id, r.environment_id, r.resource_id, r.version_id, r.variables,\n",
            "  r.created_at, r.closed, r.closed_at, r.rollout_index, r.rollout_total, r.rollout_started_at,\n",
            "  v.tag AS version_tag\n",
            "FROM releases r JOIN versions v ON v.id = r.version_id ",
            $($rest),+
        )
    };
}

const GET: &str = select!("get", "WHERE r.workspace_id = $1 AND r.id = $2");
const LIST: &str = select!(
    "list",
    "WHERE r.workspace_id = $1 AND (r.deployment_id = $2 OR $2 IS NULL) AND (r.version_id = $3 OR $3 IS NULL)
  AND (r.environment_id = $4 OR $4 IS NULL) AND (r.resource_id = $5 OR $5 IS NULL)
ORDER BY r.created_at, r.id LIMIT $6 OFFSET $7"
);
const COUNT: &str = "-- release.count
SELECT COUNT(*) AS count FROM releases r
WHERE r.workspace_id = $1 AND (r.deployment_id = $2 OR $2 IS NULL) AND (r.version_id = $3 OR $3 IS NULL)
  AND (r.environment_id = $4 OR $4 IS NULL) AND (r.resource_id = $5 OR $5 IS NULL)";
const FOR_PLANNING: &str = select!("for_planning", "WHERE ", planned_releases!(), "\nORDER BY r.created_at, r.id");
const INSERT: Many = Many {
    sql: "-- release.insert
INSERT INTO releases (id, workspace_id, deployment_id, environment_id, resource_id, version_id, variables, created_at,
  closed, closed_at, rollout_index, rollout_total, rollout_started_at)
VALUES ",
    fixed: 0,
    columns: 13,
    tail: " ON CONFLICT DO NOTHING RETURNING id",
};
const CLOSE: Many = Many {
    sql: "-- release.close\nUPDATE releases SET closed = $1, closed_at = $2 WHERE closed IS NULL AND id IN (",
    fixed: 2,
    columns: 1,
    tail: ") RETURNING id",
};
// What has a place keeps it.
const PLACE: Many = Many {
    sql: "-- release.place
WITH p(release, place, places, start) AS (VALUES ",
    fixed: 0,
    columns: 4,
    tail: ")
UPDATE releases SET rollout_index = COALESCE(releases.rollout_index, p.place),
  rollout_total = COALESCE(releases.rollout_total, p.places),
  rollout_started_at = COALESCE(releases.rollout_started_at, p.start)
FROM p WHERE releases.id = p.release",
};
/// What PLACE's binds are on PostgreSQL, which cannot tell from the text alone.
pub(crate) const PLACE_TYPES: &[&str] = &["uuid", "int8", "int8", "int8"];
const REOPEN: &str = "-- release.reopen
UPDATE releases SET closed = NULL, closed_at = NULL WHERE id = $1";
pub(crate) const ALL: &[&str] = &[GET, LIST, COUNT, FOR_PLANNING, REOPEN];
pub(crate) const MANY: &[Many] = &[INSERT, CLOSE, PLACE];

/// Which releases to list; whatever is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Of this deployment.
    pub deployment: Option<DeploymentId>,
    /// Of this version.
    pub version: Option<VersionId>,
    /// On this target.
    pub target: Option<TargetKey>,
}

/// A release with the tag that people know its version by.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRelease {
    /// The release.
    pub release: Release,
    /// Its version's tag.
    pub version_tag: String,
}

/// The release with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: ReleaseId) -> Result<Option<NamedRelease>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(NamedRelease::try_from).transpose()
}

/// Releases, oldest first.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: Filter,
    page: Page,
) -> Result<Listed<NamedRelease>, StoreError> {
    let deployment = filter.deployment.or(filter.target.map(|key| key.deployment)).map(|id| id.0);
    let version = filter.version.map(|id| id.0);
    let environment = filter.target.map(|key| key.environment.0);
    let resource = filter.target.map(|key| key.resource.0);
    let ws = workspace.0;
    let rows = all!(tx, Row, LIST, ws, deployment, version, environment, resource, page.limit(), page.offset())?;
    let items = rows.into_iter().map(NamedRelease::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, ws, deployment, version, environment, resource)?))
}

/// The releases that a pass over this deployment looks at, oldest first.
pub(crate) async fn for_planning(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Release>, StoreError> {
    let rows = all!(tx, Row, FOR_PLANNING, deployment.0)?;
    rows.into_iter().map(|row| NamedRelease::try_from(row).map(|named| named.release)).collect()
}

/// Adds a release; false when its version has one on the target already.
pub async fn insert(tx: &mut Tx, release: &Release) -> Result<bool, StoreError> {
    Ok(!insert_all(tx, &[release]).await?.is_empty())
}

/// Closes a release; false when it is closed already.
pub async fn close(tx: &mut Tx, release: ReleaseId, closed: Closed) -> Result<bool, StoreError> {
    Ok(!close_all(tx, &[release], closed).await?.is_empty())
}

/// Opens a release again.
pub async fn reopen(tx: &mut Tx, release: ReleaseId) -> Result<(), StoreError> {
    let changed = run!(tx, REOPEN, release.0)?;
    expect_one(changed, "releases", &release)
}

/// Gives releases their places in rollouts, and rollouts their starts, where they have none.
pub(crate) async fn place_all(tx: &mut Tx, places: &[(ReleaseId, RolloutPlace)]) -> Result<(), StoreError> {
    run_many!(tx, PLACE, [], places, |(release, place)| [
        release.0,
        i64::from(place.index),
        i64::from(place.total),
        millis(place.started_at),
    ]);
    Ok(())
}

/// Adds releases, but for those whose version has one on the target already; gives the ids of those added.
pub(crate) async fn insert_all(tx: &mut Tx, releases: &[&Release]) -> Result<Vec<ReleaseId>, StoreError> {
    let rows = all_many!(tx, Id, INSERT, [], releases, |release| [
        release.id.0,
        release.workspace.0,
        release.target.deployment.0,
        release.target.environment.0,
        release.target.resource.0,
        release.version.0,
        release.variables.as_ref().map(json),
        release.created_at.as_millis(),
        release.closed.map(|(closed, _)| closed.name()),
        millis(release.closed.map(|(_, at)| at)),
        release.rollout.map(|place| i64::from(place.index)),
        release.rollout.map(|place| i64::from(place.total)),
        millis(release.rollout.and_then(|place| place.started_at)),
    ]);
    Ok(rows.into_iter().map(|row| row.id.into()).collect())
}

/// Closes those of the releases that are open; gives their ids.
pub(crate) async fn close_all(
    tx: &mut Tx,
    releases: &[ReleaseId],
    closed: Closed,
) -> Result<Vec<ReleaseId>, StoreError> {
    let now = tx.now().as_millis();
    let rows = all_many!(tx, Id, CLOSE, [closed.name(), now], releases, |release| [release.0]);
    Ok(rows.into_iter().map(|row| row.id.into()).collect())
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    deployment_id: Uuid,
    environment_id: Uuid,
    resource_id: Uuid,
    version_id: Uuid,
    variables: Option<String>,
    created_at: i64,
    closed: Option<String>,
    closed_at: Option<i64>,
    rollout_index: Option<i64>,
    rollout_total: Option<i64>,
    rollout_started_at: Option<i64>,
    version_tag: String,
}

impl TryFrom<Row> for NamedRelease {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "releases", id: &row.id };
        let closed = match (&row.closed, instant(row.closed_at)) {
            (None, None) => None,
            (Some(closed), Some(at)) => Some((place.word("closed", closed, Closed::parse)?, at)),
            (Some(_), None) | (None, Some(_)) => {
                return Err(place.bad("closed_at", "must be set exactly when `closed` is"));
            }
        };
        let rollout = match (row.rollout_index, row.rollout_total) {
            (None, None) => None,
            (Some(index), Some(total)) => Some(RolloutPlace {
                index: place.count("rollout_index", index)?,
                total: place.count("rollout_total", total)?,
                started_at: instant(row.rollout_started_at),
            }),
            (Some(_), None) | (None, Some(_)) => {
                return Err(place.bad("rollout_total", "must be set exactly when `rollout_index` is"));
            }
        };
        Ok(Self {
            release: Release {
                variables: row.variables.as_deref().map(|text| place.json("variables", text)).transpose()?,
                id: row.id.into(),
                workspace: row.workspace_id.into(),
                target: TargetKey {
                    deployment: row.deployment_id.into(),
                    environment: row.environment_id.into(),
                    resource: row.resource_id.into(),
                },
                version: row.version_id.into(),
                created_at: Timestamp::from_millis(row.created_at),
                closed,
                rollout,
            },
            version_tag: row.version_tag,
        })
    }
}
