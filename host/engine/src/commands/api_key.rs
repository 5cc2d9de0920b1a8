//! Makes API keys and checks them.

use model::{
    access::{ApiKey, Caller, Role},
    event::{Actor, EventKind, NewEvent, Subject},
    id::{ApiKeyId, JobAgentId, WorkspaceId},
    time::Timestamp,
    wanted::FieldError,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::text;
use crate::{CommandError, Engine};

/// What a new key is to be.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// Where it is good.
    pub workspace: WorkspaceId,
    /// Who it stands for.
    pub user: String,
    /// Teams of the user.
    pub teams: Vec<String>,
    /// What it may do.
    pub role: Role,
    /// The one agent whose jobs it may claim.
    pub agent: Option<JobAgentId>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

impl Engine {
    /// Makes a key. Its secret is given here and never again: only a hash is kept.
    ///
    /// # Errors
    ///
    /// When the user's or a team's name is not fit to be one.
    pub async fn create_api_key(&self, actor: &Actor, new: NewApiKey) -> Result<(ApiKey, String), CommandError> {
        let mut errors: Vec<FieldError> = Vec::new();
        text::name("/user", &new.user, &mut errors);
        for (index, team) in new.teams.iter().enumerate() {
            text::name(&format!("/teams/{index}"), team, &mut errors);
        }
        if !errors.is_empty() {
            return Err(CommandError::Invalid(errors));
        }
        let secret = new_secret()?;
        let mut teams = new.teams;
        teams.sort_unstable();
        teams.dedup();
        let mut tx = self.store.write("command.create_api_key").await?;
        let key = ApiKey {
            id: ApiKeyId(tx.new_id()),
            workspace: new.workspace,
            user: new.user,
            teams,
            role: new.role,
            agent: new.agent,
            created_at: tx.now(),
            expires_at: new.expires_at,
        };
        store::access::insert(&mut tx, &key, &hash(&secret)).await?;
        let data = json!({"user": key.user, "role": key.role.name(), "teams": key.teams});
        let event =
            NewEvent { kind: EventKind::ApiKeyCreated, actor: actor.clone(), subject: Subject::default(), data };
        store::event::append(&mut tx, key.workspace, event).await?;
        tx.commit().await?;
        Ok((key, secret))
    }

    /// Who a secret stands for; nothing for one that is unknown or has expired.
    ///
    /// The look-up is by hash of a 256-bit random secret, so its duration says nothing about any other secret.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<(ApiKeyId, Caller)>, CommandError> {
        let mut tx = self.store.read("command.authenticate").await?;
        let now = tx.now();
        let stored = store::access::by_hash(&mut tx, &hash(secret)).await?;
        Ok(stored.filter(|stored| stored.key.expires_at.is_none_or(|end| now < end)).map(|stored| {
            let key = stored.key;
            let caller =
                Caller { workspace: key.workspace, user: key.user, teams: key.teams, role: key.role, agent: key.agent };
            (key.id, caller)
        }))
    }
}

fn new_secret() -> Result<String, CommandError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| CommandError::Conflict {
        detail: format!("this machine gives no random numbers, so no key can be made: {error}"),
    })?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("tg_{hex}"))
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
