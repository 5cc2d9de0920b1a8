//! Plugins: a component is uploaded. The ones that ship come in through here as well.

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    id::{PluginId, WorkspaceId},
    limits::LARGE_BODY_BYTES_MAX,
    plugin::{Digest, Fault, FaultCode, Plugin},
    wanted::FieldError,
};
use semver::Version as SemVer;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::planning::Mark;

use super::text;
use crate::{CommandError, Engine};

impl Engine {
    /// Takes a component in under a name and version, when it is fit to be a plugin. The same bytes again change
    /// nothing.
    ///
    /// # Errors
    ///
    /// When the component is not fit, or the version is taken by other bytes.
    pub async fn upload_plugin(
        &self,
        caller: &Caller,
        name: &str,
        version: SemVer,
        bytes: Vec<u8>,
    ) -> Result<(Plugin, bool), CommandError> {
        let actor = Actor::User(caller.user.clone());
        self.take_plugin_in(caller.workspace, actor, name, version, bytes).await
    }

    /// The components that ship, for a workspace: through the same checks as any other. Their versions name their bytes
    /// in the build metadata (the bundle sees to that), so that another build of one stands beside it.
    ///
    /// # Errors
    ///
    /// When a component is not fit, which is a fault of this build.
    pub async fn install_shipped_plugins(
        &self,
        workspace: WorkspaceId,
        shipped: impl IntoIterator<Item = (&str, SemVer, &[u8])>,
    ) -> Result<(), CommandError> {
        for (name, version, bytes) in shipped {
            self.take_plugin_in(workspace, Actor::System, name, version, bytes.to_vec()).await?;
        }
        Ok(())
    }

    async fn take_plugin_in(
        &self,
        workspace: WorkspaceId,
        actor: Actor,
        name: &str,
        version: SemVer,
        bytes: Vec<u8>,
    ) -> Result<(Plugin, bool), CommandError> {
        let mut errors: Vec<FieldError> = Vec::new();
        text::name("/name", name, &mut errors);
        if !errors.is_empty() {
            return Err(CommandError::Invalid(errors));
        }
        if bytes.len() > LARGE_BODY_BYTES_MAX {
            let message = format!("is {} bytes long, at most {LARGE_BODY_BYTES_MAX} are allowed", bytes.len());
            return Err(CommandError::Plugin(Fault { code: FaultCode::TooLarge, message }));
        }
        let digest = digest(&bytes);
        if let Some(existing) = self.find_plugin(workspace, name, &version).await? {
            return same_or_conflict(existing, digest);
        }
        let manifest = self.host.load(digest, bytes.clone()).await.map_err(CommandError::Plugin)?;
        let mut tx = self.store.write("command.upload_plugin").await?;
        if let Some(existing) = store::plugin::by_version(&mut tx, workspace, name, &version).await? {
            return same_or_conflict(existing, digest);
        }
        let plugin = Plugin {
            id: PluginId(tx.new_id()),
            workspace,
            name: name.to_owned(),
            version,
            digest,
            manifest,
            created_at: tx.now(),
        };
        store::plugin::insert(&mut tx, &plugin, &bytes).await?;
        let data = json!({"name": name, "version": plugin.version.to_string(), "digest": digest.to_string()});
        let event = NewEvent { kind: EventKind::PluginUploaded, actor, subject: Subject::default(), data };
        store::event::append(&mut tx, workspace, event).await?;
        // A rule may name a range that this version is in.
        store::planning::mark_workspace(&mut tx, workspace, Mark::Facts).await?;
        tx.commit().await?;
        Ok((plugin, true))
    }

    async fn find_plugin(
        &self,
        workspace: WorkspaceId,
        name: &str,
        version: &SemVer,
    ) -> Result<Option<Plugin>, CommandError> {
        let mut tx = self.store.read("command.find_plugin").await?;
        Ok(store::plugin::by_version(&mut tx, workspace, name, version).await?)
    }
}

fn same_or_conflict(existing: Plugin, digest: Digest) -> Result<(Plugin, bool), CommandError> {
    if existing.digest == digest {
        return Ok((existing, false));
    }
    Err(CommandError::Conflict {
        detail: format!(
            "plugin `{}` {} is {}, and a version does not change; upload these bytes ({digest}) under a higher version",
            existing.name, existing.version, existing.digest
        ),
    })
}

fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}
