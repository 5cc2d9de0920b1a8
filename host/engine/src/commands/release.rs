//! Releases: a person withdraws one for good.

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    id::{ReleaseId, VersionId},
    job_state::JobState,
    release::{Closed, Release},
    release_target::TargetKey,
};
use serde_json::json;
use store::{Page, Tx, planning::Mark, release::Filter};

use super::rollback::check_reason;
use crate::{CommandError, Engine};

impl Engine {
    /// Withdraws a release: it is never started on its target again, and its jobs are called off. Withdrawing it again
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// When it is not there, or closed for another reason.
    pub async fn cancel_release(&self, caller: &Caller, id: ReleaseId, reason: &str) -> Result<Release, CommandError> {
        check_reason(reason)?;
        let mut tx = self.store.write("command.cancel_release").await?;
        let now = tx.now();
        let found = store::release::get(&mut tx, caller.workspace, id).await?;
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("release {id}") })?;
        let release = found.release;
        match release.closed {
            Some((Closed::Cancelled, _)) => return Ok(release),
            Some((why, _)) => {
                let detail = format!("the release of {} is {} already", found.version_tag, why.name());
                return Err(CommandError::Conflict { detail });
            }
            None => {}
        }
        // Jobs before targets and planning, as everywhere.
        for job in store::job::unfinished(&mut tx, id).await? {
            let Some(mut job) = store::claim::lock(&mut tx, caller.workspace, job).await? else { continue };
            let Ok(next) = job.state.cancel(now) else { continue };
            if next == job.state {
                continue;
            }
            let kind = match next {
                JobState::Ended { .. } => EventKind::JobEnded,
                JobState::Pending
                | JobState::Queued { .. }
                | JobState::Offered { .. }
                | JobState::Triggered { .. }
                | JobState::Running { .. } => EventKind::JobCancelRequested,
            };
            job.state = next;
            reason.clone_into(&mut job.message);
            job.updated_at = now;
            store::job::save(&mut tx, &job).await?;
            let data = json!({"status": job.state.status().name(), "attempt": job.attempt, "message": reason});
            let actor = Actor::User(caller.user.clone());
            let event = NewEvent { kind, actor, subject: job.subject(), data };
            store::event::append(&mut tx, caller.workspace, event).await?;
        }
        store::release::close(&mut tx, id, Closed::Cancelled).await?;
        store::redeploy::drop_of_release(&mut tx, release.target, id).await?;
        let event = NewEvent {
            kind: EventKind::ReleaseCancelled,
            actor: Actor::User(caller.user.clone()),
            subject: Subject { release: Some(id), version: Some(release.version), ..Subject::target(release.target) },
            data: json!({"version": found.version_tag, "reason": reason}),
        };
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark(&mut tx, release.target.deployment, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(Release { closed: Some((Closed::Cancelled, now)), ..release })
    }
}

/// The release of a version on a target.
pub(super) async fn of_version(
    tx: &mut Tx,
    caller: &Caller,
    target: TargetKey,
    version: VersionId,
) -> Result<Option<Release>, CommandError> {
    let filter = Filter { deployment: None, version: Some(version), target: Some(target) };
    let found = store::release::list(tx, caller.workspace, filter, Page { limit: 1, offset: 0 }).await?;
    Ok(found.items.into_iter().next().map(|named| named.release))
}
