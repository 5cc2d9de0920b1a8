//! Applies a deployment.

use model::{
    deployment::Deployment,
    event::{EventKind, Subject},
    id::{DeploymentId, JobAgentId},
    limits::JOB_DEADLINE_SECONDS_DEFAULT,
    wanted::WantedDeployment,
};
use store::{StoreError, planning::Mark};

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn deployment(&mut self, at: &str, wanted: &WantedDeployment) -> Result<Change, StoreError> {
        let deadline = wanted.job_deadline_seconds.unwrap_or(JOB_DEADLINE_SECONDS_DEFAULT);
        let systems = self.systems(at, &wanted.systems).await?;
        let job_agent = self.agent(at, wanted.job_agent.as_deref()).await?;
        let before = store::deployment::by_name(&mut self.tx, self.caller.workspace, &wanted.name).await?;
        let next = Deployment {
            id: before.as_ref().map_or_else(|| DeploymentId(self.tx.new_id()), |before| before.id),
            workspace: self.caller.workspace,
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            systems,
            resource_selector: wanted.resource_selector.clone(),
            job_agent,
            job_agent_config: wanted.job_agent_config.clone(),
            job_deadline_seconds: deadline,
            metadata: wanted.metadata.clone(),
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::deployment::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::DeploymentUpdated)
            }
            None => {
                store::deployment::insert(&mut self.tx, &next).await?;
                store::planning::ensure(&mut self.tx, next.workspace, next.id).await?;
                (Change::Created, EventKind::DeploymentCreated)
            }
        };
        store::planning::mark(&mut self.tx, next.id, Mark::Facts).await?;
        self.tell(kind, &next.name, Subject { deployment: Some(next.id), ..Subject::default() }).await?;
        Ok(change)
    }

    async fn agent(&mut self, at: &str, name: Option<&str>) -> Result<Option<JobAgentId>, StoreError> {
        let Some(name) = name else { return Ok(None) };
        let agent = store::job_agent::by_name(&mut self.tx, self.caller.workspace, name).await?;
        if agent.is_none() {
            let message = format!("there is no job agent `{name}`; apply a document `type: JobAgent` with that name");
            self.wrong(format!("{at}/jobAgent"), message);
        }
        Ok(agent.map(|agent| agent.id))
    }
}
