//! What the audit trail says of jobs. Written in the transaction of the change.

use model::{
    Json,
    event::{Actor, EventKind, NewEvent},
    job::Job,
    job_state::Lease,
};
use serde_json::json;

/// An event about a job; `more` is added to what every one says.
pub(crate) fn about(kind: EventKind, actor: Actor, job: &Job, more: Json) -> NewEvent {
    let mut data = json!({ "status": job.state.status().name(), "attempt": job.attempt });
    if let (Some(data), Json::Object(more)) = (data.as_object_mut(), more) {
        data.extend(more);
    }
    NewEvent { kind, actor, subject: job.subject(), data }
}

/// An event of what the holder of a lease did.
pub(crate) fn by_holder(kind: EventKind, lease: &Lease, job: &Job, more: Json) -> NewEvent {
    let mut event = about(kind, Actor::Node(lease.holder.clone()), job, more);
    if let Some(data) = event.data.as_object_mut() {
        data.insert("leaseToken".into(), lease.token.0.into());
    }
    event
}
