//! Skips: a person bypasses one rule or freeze for one version. Rules and freezes may be gone, so their ids refer to
//! nothing that must be there.

use model::{
    decision::DecisionScope,
    id::{DeploymentId, FreezeId, PolicyId, SkipId, VersionId, WorkspaceId},
    skip::{Skip, Skipped},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{Place, expect_one, instant, millis, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- skip.",
            $name,
            "\nSELECT id, workspace_id, policy_id, rule_id, freeze_id, version_id, deployment_id, environment_id,\n",
            "  resource_id, user_name, reason, created_at, expires_at\nFROM skips ",
            $rest
        )
    };
}

const INSERT: &str = "-- skip.insert
INSERT INTO skips (id, workspace_id, policy_id, rule_id, freeze_id, version_id, deployment_id, environment_id,
  resource_id, user_name, reason, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
const DELETE: &str = "-- skip.delete
DELETE FROM skips WHERE id = $1";
const DELETE_OF_POLICY: &str = "-- skip.delete_of_policy
DELETE FROM skips WHERE workspace_id = $1 AND policy_id = $2";
const DELETE_OF_FREEZE: &str = "-- skip.delete_of_freeze
DELETE FROM skips WHERE workspace_id = $1 AND freeze_id = $2";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const LIST: &str = select!(
    "list",
    "WHERE workspace_id = $1 AND (deployment_id = $2 OR $2 IS NULL) AND (version_id = $3 OR $3 IS NULL)
ORDER BY created_at, id LIMIT $4 OFFSET $5"
);
const COUNT: &str = "-- skip.count
SELECT COUNT(*) AS count FROM skips
WHERE workspace_id = $1 AND (deployment_id = $2 OR $2 IS NULL) AND (version_id = $3 OR $3 IS NULL)";
const OF_DEPLOYMENT: &str = select!("of_deployment", "WHERE deployment_id = $1 ORDER BY created_at, id");
pub(crate) const ALL: &[&str] = &[INSERT, DELETE, DELETE_OF_POLICY, DELETE_OF_FREEZE, GET, LIST, COUNT, OF_DEPLOYMENT];

/// Which skips to list; whatever is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Of this deployment.
    pub deployment: Option<DeploymentId>,
    /// Of this version.
    pub version: Option<VersionId>,
}

/// Adds a skip.
pub async fn insert(tx: &mut Tx, skip: &Skip) -> Result<(), StoreError> {
    let (policy, rule, freeze) = match skip.skipped {
        Skipped::Rule(policy, rule) => (Some(policy.0), Some(rule.0), None),
        Skipped::Freeze(freeze) => (None, None, Some(freeze.0)),
    };
    run!(
        tx,
        INSERT,
        skip.id.0,
        skip.workspace.0,
        policy,
        rule,
        freeze,
        skip.version.0,
        skip.scope.deployment.0,
        skip.scope.environment.map(|id| id.0),
        skip.scope.resource.map(|id| id.0),
        text(&skip.user),
        text(&skip.reason),
        skip.created_at.as_millis(),
        millis(skip.expires_at),
    )?;
    Ok(())
}

/// Removes a skip.
pub async fn delete(tx: &mut Tx, id: SkipId) -> Result<(), StoreError> {
    let changed = run!(tx, DELETE, id.0)?;
    expect_one(changed, "skips", &id)
}

/// Removes whatever bypasses the rules of a policy, which is about to go.
pub async fn delete_of_policy(tx: &mut Tx, workspace: WorkspaceId, policy: PolicyId) -> Result<(), StoreError> {
    run!(tx, DELETE_OF_POLICY, workspace.0, policy.0)?;
    Ok(())
}

/// Removes whatever bypasses a freeze, which is about to go.
pub async fn delete_of_freeze(tx: &mut Tx, workspace: WorkspaceId, freeze: FreezeId) -> Result<(), StoreError> {
    run!(tx, DELETE_OF_FREEZE, workspace.0, freeze.0)?;
    Ok(())
}

/// The skip with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: SkipId) -> Result<Option<Skip>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(Skip::try_from).transpose()
}

/// Skips, oldest first; some may be over.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, filter: Filter, page: Page) -> Result<Listed<Skip>, StoreError> {
    let (ws, deployment, version) = (workspace.0, filter.deployment.map(|id| id.0), filter.version.map(|id| id.0));
    let rows = all!(tx, Row, LIST, ws, deployment, version, page.limit(), page.offset())?;
    let items = rows.into_iter().map(Skip::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, ws, deployment, version)?))
}

/// Skips of a deployment's versions, oldest first; some may be over.
pub async fn of_deployment(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Skip>, StoreError> {
    all!(tx, Row, OF_DEPLOYMENT, deployment.0)?.into_iter().map(Skip::try_from).collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    policy_id: Option<Uuid>,
    rule_id: Option<Uuid>,
    freeze_id: Option<Uuid>,
    version_id: Uuid,
    deployment_id: Uuid,
    environment_id: Option<Uuid>,
    resource_id: Option<Uuid>,
    user_name: String,
    reason: String,
    created_at: i64,
    expires_at: Option<i64>,
}

impl TryFrom<Row> for Skip {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "skips", id: &row.id };
        let skipped = match (row.policy_id, row.rule_id, row.freeze_id) {
            (Some(policy), Some(rule), None) => Skipped::Rule(policy.into(), rule.into()),
            (None, None, Some(freeze)) => Skipped::Freeze(freeze.into()),
            _ => return Err(place.bad("freeze_id", "must be set exactly when `policy_id` and `rule_id` are not")),
        };
        Ok(Self {
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            skipped,
            version: row.version_id.into(),
            scope: DecisionScope {
                deployment: row.deployment_id.into(),
                environment: row.environment_id.map(Into::into),
                resource: row.resource_id.map(Into::into),
            },
            user: row.user_name,
            reason: row.reason,
            created_at: Timestamp::from_millis(row.created_at),
            expires_at: instant(row.expires_at),
        })
    }
}
