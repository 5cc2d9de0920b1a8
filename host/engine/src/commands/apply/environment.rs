//! Applies an environment.

use model::{
    environment::Environment,
    event::{EventKind, Subject},
    id::EnvironmentId,
    wanted::WantedEnvironment,
};
use store::StoreError;

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn environment(&mut self, at: &str, wanted: &WantedEnvironment) -> Result<Change, StoreError> {
        let systems = self.systems(at, &wanted.systems).await?;
        let before = store::environment::by_name(&mut self.tx, self.caller.workspace, &wanted.name).await?;
        let next = Environment {
            id: before.as_ref().map_or_else(|| EnvironmentId(self.tx.new_id()), |before| before.id),
            workspace: self.caller.workspace,
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            systems,
            resource_selector: wanted.resource_selector.clone(),
            metadata: wanted.metadata.clone(),
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::environment::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::EnvironmentUpdated)
            }
            None => {
                store::environment::insert(&mut self.tx, &next).await?;
                (Change::Created, EventKind::EnvironmentCreated)
            }
        };
        self.replan_all = true;
        self.tell(kind, &next.name, Subject { environment: Some(next.id), ..Subject::default() }).await?;
        Ok(change)
    }
}
