//! Applies a resource.

use model::{
    event::{EventKind, Subject},
    id::ResourceId,
    resource::Resource,
    wanted::WantedResource,
};
use store::StoreError;

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn resource(&mut self, wanted: &WantedResource) -> Result<Change, StoreError> {
        let before = store::resource::by_identifier(&mut self.tx, self.caller.workspace, &wanted.identifier).await?;
        let next = Resource {
            id: before.as_ref().map_or_else(|| ResourceId(self.tx.new_id()), |before| before.id),
            workspace: self.caller.workspace,
            identifier: wanted.identifier.clone(),
            name: wanted.name.clone(),
            kind: wanted.kind.clone(),
            version: wanted.version.clone(),
            metadata: wanted.metadata.clone(),
            config: wanted.config.clone(),
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::resource::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::ResourceUpdated)
            }
            None => {
                store::resource::insert(&mut self.tx, &next).await?;
                (Change::Created, EventKind::ResourceCreated)
            }
        };
        self.replan_all = true;
        self.tell(kind, &next.identifier, Subject { resource: Some(next.id), ..Subject::default() }).await?;
        Ok(change)
    }
}
