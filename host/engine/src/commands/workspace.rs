//! Makes workspaces.

use model::{
    Json,
    event::{Actor, EventKind, NewEvent, Subject},
    id::WorkspaceId,
    workspace::Workspace,
};
use serde_json::json;

use super::text;
use crate::{CommandError, Engine};

impl Engine {
    /// Makes a workspace, or gives the one with that slug.
    ///
    /// # Errors
    ///
    /// When the slug or the name is not fit to be one.
    pub async fn create_workspace(&self, slug: &str, name: &str) -> Result<(Workspace, bool), CommandError> {
        let mut errors = Vec::new();
        text::name("/slug", slug, &mut errors);
        text::name("/name", name, &mut errors);
        if !slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(CommandError::field("/slug", "may contain a-z, 0-9 and - only"));
        }
        if !errors.is_empty() {
            return Err(CommandError::Invalid(errors));
        }
        let mut tx = self.store.write("command.create_workspace").await?;
        if let Some(workspace) = store::workspace::by_slug(&mut tx, slug).await? {
            return Ok((workspace, false));
        }
        let workspace = Workspace {
            id: WorkspaceId(tx.new_id()),
            slug: slug.to_owned(),
            name: name.to_owned(),
            created_at: tx.now(),
        };
        store::workspace::insert(&mut tx, &workspace).await?;
        let data: Json = json!({"slug": slug});
        let event =
            NewEvent { kind: EventKind::WorkspaceCreated, actor: Actor::System, subject: Subject::default(), data };
        store::event::append(&mut tx, workspace.id, event).await?;
        tx.commit().await?;
        Ok((workspace, true))
    }
}
