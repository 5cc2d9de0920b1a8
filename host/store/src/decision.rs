//! Decisions: added when they differ, the last of each rule, version and scope marked.

use model::{
    decision::{Decision, DecisionScope, GateAnswer, Verdict},
    id::{DecisionId, DeploymentId, VersionId, WorkspaceId},
    plugin::FaultCode,
    policy::RuleMode,
    release_target::TargetKey,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many, run_many},
    planned::planned_releases,
    row::{Id, Place, instant, labels, millis, text},
    tx::{all, count},
};

macro_rules! select {
    ($name:literal, $($rest:expr),+) => {
        concat!(
            "-- decision.",
            $name,
            "\nSELECT d.id, d.workspace_id, d.policy_id, d.rule_id, d.rule_label, d.digest, d.version_id, d.deployment_id,\n",
            "  d.environment_id, d.resource_id, d.mode, d.verdict, d.wait_until, d.reason, d.satisfied_at,\n",
            "  d.valid_until, d.details, d.fault, d.at\nFROM decisions d ",
            $($rest),+
        )
    };
}

// A decision whose scope is wider than a target holds there too.
const LIST: &str = select!(
    "list",
    "WHERE d.workspace_id = $1 AND (d.deployment_id = $2 OR $2 IS NULL) AND (d.version_id = $3 OR $3 IS NULL)
  AND (d.environment_id = $4 OR $4 IS NULL OR d.environment_id IS NULL)
  AND (d.resource_id = $5 OR $5 IS NULL OR d.resource_id IS NULL)
  AND (d.latest OR NOT $6)
ORDER BY d.at DESC, d.id DESC LIMIT $7 OFFSET $8"
);
const COUNT: &str = "-- decision.count
SELECT COUNT(*) AS count FROM decisions d
WHERE d.workspace_id = $1 AND (d.deployment_id = $2 OR $2 IS NULL) AND (d.version_id = $3 OR $3 IS NULL)
  AND (d.environment_id = $4 OR $4 IS NULL OR d.environment_id IS NULL)
  AND (d.resource_id = $5 OR $5 IS NULL OR d.resource_id IS NULL)
  AND (d.latest OR NOT $6)";
const FOR_PLANNING: &str = select!(
    "for_planning",
    "WHERE d.latest AND d.version_id IN (SELECT r.version_id FROM releases r WHERE ",
    planned_releases!(),
    ")\nORDER BY d.at, d.id"
);
const INSERT: Many = Many {
    sql: "-- decision.insert
INSERT INTO decisions (id, workspace_id, policy_id, rule_id, rule_label, digest, version_id, deployment_id,
  environment_id, resource_id, mode, verdict, wait_until, reason, satisfied_at, valid_until, details, fault, at, latest)
VALUES ",
    fixed: 0,
    columns: 20,
    tail: " ON CONFLICT (id) DO NOTHING RETURNING id",
};
// What stood in the place of these, which do now.
const SUPERSEDE: Many = Many {
    sql: "-- decision.supersede
UPDATE decisions SET latest = FALSE WHERE id IN (
  SELECT o.id FROM decisions n JOIN decisions o ON o.version_id = n.version_id AND o.rule_id = n.rule_id
    AND o.environment_id IS NOT DISTINCT FROM n.environment_id AND o.resource_id IS NOT DISTINCT FROM n.resource_id
  WHERE o.latest AND n.latest AND o.id <> n.id AND n.id IN (",
    fixed: 0,
    columns: 1,
    tail: "))",
};
pub(crate) const ALL: &[&str] = &[LIST, COUNT, FOR_PLANNING];
pub(crate) const MANY: &[Many] = &[INSERT, SUPERSEDE];

/// Which decisions to list; whatever is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Of this deployment.
    pub deployment: Option<DeploymentId>,
    /// That hold on this target.
    pub target: Option<TargetKey>,
    /// Of this version.
    pub version: Option<VersionId>,
    /// Only those that no later one stands in place of.
    pub latest_only: bool,
}

/// Decisions, newest first.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: Filter,
    page: Page,
) -> Result<Listed<Decision>, StoreError> {
    let deployment = filter.deployment.or(filter.target.map(|key| key.deployment)).map(|id| id.0);
    let version = filter.version.map(|id| id.0);
    let environment = filter.target.map(|key| key.environment.0);
    let resource = filter.target.map(|key| key.resource.0);
    let (ws, latest) = (workspace.0, filter.latest_only);
    let (limit, offset) = (page.limit(), page.offset());
    let rows = all!(tx, Row, LIST, ws, deployment, version, environment, resource, latest, limit, offset)?;
    let items = rows.into_iter().map(Decision::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, ws, deployment, version, environment, resource, latest)?))
}

