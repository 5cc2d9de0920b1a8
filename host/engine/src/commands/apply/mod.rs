//! Apply: what a person wants to be there is made so, all of it or nothing.
//!
//! The order of what is wanted does not matter: it is applied by type, so that what is named exists by then. What is
//! there already and equal is left alone, without an event, so that applying twice changes nothing.

mod deployment;
mod environment;
mod freeze;
mod job_agent;
mod policy;
mod resource;
mod rules;
mod system;

use std::collections::HashMap;

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    limits::DOCUMENTS_MAX,
    time::Timestamp,
    wanted::{FieldError, Wanted},
};
use serde_json::json;
use store::{StoreError, Tx, planning::Mark};

use crate::{CommandError, Engine};

/// What became of one wanted thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Its type.
    pub type_name: &'static str,
    /// Its name or identifier.
    pub key: String,
    /// What was done, or would be.
    pub change: Change,
}

/// What was done to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It was not there.
    Created,
    /// It was there and differed.
    Updated,
    /// It was there and equal.
    Unchanged,
}

impl Change {
    /// The name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Engine {
    /// Makes what is wanted so, in one transaction; with `dry_run` only says what would be done. Results are in the
    /// order of `wanted`.
    ///
    /// # Errors
    ///
    /// When anything is wrong with any of it: every fault is named, with pointers `/documents/{index}/…`.
    pub async fn apply(&self, caller: &Caller, wanted: &[Wanted], dry_run: bool) -> Result<Vec<Applied>, CommandError> {
        let mut errors = twice(wanted);
        if wanted.len() > DOCUMENTS_MAX {
            let message = format!("has {} documents, at most {DOCUMENTS_MAX} are allowed", wanted.len());
            errors.push(FieldError { pointer: "/documents".to_owned(), message });
        }
        self.check_rules(caller.workspace, wanted, &mut errors).await?;
        let tx = self.store.write("command.apply").await?;
        let now = tx.now();
        let mut applying = Applying { caller, tx, now, errors, replan_all: false };
        let mut applied: Vec<Option<Applied>> = vec![None; wanted.len()];
        for type_name in ["System", "JobAgent", "Resource", "Environment", "Deployment", "Policy", "Freeze"] {
            for (index, wanted) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.type_name() == type_name) {
                let change = applying.one(index, wanted).await?;
                applied[index] = Some(Applied { type_name, key: wanted.key().to_owned(), change });
            }
        }
        applying.finish(dry_run).await?;
        Ok(applied.into_iter().flatten().collect())
    }
}

/// An apply in its transaction.
struct Applying<'a> {
    caller: &'a Caller,
    tx: Tx,
    now: Timestamp,
    errors: Vec<FieldError>,
    /// Something changed that any deployment's plan may depend on.
    replan_all: bool,
}

impl Applying<'_> {
    async fn one(&mut self, index: usize, wanted: &Wanted) -> Result<Change, StoreError> {
        let at = format!("/documents/{index}");
        match wanted {
            Wanted::System(wanted) => self.system(wanted).await,
            Wanted::JobAgent(wanted) => self.job_agent(wanted).await,
            Wanted::Resource(wanted) => self.resource(wanted).await,
            Wanted::Environment(wanted) => self.environment(&at, wanted).await,
            Wanted::Deployment(wanted) => self.deployment(&at, wanted).await,
            Wanted::Policy(wanted) => self.policy(wanted).await,
            Wanted::Freeze(wanted) => self.freeze(&at, wanted).await,
        }
    }

    async fn finish(mut self, dry_run: bool) -> Result<(), CommandError> {
        if !self.errors.is_empty() {
            return Err(CommandError::Invalid(self.errors));
        }
        if dry_run {
            return Ok(());
        }
        if self.replan_all {
            store::planning::mark_workspace(&mut self.tx, self.caller.workspace, Mark::Facts).await?;
        }
        self.tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(())
    }

    fn wrong(&mut self, pointer: String, message: impl Into<String>) {
        self.errors.push(FieldError { pointer, message: message.into() });
    }

    /// Writes the event of a change; none for what stays as it is.
    async fn tell(&mut self, kind: EventKind, key: &str, subject: Subject) -> Result<(), StoreError> {
        let actor = Actor::User(self.caller.user.clone());
        let event = NewEvent { kind, actor, subject, data: json!({"name": key}) };
        store::event::append(&mut self.tx, self.caller.workspace, event).await
    }

    /// Ids of systems by name; what is not there is an error.
    async fn systems(&mut self, at: &str, names: &[String]) -> Result<Vec<model::id::SystemId>, StoreError> {
        let mut ids = Vec::new();
        for (index, name) in names.iter().enumerate() {
            match store::system::by_name(&mut self.tx, self.caller.workspace, name).await? {
                Some(system) => ids.push(system.id),
                None => self.wrong(
                    format!("{at}/systems/{index}"),
                    format!("there is no system `{name}`; apply a document `type: System` with that name"),
                ),
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

/// Two documents about one thing contradict each other, whatever their order.
fn twice(wanted: &[Wanted]) -> Vec<FieldError> {
    let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
    let mut errors = Vec::new();
    for (index, wanted) in wanted.iter().enumerate() {
        if let Some(first) = seen.insert((wanted.type_name(), wanted.key()), index) {
            let field = if matches!(wanted, Wanted::Resource(_)) { "identifier" } else { "name" };
            let message = format!("{} `{}` is in document {first} as well", wanted.type_name(), wanted.key());
            errors.push(FieldError { pointer: format!("/documents/{index}/{field}"), message });
        }
    }
    errors
}
