//! What other deployments run: read for the passes of those whose rules look at it.

use std::{collections::HashMap, sync::Arc};

use model::{
    id::{DeploymentId, EnvironmentId, ResourceId, VersionId, WorkspaceId},
    policy::Policy,
    question::Dependency,
    version::Version,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{StoreError, Tx, deployment, environment, tx::all, version};

const OF_OTHERS: &str = "-- dependency.of_others
SELECT t.deployment_id, t.environment_id, t.resource_id, c.version_id
FROM release_targets t
  JOIN deployments d ON d.id = t.deployment_id
  JOIN environments e ON e.id = t.environment_id
  JOIN resources r ON r.id = t.resource_id
  LEFT JOIN releases c ON c.id = t.current_release_id
WHERE t.workspace_id = $1 AND t.deployment_id <> $2 AND t.attached
ORDER BY d.name, e.name, r.identifier";
pub(crate) const ALL: &[&str] = &[OF_OTHERS];

/// Whether a rule of these policies asks what other deployments run.
pub(crate) fn asked_for(policies: &[Arc<Policy>], plugins: &[Arc<model::plugin::Plugin>]) -> bool {
    let rules = policies.iter().flat_map(|policy| &policy.rules);
    rules
        .filter_map(|rule| rule.plugin.resolve(plugins.iter().map(Arc::as_ref)))
        .any(|plugin| plugin.manifest.facts.dependencies)
}

/// What other deployments of the workspace run, by deployment, environment and resource. A constant number of
/// statements.
pub(crate) async fn of_others(
    tx: &mut Tx,
    workspace: WorkspaceId,
    than: DeploymentId,
) -> Result<Vec<(ResourceId, Dependency)>, StoreError> {
    let rows = all!(tx, Row, OF_OTHERS, workspace.0, than.0)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let deployments = deployment::all(tx, workspace).await?;
    let environments = environment::all(tx, workspace).await?;
    let versions = version::current_elsewhere(tx, workspace, than).await?;
    let deployments: HashMap<DeploymentId, Arc<_>> =
        deployments.into_iter().map(|deployment| (deployment.id, Arc::new(deployment))).collect();
    let environments: HashMap<EnvironmentId, Arc<_>> =
        environments.into_iter().map(|environment| (environment.id, Arc::new(environment))).collect();
    let versions: HashMap<VersionId, Arc<Version>> =
        versions.into_iter().map(|version| (version.id, Arc::new(version))).collect();
    let dependency = |row: Row| {
        let deployment = Arc::clone(deployments.get(&row.deployment_id.into())?);
        let environment = Arc::clone(environments.get(&row.environment_id.into())?);
        let current = row.version_id.and_then(|id| versions.get(&id.into())).map(Arc::clone);
        Some((row.resource_id.into(), Dependency { deployment, environment, current }))
    };
    Ok(rows.into_iter().filter_map(dependency).collect())
}

#[derive(FromRow)]
struct Row {
    deployment_id: Uuid,
    environment_id: Uuid,
    resource_id: Uuid,
    version_id: Option<Uuid>,
}
