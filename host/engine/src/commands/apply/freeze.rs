//! Applies a freeze. One that says no start begins when it is first applied.

use model::{
    event::{EventKind, Subject},
    freeze::Freeze,
    id::FreezeId,
    wanted::WantedFreeze,
};
use store::StoreError;

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn freeze(&mut self, at: &str, wanted: &WantedFreeze) -> Result<Change, StoreError> {
        let before = store::freeze::by_name(&mut self.tx, self.caller.workspace, &wanted.name).await?;
        let starts_at = wanted.start.or(before.as_ref().map(|before| before.starts_at)).unwrap_or(self.now);
        if let Some(end) = wanted.end.filter(|end| *end <= starts_at) {
            self.wrong(format!("{at}/end"), format!("{end} is not after the start ({starts_at})"));
        }
        let next = Freeze {
            id: before.as_ref().map_or_else(|| FreezeId(self.tx.new_id()), |before| before.id),
            workspace: self.caller.workspace,
            name: wanted.name.clone(),
            selector: wanted.selector.clone(),
            starts_at,
            ends_at: wanted.end,
            reason: wanted.reason.clone(),
            created_by: before.as_ref().map_or_else(|| self.caller.user.clone(), |before| before.created_by.clone()),
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::freeze::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::FreezeUpdated)
            }
            None => {
                store::freeze::insert(&mut self.tx, &next).await?;
                (Change::Created, EventKind::FreezeCreated)
            }
        };
        self.replan_all = true;
        self.tell(kind, &next.name, Subject::default()).await?;
        Ok(change)
    }
}
