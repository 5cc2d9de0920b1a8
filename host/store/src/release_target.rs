//! Release targets: what is kept of each between passes, and the list that people see.

use model::{
    id::{DeploymentId, EnvironmentId, JobId, ReleaseId, ResourceId, VersionId, WorkspaceId},
    job_state::{JobStatus, LeaseToken},
    release_target::{TargetKey, TargetState},
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many},
    row::Place,
    tx::{all, count, one},
};

// The latest job is the newest one that was not withdrawn.
macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- release_target.",
            $name,
            "\nSELECT t.deployment_id, t.environment_id, t.resource_id, t.attached, t.desired_release_id,\n",
            "  t.current_release_id, d.name AS deployment_name, e.name AS environment_name,\n",
            "  r.identifier AS resource_identifier, r.name AS resource_name,\n",
            "  dv.id AS desired_version_id, dv.tag AS desired_version_tag,\n",
            "  cv.id AS current_version_id, cv.tag AS current_version_tag,\n",
            "  j.id AS job_id, j.status AS job_status, j.attempt AS job_attempt,\n",
            "  jv.id AS job_version_id, jv.tag AS job_version_tag\n",
            "FROM release_targets t\n",
            "  JOIN deployments d ON d.id = t.deployment_id\n",
            "  JOIN environments e ON e.id = t.environment_id\n",
            "  JOIN resources r ON r.id = t.resource_id\n",
            "  LEFT JOIN releases dr ON dr.id = t.desired_release_id\n",
            "  LEFT JOIN versions dv ON dv.id = dr.version_id\n",
            "  LEFT JOIN releases cr ON cr.id = t.current_release_id\n",
            "  LEFT JOIN versions cv ON cv.id = cr.version_id\n",
            "  LEFT JOIN jobs j ON j.id = (\n",
            "    SELECT l.id FROM jobs l WHERE l.deployment_id = t.deployment_id\n",
            "      AND l.environment_id = t.environment_id AND l.resource_id = t.resource_id\n",
            "      AND l.status <> 'skipped' ORDER BY l.created_at DESC, l.id DESC LIMIT 1)\n",
            "  LEFT JOIN versions jv ON jv.id = j.version_id\n",
            "WHERE t.workspace_id = $1 AND ",
            $rest
        )
    };
}

const GET: &str = select!("get", "t.deployment_id = $2 AND t.environment_id = $3 AND t.resource_id = $4");
const LIST: &str = select!(
    "list",
    "(t.deployment_id = $2 OR $2 IS NULL) AND (t.environment_id = $3 OR $3 IS NULL)
  AND (t.resource_id = $4 OR $4 IS NULL)
ORDER BY d.name, e.name, r.identifier, t.resource_id LIMIT $5 OFFSET $6"
);
const COUNT: &str = "-- release_target.count
SELECT COUNT(*) AS count FROM release_targets t
WHERE t.workspace_id = $1 AND (t.deployment_id = $2 OR $2 IS NULL) AND (t.environment_id = $3 OR $3 IS NULL)
  AND (t.resource_id = $4 OR $4 IS NULL)";
