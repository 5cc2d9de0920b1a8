//! Jobs and their agents: offers, leases and their tokens, results, expiry.
//!
//! Every command is one transaction: it locks the job, looks at the state it is in, takes the next one from the
//! model's transitions and writes it with its event. The planner and this crate meet in rows alone. Nothing here
//! decides whether there is another attempt, and nobody but the holder of a job's token can change its course.
#![warn(missing_docs)]

mod commands;
mod error;
mod event;
mod grace;
mod late;
mod lease;
mod poll;
mod sweep;

use std::sync::{Arc, Mutex, PoisonError};

use model::{Labels, job_state::JobStatus, job_state::LeaseToken, time::Timestamp};
use store::{Store, job::NamedJob};

pub use error::{CancelError, ClaimError, ReportError};

use grace::Grace;

/// Hands out jobs and takes in what agents say of them.
#[derive(Debug, Clone)]
pub struct Dispatch {
    store: Store,
    grace: Arc<Mutex<Grace>>,
}

/// A job that an agent was handed.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The job. Its context carries the token, so that scripts can pass it on to what they change.
    pub job: NamedJob,
    /// The fence: goes with everything that is said of the job.
    pub token: LeaseToken,
    /// How long the lease of the job is once it is acknowledged; heartbeats must come faster.
    pub lease_seconds: i64,
}

/// What an agent says of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Where it stands.
    pub status: Option<JobStatus>,
    /// A sentence for people.
    pub message: Option<String>,
    /// What the outside system calls it.
    pub external_id: Option<String>,
    /// Addresses for people; added to those there are.
    pub links: Option<Labels>,
}

/// The answer to a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// The lease ends this many seconds from now unless another heartbeat comes.
    pub lease_seconds: i64,
    /// Somebody wants the job stopped.
    pub cancel: bool,
}

impl Dispatch {
    /// Dispatch over a store. Counts from here: no lease ends within one lease length of its first transaction.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, grace: Arc::default() }
    }

    /// Since when leases may run out by our own doing, as of a transaction at `now`.
    fn grace_since(&self, now: Timestamp) -> Timestamp {
        self.grace().observe(now, self.store.clock().steady())
    }

    fn grace(&self) -> std::sync::MutexGuard<'_, Grace> {
        self.grace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
