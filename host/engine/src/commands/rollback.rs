//! Rollback and resume: a person brings a target back to what ran there before, and lets it go on.

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    hold::{HeldBy, Hold},
    id::{ReleaseId, VersionId},
    release::Release,
    release_target::TargetKey,
    version::VersionStatus,
    wanted::FieldError,
};
use serde_json::json;
use store::{Tx, planning::Mark};

use super::text;
use crate::{CommandError, Engine};

impl Engine {
    /// Brings a target back to a version, without one to the last that ran there with success before, and holds it
    /// there until somebody resumes. In place of a hold that is there already.
    ///
    /// # Errors
    ///
    /// When the target or version is not there, nothing ran there before, the version is rejected, or runs there.
    pub async fn roll_back(
        &self,
        caller: &Caller,
        target: TargetKey,
        version: Option<VersionId>,
        reason: &str,
    ) -> Result<Hold, CommandError> {
        check_reason(reason)?;
        let mut tx = self.store.write("command.roll_back").await?;
        let now = tx.now();
        attached(&mut tx, caller, target).await?;
        let last = store::job::last_begun(&mut tx, target).await?;
        let running = last.as_ref().map(|job| job.version);
        let good = store::job::good_versions(&mut tx, target).await?;
        // What ran before the one that is rolled back from.
        let before: Vec<VersionId> = good.iter().copied().filter(|version| Some(*version) != running).collect();
        let conflict = |detail: String| CommandError::Conflict { detail };
        let Some(id) = version.or_else(|| before.first().copied()) else {
            return Err(conflict("nothing ran here with success before, so there is nothing to go back to".to_owned()));
        };
        let found = store::version::get(&mut tx, caller.workspace, id).await?;
        let found = found.filter(|found| found.deployment == target.deployment);
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("version {id} of this deployment") })?;
        if found.status == VersionStatus::Rejected {
            return Err(conflict(format!("{} is rejected, so nothing goes back to it", found.tag)));
        }
        if running == Some(id) && good.first() == Some(&id) {
            return Err(conflict(format!("the target runs {} already; there is nothing to go back from", found.tag)));
        }
        let release = release(&mut tx, caller, target, id).await?;
        let steps_back = before.iter().position(|one| *one == id).map_or(0, |place| place + 1);
        let hold = Hold {
            workspace: caller.workspace,
            target,
            release,
            version: id,
            by: HeldBy::Person { user: caller.user.clone() },
            steps_back: u32::try_from(steps_back).unwrap_or(u32::MAX),
            reason: reason.to_owned(),
            since: now,
            failed_at: None,
        };
        store::hold::put(&mut tx, &hold).await?;
        let data = json!({"version": found.tag, "reason": reason});
        tell(&mut tx, caller, &hold, EventKind::TargetHeld, data).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(hold)
    }

    /// A rollback holds the target no longer.
    ///
    /// # Errors
    ///
    /// When the target is not there or not held.
    pub async fn resume(&self, caller: &Caller, target: TargetKey, reason: &str) -> Result<(), CommandError> {
        check_reason(reason)?;
        let mut tx = self.store.write("command.resume").await?;
        attached(&mut tx, caller, target).await?;
        let hold = store::hold::get(&mut tx, target).await?;
        let hold = hold.ok_or_else(|| CommandError::Conflict { detail: "no rollback holds this target".to_owned() })?;
        end(&mut tx, caller, &hold, reason).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Ends a hold in the caller's transaction.
pub(super) async fn end(tx: &mut Tx, caller: &Caller, hold: &Hold, reason: &str) -> Result<(), CommandError> {
    store::hold::end(tx, hold.target).await?;
    tell(tx, caller, hold, EventKind::TargetResumed, json!({"reason": reason})).await
}

pub(super) fn check_reason(reason: &str) -> Result<(), CommandError> {
    let mut errors: Vec<FieldError> = Vec::new();
    text::reason("/reason", reason, &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(CommandError::Invalid(errors)) }
}

/// The target must be there, and nothing is started where the selectors no longer match.
pub(super) async fn attached(tx: &mut Tx, caller: &Caller, target: TargetKey) -> Result<(), CommandError> {
    let found = store::release_target::get(tx, caller.workspace, target).await?;
    let found = found.ok_or_else(|| CommandError::NotFound { what: format!("release target {target}") })?;
    if found.state.attached {
        return Ok(());
    }
    Err(CommandError::Conflict { detail: "the selectors no longer match this target".to_owned() })
}

/// The release of a version on a target, made where it never went there.
async fn release(
    tx: &mut Tx,
    caller: &Caller,
    target: TargetKey,
    version: VersionId,
) -> Result<ReleaseId, CommandError> {
    if let Some(found) = super::release::of_version(tx, caller, target, version).await? {
        return Ok(found.id);
    }
    let release = Release {
        id: ReleaseId(tx.new_id()),
        workspace: caller.workspace,
        target,
        version,
        variables: None,
        created_at: tx.now(),
        closed: None,
        rollout: None,
    };
    store::release::insert(tx, &release).await?;
    Ok(release.id)
}

async fn tell(
    tx: &mut Tx,
    caller: &Caller,
    hold: &Hold,
    kind: EventKind,
    data: model::Json,
) -> Result<(), CommandError> {
    let subject = Subject { release: Some(hold.release), version: Some(hold.version), ..Subject::target(hold.target) };
    let event = NewEvent { kind, actor: Actor::User(caller.user.clone()), subject, data };
    store::event::append(tx, caller.workspace, event).await?;
    store::planning::mark(tx, hold.target.deployment, Mark::Facts).await?;
    Ok(())
}
