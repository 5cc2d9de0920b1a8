//! Applies a system.

use model::{
    event::{EventKind, Subject},
    id::SystemId,
    system::System,
    wanted::WantedSystem,
};
use store::StoreError;

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn system(&mut self, wanted: &WantedSystem) -> Result<Change, StoreError> {
        let before = store::system::by_name(&mut self.tx, self.caller.workspace, &wanted.name).await?;
        let next = System {
            id: before.as_ref().map_or_else(|| SystemId(self.tx.new_id()), |before| before.id),
            workspace: self.caller.workspace,
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            metadata: wanted.metadata.clone(),
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::system::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::SystemUpdated)
            }
            None => {
                store::system::insert(&mut self.tx, &next).await?;
                (Change::Created, EventKind::SystemCreated)
            }
        };
        self.tell(kind, &next.name, Subject { system: Some(next.id), ..Subject::default() }).await?;
        Ok(change)
    }
}