const STATES: &str = "-- release_target.of_deployment
SELECT deployment_id, environment_id, resource_id, attached, desired_release_id, current_release_id
FROM release_targets WHERE deployment_id = $1 ORDER BY environment_id, resource_id";
// Each of the three gives back the targets that it changed.
const ATTACH: Many = Many {
    sql: "-- release_target.attach
INSERT INTO release_targets (deployment_id, environment_id, resource_id, workspace_id, attached) VALUES ",
    fixed: 0,
    columns: 5,
    tail: " ON CONFLICT (deployment_id, environment_id, resource_id) DO UPDATE SET attached = excluded.attached
WHERE release_targets.attached <> excluded.attached
RETURNING deployment_id, environment_id, resource_id",
};
const SET_DESIRED: Many = Many {
    sql: "-- release_target.set_desired
INSERT INTO release_targets (deployment_id, environment_id, resource_id, workspace_id, attached, desired_release_id)
VALUES ",
    fixed: 0,
    columns: 6,
    tail: " ON CONFLICT (deployment_id, environment_id, resource_id) DO UPDATE
SET desired_release_id = excluded.desired_release_id
WHERE release_targets.desired_release_id IS DISTINCT FROM excluded.desired_release_id
RETURNING deployment_id, environment_id, resource_id",
};
const SET_CURRENT: Many = Many {
    sql: "-- release_target.set_current
INSERT INTO release_targets (deployment_id, environment_id, resource_id, workspace_id, attached, current_release_id)
VALUES ",
    fixed: 0,
    columns: 6,
    tail: " ON CONFLICT (deployment_id, environment_id, resource_id) DO UPDATE
SET current_release_id = excluded.current_release_id
WHERE release_targets.current_release_id IS DISTINCT FROM excluded.current_release_id
RETURNING deployment_id, environment_id, resource_id",
};
// Takes so many tokens at once, and gives the last of them: nobody else gets one of these, on either engine.
const TAKE_TOKENS: Many = Many {
    sql: "-- release_target.take_tokens
INSERT INTO release_targets (deployment_id, environment_id, resource_id, workspace_id, attached, last_token) VALUES ",
    fixed: 0,
    columns: 6,
    tail: " ON CONFLICT (deployment_id, environment_id, resource_id) DO UPDATE
SET last_token = release_targets.last_token + excluded.last_token
RETURNING deployment_id, environment_id, resource_id, last_token",
};
pub(crate) const ALL: &[&str] = &[GET, LIST, COUNT, STATES];
pub(crate) const MANY: &[Many] = &[ATTACH, SET_DESIRED, SET_CURRENT, TAKE_TOKENS];

/// Which targets to list; whatever is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Of this deployment.
    pub deployment: Option<DeploymentId>,
    /// In this environment.
    pub environment: Option<EnvironmentId>,
    /// On this resource.
    pub resource: Option<ResourceId>,
}

/// A version as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionName {
    /// Its id.
    pub id: VersionId,
    /// Its tag.
    pub tag: String,
}

/// The latest job of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestJob {
    /// Its id.
    pub id: JobId,
    /// How it stands.
    pub status: JobStatus,
    /// Which attempt.
    pub attempt: u32,
    /// Which version.
    pub version: VersionName,
}

/// A target with the names that people know its parts by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTarget {
    /// What is kept of it.
    pub state: TargetState,
    /// Its deployment's name.
    pub deployment_name: String,
    /// Its environment's name.
    pub environment_name: String,
    /// Its resource's identifier.
    pub resource_identifier: String,
    /// Its resource's name.
    pub resource_name: String,
    /// What should run there.
    pub desired: Option<VersionName>,
    /// What runs there.
    pub current: Option<VersionName>,
    /// The newest job that was not withdrawn.
    pub latest_job: Option<LatestJob>,
}

/// The target with this key.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, key: TargetKey) -> Result<Option<NamedTarget>, StoreError> {
    let row = one!(tx, Row, GET, workspace.0, key.deployment.0, key.environment.0, key.resource.0)?;
    row.map(NamedTarget::try_from).transpose()
}

/// Targets by deployment, environment and resource.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: Filter,
    page: Page,
) -> Result<Listed<NamedTarget>, StoreError> {
    let deployment = filter.deployment.map(|id| id.0);
    let environment = filter.environment.map(|id| id.0);
    let resource = filter.resource.map(|id| id.0);
    let ws = workspace.0;
    let rows = all!(tx, Row, LIST, ws, deployment, environment, resource, page.limit(), page.offset())?;
    let items = rows.into_iter().map(NamedTarget::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, ws, deployment, environment, resource)?))
}

/// What is kept of each target of a deployment.
pub async fn of_deployment(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<TargetState>, StoreError> {
    Ok(all!(tx, StateRow, STATES, deployment.0)?.into_iter().map(TargetState::from).collect())
}

pub(crate) async fn attach_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    targets: &[(TargetKey, bool)],
) -> Result<Vec<TargetKey>, StoreError> {
    let rows = all_many!(tx, KeyRow, ATTACH, [], targets, |(key, attached)| [
        key.deployment.0,
        key.environment.0,
        key.resource.0,
        workspace.0,
        *attached,
    ]);
    Ok(rows.into_iter().map(TargetKey::from).collect())
}

