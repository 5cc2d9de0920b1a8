//! Explain: what a pass would say of a target now. Nothing is changed.

use model::{
    id::{DeploymentId, WorkspaceId},
    release_target::TargetKey,
    report::{Report, TargetReport},
};

use crate::{CommandError, Engine, pass::seed};

impl Engine {
    /// Why every target of a deployment is where it is, and until when; nothing when there is no such deployment.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn report(
        &self,
        workspace: WorkspaceId,
        deployment: DeploymentId,
    ) -> Result<Option<Report>, CommandError> {
        let mut tx = self.store.read("engine.report").await?;
        let now = tx.now();
        let seed = seed(tx.new_id());
        let snapshot = store::snapshot::load(&mut tx, workspace, deployment).await?;
        drop(tx);
        match snapshot {
            None => Ok(None),
            Some(snapshot) => Ok(Some(self.converse(snapshot, now, seed).await.report)),
        }
    }

    /// Why one target is where it is; nothing when there is no such target.
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
        let report = self.report(workspace, target.deployment).await?;
        Ok(report.and_then(|report| report.targets.into_iter().find(|line| line.target.key == target)))
    }
}
