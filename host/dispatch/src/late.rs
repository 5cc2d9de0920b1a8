//! What was said under a token that does not hold: kept as evidence, told of once, and never applied.

use model::{
    access::Caller,
    event::{Actor, EventKind},
    job::Job,
    job_state::{JobStatus, LeaseToken},
    limits::LATE_RESULTS_MAX,
    time::Timestamp,
};
use serde_json::json;
use store::{StoreError, Tx, job_result::JobResult};

use crate::{Report, event};

/// Keeps a report that changed nothing. The same one again adds nothing, and one job keeps a bounded number.
pub(crate) async fn keep(
    tx: &mut Tx,
    caller: &Caller,
    job: &Job,
    token: LeaseToken,
    report: &Report,
    body_hash: [u8; 32],
) -> Result<(), StoreError> {
    let kept = store::job_result::of_job(tx, job.id).await?;
    if kept.iter().filter(|result| !result.accepted).count() >= LATE_RESULTS_MAX {
        tracing::warn!(job = %job.id, "more late results than are kept; this one is dropped");
        return Ok(());
    }
    let result = JobResult {
        token,
        at: tx.now(),
        accepted: false,
        status: report.status.unwrap_or(JobStatus::InProgress),
        body_hash,
        body: body(report),
    };
    if !store::job_result::insert(tx, job.id, &result).await? {
        return Ok(());
    }
    let data = json!({ "leaseToken": token.0, "reported": result.status.name(), "message": report.message });
    let actor = Actor::User(caller.user.clone());
    store::event::append(tx, job.workspace, event::about(EventKind::LateResultRejected, actor, job, data)).await
}

/// Who holds the job now; failing that, who holds another job of its target: the fence is the target's.
pub(crate) async fn present_holder(tx: &mut Tx, job: &Job) -> Result<Option<(String, Timestamp)>, StoreError> {
    let other = match job.state.lease() {
        Some(_) => None,
        None => store::job::leased_on_target(tx, job.target).await?,
    };
    let lease = job.state.lease().or_else(|| other.as_ref().and_then(|other| other.state.lease()));
    Ok(lease.map(|lease| (lease.holder.clone(), lease.since)))
}

/// A report as it is kept.
pub(crate) fn body(report: &Report) -> String {
    json!({
        "status": report.status.map(JobStatus::name),
        "message": report.message,
        "externalId": report.external_id,
        "links": report.links,
    })
    .to_string()
}
