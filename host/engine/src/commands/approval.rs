//! Approvals: a person says yes or no to a version in environments.

use model::{
    access::{Caller, Role},
    approval::{Approval, ApprovalDecision},
    event::{Actor, EventKind, NewEvent, Subject},
    id::{ApprovalId, EnvironmentId, VersionId},
    wanted::FieldError,
};
use serde_json::json;
use store::planning::Mark;

use super::text;
use crate::{CommandError, Engine};

impl Engine {
    /// Records what the caller says of a version in these environments. A person has one word for a version in an
    /// environment: the last. The same word again changes nothing.
    ///
    /// # Errors
    ///
    /// When the version or an environment is not there, or no environment is named.
    pub async fn record_approval(
        &self,
        caller: &Caller,
        version: VersionId,
        environments: &[EnvironmentId],
        decision: ApprovalDecision,
        reason: &str,
    ) -> Result<Vec<Approval>, CommandError> {
        let mut errors: Vec<FieldError> = Vec::new();
        text::message("/reason", reason, &mut errors);
        if environments.is_empty() {
            let message = "must name at least one environment; an approval is for one".to_owned();
            errors.push(FieldError { pointer: "/environmentIds".to_owned(), message });
        }
        if !errors.is_empty() {
            return Err(CommandError::Invalid(errors));
        }
        let mut tx = self.store.write("command.record_approval").await?;
        let now = tx.now();
        let found = store::version::get(&mut tx, caller.workspace, version).await?;
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("version {version}") })?;
        let given = store::approval::list_for_version(&mut tx, caller.workspace, version).await?;
        let mut approvals = Vec::new();
        let mut changed = false;
        for (index, id) in environments.iter().enumerate() {
            let environment = store::environment::get(&mut tx, caller.workspace, *id).await?;
            let environment = environment.ok_or_else(|| {
                CommandError::field(format!("/environmentIds/{index}"), format!("there is no environment {id}"))
            })?;
            let before = given.iter().find(|before| before.environment == *id && before.user == caller.user);
            if let Some(same) = before.filter(|before| before.decision == decision && before.reason == reason) {
                approvals.push(same.clone());
                continue;
            }
            let approval = Approval {
                id: ApprovalId(tx.new_id()),
                workspace: caller.workspace,
                version,
                environment: *id,
                user: caller.user.clone(),
                roles_then: caller.teams.clone(),
                roles_now: caller.teams.clone(),
                decision,
                at: now,
                reason: reason.to_owned(),
            };
            let approval = store::approval::put(&mut tx, &approval).await?;
            let event = NewEvent {
                kind: match decision {
                    ApprovalDecision::Approved => EventKind::VersionApproved,
                    ApprovalDecision::Rejected => EventKind::VersionRejected,
                },
                actor: Actor::User(caller.user.clone()),
                subject: Subject {
                    deployment: Some(found.deployment),
                    environment: Some(*id),
                    version: Some(version),
                    ..Subject::default()
                },
                data: json!({"version": found.tag, "environment": environment.name, "reason": reason}),
            };
            store::event::append(&mut tx, caller.workspace, event).await?;
            approvals.push(approval);
            changed = true;
        }
        if changed {
            store::planning::mark(&mut tx, found.deployment, Mark::Facts).await?;
            tx.commit().await?;
            store::crash_point!("command.committed");
        }
        Ok(approvals)
    }
    /// Takes back what a person said of a version in an environment: one's own word, or as an admin anybody's.
    ///
    /// # Errors
    ///
    /// When there is no such word, or it is somebody else's.
    pub async fn withdraw_approval(
        &self,
        caller: &Caller,
        version: VersionId,
        environment: EnvironmentId,
        user: &str,
    ) -> Result<(), CommandError> {
        if user != caller.user && caller.role != Role::Admin {
            return Err(CommandError::Conflict { detail: format!("only {user} or an admin may take this word back") });
        }
        let mut tx = self.store.write("command.withdraw_approval").await?;
        let found = store::version::get(&mut tx, caller.workspace, version).await?;
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("version {version}") })?;
        if !store::approval::remove(&mut tx, version, environment, user).await? {
            return Err(CommandError::NotFound { what: format!("word of {user} on version `{}`", found.tag) });
        }
        let event = NewEvent {
            kind: EventKind::ApprovalWithdrawn,
            actor: Actor::User(caller.user.clone()),
            subject: Subject {
                deployment: Some(found.deployment),
                environment: Some(environment),
                version: Some(version),
                ..Subject::default()
            },
            data: json!({"version": found.tag, "user": user}),
        };
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark(&mut tx, found.deployment, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(())
    }
}
