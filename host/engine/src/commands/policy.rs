//! Policies are made by applying documents; here they are deleted.

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    id::PolicyId,
};
use serde_json::json;
use store::planning::Mark;

use crate::{CommandError, Engine};

impl Engine {
    /// Deletes a policy with its rules and skips. What its rules said stays on record, and the event keeps their text.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub async fn delete_policy(&self, caller: &Caller, id: PolicyId) -> Result<(), CommandError> {
        let mut tx = self.store.write("command.delete_policy").await?;
        let policy = store::policy::get(&mut tx, caller.workspace, id).await?;
        let policy = policy.ok_or_else(|| CommandError::NotFound { what: format!("policy {id}") })?;
        store::skip::delete_of_policy(&mut tx, caller.workspace, id).await?;
        store::policy::delete(&mut tx, id).await?;
        let rules: Vec<model::Json> = policy
            .rules
            .iter()
            .map(|rule| json!({"id": rule.id.to_string(), "rule": rule.label(), "config": rule.config}))
            .collect();
        let event = NewEvent {
            kind: EventKind::PolicyDeleted,
            actor: Actor::User(caller.user.clone()),
            subject: Subject { policy: Some(id), ..Subject::default() },
            data: json!({"name": policy.name, "selector": policy.selector, "rules": rules}),
        };
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark_workspace(&mut tx, caller.workspace, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(())
    }
}
