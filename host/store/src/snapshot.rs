//! Reads everything that a pass over one deployment may look at: a constant number of statements, whatever the
//! number of targets.

use std::sync::Arc;

use model::{
    id::{DeploymentId, WorkspaceId},
    snapshot::Snapshot,
};

use crate::{
    StoreError, Tx, approval, decision, dependency, deployment, environment, freeze, hold, job, job_agent, measurement,
    plugin, policy, redeploy, release, release_target, resource, skip, version,
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
    let policies = shared(policy::enabled(tx, workspace).await?);
    let plugins = shared(plugin::all(tx, workspace).await?);
    let dependencies = match dependency::asked_for(&policies, &plugins) {
        true => dependency::of_others(tx, workspace, deployment).await?,
        false => Vec::new(),
    };
    Ok(Some(Snapshot {
        workspace,
        job_agent,
        deployment: Arc::new(planned),
        environments: shared(environment::beside_deployment(tx, workspace, deployment).await?),
        resources: shared(resource::all(tx, workspace).await?),
        targets: release_target::of_deployment(tx, deployment).await?,
        versions: shared(version::of_deployment(tx, deployment).await?),
        policies,
        plugins,
        approvals: approval::of_deployment(tx, workspace, deployment).await?,
        releases: release::for_planning(tx, deployment).await?,
        jobs: job::for_planning(tx, deployment).await?,
        decisions: decision::for_planning(tx, deployment).await?,
        skips: skip::of_deployment(tx, deployment).await?,
        freezes: freeze::not_over(tx, workspace).await?,
        holds: hold::of_deployment(tx, deployment).await?,
        redeploys: redeploy::of_deployment(tx, deployment).await?,
        measurements: measurement::for_planning(tx, deployment).await?,
        dependencies,
    }))
}

fn shared<T>(values: Vec<T>) -> Vec<Arc<T>> {
    values.into_iter().map(Arc::new).collect()
}
