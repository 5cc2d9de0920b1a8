//! Versions: CI reports one, a person changes its status.

use model::{
    Json, Labels,
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    id::{DeploymentId, VersionId},
    time::Timestamp,
    version::{Version, VersionStatus},
    wanted::FieldError,
};
use serde_json::json;
use store::planning::Mark;

use super::text;
use crate::{CommandError, Engine};

/// What CI reports.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVersion {
    /// Of which deployment.
    pub deployment: DeploymentId,
    /// Unique in the deployment.
    pub tag: String,
    /// Name for people; the tag when absent.
    pub name: Option<String>,
    /// Whatever rules and executors need to know.
    pub config: Json,
    /// Merged over the deployment's.
    pub job_agent_config: Json,
    /// Labels.
    pub metadata: Labels,
    /// How far it is.
    pub status: VersionStatus,
    /// When it was made; now when absent.
    pub created_at: Option<Timestamp>,
}

impl Engine {
    /// Takes a version in. The same report again gives the same version and changes nothing.
    ///
    /// # Errors
    ///
    /// When the deployment is not there, a field is wrong, or the tag is taken by a version with other content.
    pub async fn create_version(&self, caller: &Caller, new: NewVersion) -> Result<(Version, bool), CommandError> {
        let name = new.name.clone().unwrap_or_else(|| new.tag.clone());
        let mut errors: Vec<FieldError> = Vec::new();
        text::name("/tag", &new.tag, &mut errors);
        text::name("/name", &name, &mut errors);
        text::labels("/metadata", &new.metadata, &mut errors);
        if !errors.is_empty() {
            return Err(CommandError::Invalid(errors));
        }
        let mut tx = self.store.write("command.create_version").await?;
        let now = tx.now();
        if store::deployment::get(&mut tx, caller.workspace, new.deployment).await?.is_none() {
            return Err(CommandError::NotFound { what: format!("deployment {}", new.deployment) });
        }
        if let Some(existing) = store::version::by_tag(&mut tx, new.deployment, &new.tag).await? {
            return same_or_conflict(existing, &new, &name);
        }
        let version = Version {
            id: VersionId(tx.new_id()),
            workspace: caller.workspace,
            deployment: new.deployment,
            tag: new.tag,
            name,
            config: new.config,
            job_agent_config: new.job_agent_config,
            metadata: new.metadata,
            status: new.status,
            created_at: new.created_at.unwrap_or(now),
            received_at: now,
            ready_at: (new.status == VersionStatus::Ready).then_some(now),
            created_by: Some(caller.user.clone()),
        };
        store::version::insert(&mut tx, &version).await?;
        let data = json!({"version": version.tag, "status": version.status.name()});
        let event = about(caller, &version, EventKind::VersionCreated, data);
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark(&mut tx, version.deployment, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok((version, true))
    }

    /// Changes how far a version is.
    ///
    /// # Errors
    ///
    /// When the version is not there.
    pub async fn set_version_status(
        &self,
        caller: &Caller,
        version: VersionId,
        status: VersionStatus,
    ) -> Result<Version, CommandError> {
        let mut tx = self.store.write("command.set_version_status").await?;
        let found = store::version::get(&mut tx, caller.workspace, version).await?;
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("version {version}") })?;
        if found.status == status {
            return Ok(found);
        }
        store::version::set_status(&mut tx, version, status).await?;
        let data = json!({"version": found.tag, "from": found.status.name(), "to": status.name()});
        let event = about(caller, &found, EventKind::VersionStatusChanged, data);
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark(&mut tx, found.deployment, Mark::Facts).await?;
        tx.commit().await?;
        Ok(Version { status, ..found })
    }
}

/// A report that is sent again is answered again; another one under the same tag is refused.
fn same_or_conflict(existing: Version, new: &NewVersion, name: &str) -> Result<(Version, bool), CommandError> {
    let same = existing.name == name
        && existing.config == new.config
        && existing.job_agent_config == new.job_agent_config
        && existing.metadata == new.metadata
        && new.created_at.is_none_or(|at| at == existing.created_at);
    if same {
        return Ok((existing, false));
    }
    Err(CommandError::Conflict {
        detail: format!(
            "this deployment has a version `{}` already, with other content; a version does not change, so report \
             the new content under a tag of its own",
            existing.tag
        ),
    })
}

fn about(caller: &Caller, version: &Version, kind: EventKind, data: Json) -> NewEvent {
    NewEvent {
        kind,
        actor: Actor::User(caller.user.clone()),
        subject: Subject { deployment: Some(version.deployment), version: Some(version.id), ..Subject::default() },
        data,
    }
}
