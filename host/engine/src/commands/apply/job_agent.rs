//! Applies a job agent.

use model::{
    event::{EventKind, Subject},
    id::JobAgentId,
    job_agent::JobAgent,
    limits::LEASE_SECONDS_DEFAULT,
    wanted::WantedJobAgent,
};
use store::StoreError;

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn job_agent(&mut self, wanted: &WantedJobAgent) -> Result<Change, StoreError> {
        let lease_seconds = wanted.lease_seconds.unwrap_or(LEASE_SECONDS_DEFAULT);
        let before = store::job_agent::by_name(&mut self.tx, self.caller.workspace, &wanted.name).await?;
        let next = JobAgent {
            id: before.as_ref().map_or_else(|| JobAgentId(self.tx.new_id()), |before| before.id),
            workspace: self.caller.workspace,
            name: wanted.name.clone(),
            agent_type: wanted.agent_type,
            config: wanted.config.clone(),
            lease_seconds,
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::job_agent::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::JobAgentUpdated)
            }
            None => {
                store::job_agent::insert(&mut self.tx, &next).await?;
                (Change::Created, EventKind::JobAgentCreated)
            }
        };
        self.replan_all = true;
        self.tell(kind, &next.name, Subject::default()).await?;
        Ok(change)
    }
}
