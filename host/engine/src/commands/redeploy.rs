//! Redeploy: a person wants a version started again on a target.

use model::{
    access::Caller,
    event::{Actor, EventKind, NewEvent, Subject},
    id::VersionId,
    redeploy::Redeploy,
    release::Closed,
    release_target::TargetKey,
    version::{Version, VersionStatus},
};
use serde_json::json;
use store::planning::Mark;

use super::rollback::{attached, check_reason, end};
use crate::{CommandError, Engine};

impl Engine {
    /// Starts a version again on a target, once every gate lets it go; without one the version that came there last. A
    /// hold on another version ends.
    ///
    /// # Errors
    ///
    /// When the target or version is not there, the version is not ready or older than what runs, or its release was
    /// withdrawn.
    pub async fn redeploy(
        &self,
        caller: &Caller,
        target: TargetKey,
        version: Option<VersionId>,
        reason: &str,
    ) -> Result<Redeploy, CommandError> {
        check_reason(reason)?;
        let mut tx = self.store.write("command.redeploy").await?;
        let now = tx.now();
        attached(&mut tx, caller, target).await?;
        let conflict = |detail: String| CommandError::Conflict { detail };
        let id = match version {
            Some(version) => Some(version),
            None => store::job::last_begun(&mut tx, target).await?.map(|job| job.version),
        };
        let id = id.ok_or_else(|| conflict("nothing was deployed here yet; name the version".to_owned()))?;
        let found = store::version::get(&mut tx, caller.workspace, id).await?;
        let found = found.filter(|found| found.deployment == target.deployment);
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("version {id} of this deployment") })?;
        if found.status != VersionStatus::Ready {
            return Err(conflict(format!(
                "{} is {}, and only what is ready is deployed",
                found.tag,
                found.status.name()
            )));
        }
        let good = store::job::good_versions(&mut tx, target).await?;
        if let Some(current) = good.first() {
            let current = store::version::get(&mut tx, caller.workspace, *current).await?;
            if let Some(current) = current.filter(|current| Version::age_key(current) > Version::age_key(&found)) {
                let (tag, runs) = (&found.tag, &current.tag);
                return Err(conflict(format!("{tag} is older than {runs}, which runs here; use a rollback")));
            }
        }
        let release = super::release::of_version(&mut tx, caller, target, id).await?;
        let release = release
            .ok_or_else(|| conflict(format!("{} has no release here yet, so there is nothing to repeat", found.tag)))?;
        match release.closed.map(|(why, _)| why) {
            Some(Closed::Cancelled) => {
                return Err(conflict(format!("the release of {} was cancelled here, which is for good", found.tag)));
            }
            Some(Closed::Superseded | Closed::Replaced | Closed::RolledBack) => {
                store::release::reopen(&mut tx, release.id).await?;
            }
            None => {}
        }
        if let Some(hold) = store::hold::get(&mut tx, target).await?.filter(|hold| hold.version != id) {
            end(&mut tx, caller, &hold, reason).await?;
        }
        let redeploy = Redeploy {
            workspace: caller.workspace,
            target,
            release: release.id,
            version: id,
            user: caller.user.clone(),
            reason: reason.to_owned(),
            requested_at: now,
        };
        store::redeploy::put(&mut tx, &redeploy).await?;
        let event = NewEvent {
            kind: EventKind::RedeployRequested,
            actor: Actor::User(caller.user.clone()),
            subject: Subject { release: Some(release.id), version: Some(id), ..Subject::target(target) },
            data: json!({"version": found.tag, "reason": reason}),
        };
        store::event::append(&mut tx, caller.workspace, event).await?;
        store::planning::mark(&mut tx, target.deployment, Mark::Facts).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(redeploy)
    }
}
