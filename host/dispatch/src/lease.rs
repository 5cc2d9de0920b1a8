//! What becomes of a job whose time has run out, and who may speak for one. Pure.

use model::{
    event::{Actor, EventKind, NewEvent},
    job::Job,
    job_state::{FinalStatus, JobState, Lease, LeaseToken},
    limits::OFFERS_MAX,
    time::Timestamp,
};
use serde_json::json;

use crate::event;

/// How a token stands to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is the one in force.
    Holds(Lease),
    /// The job ended under it.
    Ended,
    /// It is another's, or an old one.
    Stale,
}

/// How `token` stands to the job as it is.
pub(crate) fn standing(state: &JobState, token: LeaseToken) -> Standing {
    match state {
        JobState::Offered { lease, .. } | JobState::Running { lease, .. } => {
            if lease.token == token {
                Standing::Holds(lease.clone())
            } else {
                Standing::Stale
            }
        }
        JobState::Ended { token: last, .. } => {
            if *last == Some(token) {
                Standing::Ended
            } else {
                Standing::Stale
            }
        }
        JobState::Pending | JobState::Queued { .. } | JobState::Triggered { .. } => Standing::Stale,
    }
}

/// Until when a lease taken or renewed at `now` runs: the job's lease length, but never past its deadline.
pub(crate) fn until(job: &Job, started_at: Timestamp, now: Timestamp) -> Timestamp {
    now.plus_seconds(job.lease_seconds).min(started_at.plus_seconds(job.deadline_seconds))
}

/// When a lease really ends: not within one lease length after `grace_since`. At exactly this instant it has.
pub(crate) fn ends_at(job: &Job, lease: &Lease, grace_since: Timestamp) -> Timestamp {
    lease.until.max(grace_since.plus_seconds(job.lease_seconds))
}

/// Lets time have its way: if the job's offer or lease has run out by `now`, the job moves on, and the event says
/// so. An offer goes back at no cost, until nobody took up so many in a row; a lease ends the attempt.
pub(crate) fn settle(job: &mut Job, now: Timestamp, grace_since: Timestamp) -> Option<NewEvent> {
    match job.state.clone() {
        JobState::Offered { lease, offers } if lease.until <= now => {
            if offers >= OFFERS_MAX {
                let why = format!("offers_exhausted: {offers} offers in a row were not acknowledged");
                end(job, FinalStatus::Failed, "offers_exhausted", why, now)
            } else {
                give_back(job, &lease, "not_acknowledged", Actor::System, now)
            }
        }
        JobState::Running { lease, started_at, cancel_requested_at, .. }
            if ends_at(job, &lease, grace_since) <= now =>
        {
            let deadline = started_at.plus_seconds(job.deadline_seconds);
            let (cause, mut why) = if deadline <= now {
                let seconds = job.deadline_seconds;
                ("deadline_exceeded", format!("deadline_exceeded: not done after {seconds} s"))
            } else {
                let (node, seconds) = (&lease.holder, job.lease_seconds);
                ("lease_expired", format!("lease_expired: node `{node}` was not heard of for {seconds} s"))
            };
            match cancel_requested_at {
                Some(_) => {
                    why.push_str(" after it was asked to cancel");
                    end(job, FinalStatus::Cancelled, cause, why, now)
                }
                None => end(job, FinalStatus::Failed, cause, why, now),
            }
        }
        JobState::Pending
        | JobState::Queued { .. }
        | JobState::Offered { .. }
        | JobState::Triggered { .. }
        | JobState::Running { .. }
        | JobState::Ended { .. } => None,
    }
}

/// The offer goes back to the queue.
pub(crate) fn give_back(
    job: &mut Job,
    lease: &Lease,
    cause: &'static str,
    actor: Actor,
    now: Timestamp,
) -> Option<NewEvent> {
    job.state = job.state.give_back().ok()?;
    job.updated_at = now;
    let data = json!({ "cause": cause, "node": lease.holder, "leaseToken": lease.token.0 });
    Some(event::about(EventKind::JobOfferLapsed, actor, job, data))
}

fn end(job: &mut Job, status: FinalStatus, cause: &'static str, why: String, now: Timestamp) -> Option<NewEvent> {
    let lease = job.state.lease().cloned();
    job.state = job.state.end(status, now).ok()?;
    job.updated_at = now;
    let node = lease.as_ref().map(|lease| lease.holder.as_str());
    let token = lease.as_ref().map(|lease| lease.token.0);
    let data = json!({ "cause": cause, "message": why, "node": node, "leaseToken": token });
    job.message = why;
    Some(event::about(EventKind::JobEnded, Actor::System, job, data))
}