pub(crate) async fn set_desired_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    desired: &[(TargetKey, Option<ReleaseId>)],
) -> Result<Vec<TargetKey>, StoreError> {
    let rows = all_many!(tx, KeyRow, SET_DESIRED, [], desired, |(key, release)| [
        key.deployment.0,
        key.environment.0,
        key.resource.0,
        workspace.0,
        true,
        release.map(|release| release.0),
    ]);
    Ok(rows.into_iter().map(TargetKey::from).collect())
}

pub(crate) async fn set_current_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    current: &[(TargetKey, ReleaseId)],
) -> Result<Vec<TargetKey>, StoreError> {
    let rows = all_many!(tx, KeyRow, SET_CURRENT, [], current, |(key, release)| [
        key.deployment.0,
        key.environment.0,
        key.resource.0,
        workspace.0,
        true,
        release.0,
    ]);
    Ok(rows.into_iter().map(TargetKey::from).collect())
}

/// For each target, given with how many tokens are wanted, the last one of those taken. Targets must be sorted and
/// differ: every transaction then locks them in the same order.
pub(crate) async fn take_tokens(
    tx: &mut Tx,
    workspace: WorkspaceId,
    wanted: &[(TargetKey, i64)],
) -> Result<Vec<(TargetKey, LeaseToken)>, StoreError> {
    debug_assert!(wanted.is_sorted_by(|a, b| a.0 < b.0), "sorted, and no target twice");
    let rows = all_many!(tx, TokenRow, TAKE_TOKENS, [], wanted, |(key, count)| [
        key.deployment.0,
        key.environment.0,
        key.resource.0,
        workspace.0,
        false,
        *count,
    ]);
    Ok(rows.into_iter().map(|row| (row.key.into(), LeaseToken(row.last_token))).collect())
}

#[derive(FromRow)]
pub(crate) struct KeyRow {
    deployment_id: Uuid,
    environment_id: Uuid,
    resource_id: Uuid,
}

impl From<KeyRow> for TargetKey {
    fn from(row: KeyRow) -> Self {
        Self {
            deployment: row.deployment_id.into(),
            environment: row.environment_id.into(),
            resource: row.resource_id.into(),
        }
    }
}

#[derive(FromRow)]
struct TokenRow {
    #[sqlx(flatten)]
    key: KeyRow,
    last_token: i64,
}

#[derive(FromRow)]
struct StateRow {
    #[sqlx(flatten)]
    key: KeyRow,
    attached: bool,
    desired_release_id: Option<Uuid>,
    current_release_id: Option<Uuid>,
}

impl From<StateRow> for TargetState {
    fn from(row: StateRow) -> Self {
        Self {
            key: row.key.into(),
            attached: row.attached,
            desired: row.desired_release_id.map(Into::into),
            current: row.current_release_id.map(Into::into),
        }
    }
}

#[derive(FromRow)]
struct Row {
    #[sqlx(flatten)]
    state: StateRow,
    deployment_name: String,
    environment_name: String,
    resource_identifier: String,
    resource_name: String,
    desired_version_id: Option<Uuid>,
    desired_version_tag: Option<String>,
    current_version_id: Option<Uuid>,
    current_version_tag: Option<String>,
    job_id: Option<Uuid>,
    job_status: Option<String>,
    job_attempt: Option<i64>,
    job_version_id: Option<Uuid>,
    job_version_tag: Option<String>,
}

impl TryFrom<Row> for NamedTarget {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let state = TargetState::from(row.state);
        let name =
            |id: Option<Uuid>, tag: Option<String>| id.zip(tag).map(|(id, tag)| VersionName { id: id.into(), tag });
        let job_version = name(row.job_version_id, row.job_version_tag);
        let latest_job = match (row.job_id, row.job_status, row.job_attempt, job_version) {
            (Some(id), Some(status), Some(attempt), Some(version)) => {
                let place = Place { table: "jobs", id: &id };
                Some(LatestJob {
                    id: id.into(),
                    status: place.word("status", &status, JobStatus::parse)?,
                    attempt: place.count("attempt", attempt)?,
                    version,
                })
            }
            _ => None,
        };
        Ok(Self {
            state,
            deployment_name: row.deployment_name,
            environment_name: row.environment_name,
            resource_identifier: row.resource_identifier,
            resource_name: row.resource_name,
            desired: name(row.desired_version_id, row.desired_version_tag),
            current: name(row.current_version_id, row.current_version_tag),
            latest_job,
        })
    }
}
