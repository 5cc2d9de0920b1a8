//! Reads everything that a pass over one deployment may look at: a constant number of statements, whatever the
//! number of targets.

use std::sync::Arc;

use model::{
    id::{DeploymentId, WorkspaceId},
    snapshot::Snapshot,
};

use crate::{
    StoreError, Tx, approval, decision, deployment, environment, job, job_agent, plugin, policy, release,
    release_target, resource, version,
};

/// The snapshot, if there is such a deployment.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    deployment: DeploymentId,
) -> Result<Option<Snapshot>, StoreError> {
    let Some(planned) = deployment::get(tx, workspace, deployment).await? else { return Ok(None) };
    let job_agent = match planned.job_agent {
        Some(agent) => job_agent::get(tx, workspace, agent).await?.map(Arc::new),
        None => None,
    };
    Ok(Some(Snapshot {
        workspace,
        job_agent,
        deployment: Arc::new(planned),
        environments: shared(environment::beside_deployment(tx, workspace, deployment).await?),
        resources: shared(resource::all(tx, workspace).await?),
        targets: release_target::of_deployment(tx, deployment).await?,
        versions: shared(version::of_deployment(tx, deployment).await?),
        policies: shared(policy::enabled(tx, workspace).await?),
        plugins: shared(plugin::all(tx, workspace).await?),
        approvals: approval::of_deployment(tx, workspace, deployment).await?,
        releases: release::for_planning(tx, deployment).await?,
        jobs: job::for_planning(tx, deployment).await?,
        decisions: decision::for_planning(tx, deployment).await?,
    }))
}

fn shared<T>(values: Vec<T>) -> Vec<Arc<T>> {
    values.into_iter().map(Arc::new).collect()
}
