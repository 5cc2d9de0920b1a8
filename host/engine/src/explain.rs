//! Explain: what a pass would say of a target now. Nothing is changed.

use model::{id::WorkspaceId, release_target::TargetKey, report::TargetReport};

use crate::{CommandError, Engine, pass::seed};

impl Engine {
    /// Why the target is where it is, and until when; nothing when there is no such target.
    ///
    /// The whole deployment is planned, since a sequence looks at all of it.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn explain(
        &self,
        workspace: WorkspaceId,
        target: TargetKey,
    ) -> Result<Option<TargetReport>, CommandError> {
        let mut tx = self.store.read("engine.explain").await?;
        let now = tx.now();
        let seed = seed(tx.new_id());
        let snapshot = store::snapshot::load(&mut tx, workspace, target.deployment).await?;
        drop(tx);
        let Some(snapshot) = snapshot else { return Ok(None) };
        let outcome = self.converse(snapshot, now, seed).await;
        Ok(outcome.report.targets.into_iter().find(|line| line.target.key == target))
    }
}
