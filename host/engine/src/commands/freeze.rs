//! Freezes are made by applying documents; here they are lifted.

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    id::FreezeId,
};
use serde_json::json;
use store::planning::Mark;

use crate::{CommandError, Engine};

impl Engine {
    /// Lifts a freeze: what it held goes on. Skips of it go with it.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub async fn lift_freeze(&self, caller: &Caller, id: FreezeId) -> Result<(), CommandError> {
        let mut tx = self.store.write("command.lift_freeze").await?;
        let freeze = store::freeze::get(&mut tx, caller.workspace, id).await?;
        let freeze = freeze.ok_or_else(|| CommandError::NotFound { what: format!("freeze {id}") })?;
        store::skip::delete_of_freeze(&mut tx, caller.workspace, id).await?;
        store::freeze::delete(&mut tx, id).await?;
        let data = json!({"name": freeze.name, "reason": freeze.reason, "startsAt": freeze.starts_at.to_string()});
        let actor = Actor::User(caller.user.clone());
        let event = NewEvent { kind: EventKind::FreezeLifted, actor, subject: Subject::default(), data };
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark_workspace(&mut tx, caller.workspace, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(())
    }
}
