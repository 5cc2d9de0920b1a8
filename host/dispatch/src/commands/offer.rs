//! Offer: jobs of an agent's queue are handed to a node, each under a new token.

use model::{
    Json,
    event::EventKind,
    id::{JobAgentId, JobId, WorkspaceId},
    job::Job,
    job_state::{Lease, LeaseToken},
    limits::OFFER_SECONDS,
};
use serde_json::json;
use store::{StoreError, Tx};

use crate::{Dispatch, Offer, event};

impl Dispatch {
    /// Offers up to `max` jobs; none when there are none.
    pub(crate) async fn offer(
        &self,
        workspace: WorkspaceId,
        agent: JobAgentId,
        node: &str,
        max: u32,
    ) -> Result<Vec<Offer>, StoreError> {
        // A look that costs no write: most polls find nothing.
        let mut look = self.store.read("dispatch.look_for_jobs").await?;
        if !store::claim::is_waiting(&mut look, agent).await? {
            return Ok(Vec::new());
        }
        drop(look);
        let mut tx = self.store.write("dispatch.offer").await?;
        let jobs = store::claim::pick(&mut tx, agent, max).await?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let offers = hand_out(&mut tx, workspace, node, jobs).await?;
        tx.commit().await?;
        store::crash_point!("dispatch.claimed");
        Ok(offers)
    }
}

/// Hands locked, queued jobs to a node. It must acknowledge each within 30 s. Nothing is planned anew: to the planner
/// an offered job is a queued one.
pub(super) async fn hand_out(
    tx: &mut Tx,
    workspace: WorkspaceId,
    node: &str,
    mut jobs: Vec<Job>,
) -> Result<Vec<Offer>, StoreError> {
    let now = tx.now();
    let targets: Vec<_> = jobs.iter().map(|job| job.target).collect();
    let tokens = store::claim::tokens(tx, workspace, &targets).await?;
    let mut events = Vec::new();
    for (job, token) in jobs.iter_mut().zip(&tokens) {
        let until = now.plus_seconds(OFFER_SECONDS);
        let lease = Lease { token: *token, holder: node.to_owned(), since: now, until };
        // Only what is queued is picked; anything else stays as it is and is not handed out.
        let Ok(offered) = job.state.claim(lease.clone()) else { continue };
        job.state = offered;
        job.updated_at = now;
        events.push(event::by_holder(EventKind::JobOffered, &lease, job, json!({ "node": node })));
    }
    jobs.retain(|job| job.state.lease().is_some());
    store::job::save_all(tx, &jobs.iter().collect::<Vec<_>>()).await?;
    store::event::append_all(tx, workspace, &events).await?;
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let named = store::job::named(tx, &ids).await?;
    Ok(named
        .into_iter()
        .filter_map(|mut job| {
            let token = job.job.state.lease()?.token;
            put_token(&mut job.job.context, token);
            Some(Offer { token, lease_seconds: job.job.lease_seconds, job })
        })
        .collect())
}

fn put_token(context: &mut Json, token: LeaseToken) {
    if let Some(context) = context.as_object_mut()
        && let Some(job) = context.entry("job").or_insert_with(|| json!({})).as_object_mut()
    {
        job.insert("leaseToken".into(), token.0.into());
    }
}
