//! In-process wake-ups, fired after a commit. They never carry data, may be lost with the process, and say only
//! "look again": every waiter registers before it looks, and looks by period as well.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use model::id::JobAgentId;
use tokio::sync::{Notify, watch};

/// The signals of one store.
#[derive(Debug)]
pub struct Signals {
    planning: watch::Sender<u64>,
    events: watch::Sender<u64>,
    measuring: watch::Sender<u64>,
    jobs: Mutex<HashMap<JobAgentId, Arc<Notify>>>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self {
            planning: watch::Sender::new(0),
            events: watch::Sender::new(0),
            measuring: watch::Sender::new(0),
            jobs: Mutex::default(),
        }
    }

    /// Changes when there is planning work.
    #[must_use]
    pub fn planning(&self) -> watch::Receiver<u64> {
        self.planning.subscribe()
    }

    /// Changes when events got their positions.
    #[must_use]
    pub fn events(&self) -> watch::Receiver<u64> {
        self.events.subscribe()
    }

    /// Changes when something more is to be measured.
    #[must_use]
    pub fn measuring(&self) -> watch::Receiver<u64> {
        self.measuring.subscribe()
    }

    /// Wakes one waiter for each job that this agent may now claim.
    #[must_use]
    pub fn jobs(&self, agent: JobAgentId) -> Arc<Notify> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody else holds what has one owner, so nobody waits there: agents that are gone take no room.
        if jobs.len() > 1024 {
            jobs.retain(|_, notify| Arc::strong_count(notify) > 1);
        }
        Arc::clone(jobs.entry(agent).or_default())
    }

    pub(crate) fn fire_events(&self) {
        self.events.send_modify(|count| *count += 1);
    }

    pub(crate) fn fire(&self, pending: &Pending) {
        if pending.planning {
            self.planning.send_modify(|count| *count += 1);
        }
        if pending.measuring {
            self.measuring.send_modify(|count| *count += 1);
        }
        for (agent, count) in &pending.jobs {
            let notify = self.jobs(*agent);
            (0..*count).for_each(|_| notify.notify_one());
        }
    }
}

/// What a transaction fires once it is committed.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub planning: bool,
    pub measuring: bool,
    pub jobs: BTreeMap<JobAgentId, u32>,
}
