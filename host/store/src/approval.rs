//! Approvals: one row per person, version and environment.

use model::{
    approval::{Approval, ApprovalDecision},
    id::{DeploymentId, EnvironmentId, VersionId, WorkspaceId},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    row::{Place, names, text},
    tx::{all, one, run},
};

// The teams of today are those of the user's newest key that is still good.
macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- approval.",
            $name,
            "\nSELECT a.id, a.workspace_id, a.version_id, a.environment_id, a.user_name, a.roles_then, a.decision,\n",
            "  a.at, a.reason, (\n    SELECT k.teams FROM api_keys k\n",
            "    WHERE k.workspace_id = a.workspace_id AND k.user_name = a.user_name\n",
            "      AND (k.expires_at > $1 OR k.expires_at IS NULL)\n",
            "    ORDER BY k.created_at DESC, k.id DESC LIMIT 1) AS roles_now\nFROM approvals a ",
            $rest,
            " ORDER BY a.at, a.id"
        )
    };
}

const PUT: &str = "-- approval.put
INSERT INTO approvals (id, workspace_id, version_id, environment_id, user_name, roles_then, decision, at, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (version_id, environment_id, user_name) DO UPDATE SET
  roles_then = excluded.roles_then, decision = excluded.decision, at = excluded.at, reason = excluded.reason
RETURNING id";
const FOR_VERSION: &str = select!("list_for_version", "WHERE a.workspace_id = $2 AND a.version_id = $3");
const OF_DEPLOYMENT: &str = select!(
    "of_deployment",
    "JOIN versions v ON v.id = a.version_id WHERE a.workspace_id = $2 AND v.deployment_id = $3"
);
const REMOVE: &str = "-- approval.remove
DELETE FROM approvals WHERE version_id = $1 AND environment_id = $2 AND user_name = $3";
pub(crate) const ALL: &[&str] = &[PUT, REMOVE, FOR_VERSION, OF_DEPLOYMENT];

/// Writes a person's word in place of what the same person said before of the same version and environment.
/// Gives it as it stands: with the first one's id.
pub async fn put(tx: &mut Tx, approval: &Approval) -> Result<Approval, StoreError> {
    let row = one!(
        tx,
        crate::row::Id,
        PUT,
        approval.id.0,
        approval.workspace.0,
        approval.version.0,
        approval.environment.0,
        text(&approval.user),
        names(&approval.roles_then),
        approval.decision.name(),
        approval.at.as_millis(),
        text(&approval.reason),
    )?;
    let id = row.map_or(approval.id, |row| row.id.into());
    Ok(Approval { id, ..approval.clone() })
}

/// Takes back what a person said of a version in an environment; false when there is no such word.
pub async fn remove(
    tx: &mut Tx,
    version: VersionId,
    environment: EnvironmentId,
    user: &str,
) -> Result<bool, StoreError> {
    Ok(run!(tx, REMOVE, version.0, environment.0, text(user))? > 0)
}

/// Approvals of a version, by time.
pub async fn list_for_version(
    tx: &mut Tx,
    workspace: WorkspaceId,
    version: VersionId,
) -> Result<Vec<Approval>, StoreError> {
    let now = tx.now().as_millis();
    all!(tx, Row, FOR_VERSION, now, workspace.0, version.0)?.into_iter().map(Approval::try_from).collect()
}

/// Approvals of a deployment's versions, by time.
pub async fn of_deployment(
    tx: &mut Tx,
    workspace: WorkspaceId,
    deployment: DeploymentId,
) -> Result<Vec<Approval>, StoreError> {
    let now = tx.now().as_millis();
    all!(tx, Row, OF_DEPLOYMENT, now, workspace.0, deployment.0)?.into_iter().map(Approval::try_from).collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    version_id: Uuid,
    environment_id: Uuid,
    user_name: String,
    roles_then: String,
    roles_now: Option<String>,
    decision: String,
    at: i64,
    reason: String,
}

impl TryFrom<Row> for Approval {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "approvals", id: &row.id };
        let roles_then = place.names("roles_then", &row.roles_then)?;
        let roles_now = match &row.roles_now {
            Some(teams) => {
                let mut teams = place.names("roles_now", teams)?;
                teams.sort_unstable();
                teams
            }
            // Somebody without a key any more holds what was held then.
            None => roles_then.clone(),
        };
        Ok(Self {
            decision: place.word("decision", &row.decision, ApprovalDecision::parse)?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            version: row.version_id.into(),
            environment: row.environment_id.into(),
            user: row.user_name,
            roles_then,
            roles_now,
            at: Timestamp::from_millis(row.at),
            reason: row.reason,
        })
    }
}