/// The last decision of each rule, version and scope, for versions of the releases that a pass looks at.
pub(crate) async fn for_planning(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Decision>, StoreError> {
    all!(tx, Row, FOR_PLANNING, deployment.0)?.into_iter().map(Decision::try_from).collect()
}

/// Adds decisions in place of earlier ones; gives the ids of those added. No two may be of the same rule, version
/// and scope.
pub(crate) async fn record_all(tx: &mut Tx, decisions: &[&Decision]) -> Result<Vec<DecisionId>, StoreError> {
    let rows = all_many!(tx, Id, INSERT, [], decisions, |decision| [
        decision.id.0,
        decision.workspace.0,
        decision.policy.0,
        decision.rule.0,
        text(&decision.rule_label),
        decision.digest.as_ref().map(|digest| &digest.0[..]),
        decision.version.0,
        decision.scope.deployment.0,
        decision.scope.environment.map(|id| id.0),
        decision.scope.resource.map(|id| id.0),
        decision.mode.name(),
        decision.answer.verdict.name(),
        wait_until(decision.answer.verdict),
        text(&decision.answer.reason),
        millis(decision.answer.satisfied_at),
        millis(decision.answer.valid_until),
        labels(&decision.answer.details),
        decision.fault.map(FaultCode::name),
        decision.at.as_millis(),
        true,
    ]);
    let added: Vec<DecisionId> = rows.into_iter().map(|row| row.id.into()).collect();
    run_many!(tx, SUPERSEDE, [], added, |id| [id.0]);
    Ok(added)
}

fn wait_until(verdict: Verdict) -> Option<i64> {
    match verdict {
        Verdict::Wait(until) => millis(until),
        Verdict::Allow | Verdict::Deny => None,
    }
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    policy_id: Uuid,
    rule_id: Uuid,
    rule_label: String,
    digest: Option<Vec<u8>>,
    version_id: Uuid,
    deployment_id: Uuid,
    environment_id: Option<Uuid>,
    resource_id: Option<Uuid>,
    mode: String,
    verdict: String,
    wait_until: Option<i64>,
    reason: String,
    satisfied_at: Option<i64>,
    valid_until: Option<i64>,
    details: String,
    fault: Option<String>,
    at: i64,
}

impl TryFrom<Row> for Decision {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "decisions", id: &row.id };
        let verdict = match row.verdict.as_str() {
            "allow" => Verdict::Allow,
            "wait" => Verdict::Wait(instant(row.wait_until)),
            "deny" => Verdict::Deny,
            other => return Err(place.bad("verdict", format!("`{other}` is not known here"))),
        };
        Ok(Self {
            digest: row.digest.as_deref().map(|bytes| crate::plugin::digest(&place, bytes)).transpose()?,
            mode: place.word("mode", &row.mode, RuleMode::parse)?,
            answer: GateAnswer {
                verdict,
                satisfied_at: instant(row.satisfied_at),
                valid_until: instant(row.valid_until),
                details: place.labels("details", &row.details)?,
                reason: row.reason,
            },
            fault: row.fault.as_deref().map(|fault| place.word("fault", fault, FaultCode::parse)).transpose()?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            policy: row.policy_id.into(),
            rule: row.rule_id.into(),
            rule_label: row.rule_label,
            version: row.version_id.into(),
            scope: DecisionScope {
                deployment: row.deployment_id.into(),
                environment: row.environment_id.map(Into::into),
                resource: row.resource_id.map(Into::into),
            },
            at: Timestamp::from_millis(row.at),
        })
    }
}
