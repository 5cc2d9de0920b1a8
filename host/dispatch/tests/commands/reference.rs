//! Dispatch of one job as a person would explain it: slow, small, without a database.

use model::{
    job_state::{FinalStatus, JobStatus},
    limits::{OFFER_SECONDS, OFFERS_MAX},
};

pub const LEASE: i64 = 60;
pub const DEADLINE: i64 = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    Queued,
    Offered {
        token: usize,
        until: i64,
    },
    Running {
        token: usize,
        until: i64,
        started: i64,
        cancel: bool,
    },
    /// The token it ended under, and what was reported if a report ended it.
    Ended {
        status: FinalStatus,
        token: Option<usize>,
        said: Option<(FinalStatus, u8)>,
    },
}

/// What a command says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Ok,
    Nothing,
    Stale,
    Other,
    Illegal,
}

/// Seconds count from the start; tokens from 0, in the order in which they were given.
#[derive(Debug)]
pub struct Reference {
    pub now: i64,
    pub at: At,
    pub offers: u32,
    pub tokens: usize,
    /// No lease of a running job ends before.
    pub grace_ends: i64,
}

impl Reference {
    pub fn new(now: i64, grace_ends: i64) -> Self {
        Self { now, at: At::Queued, offers: 0, tokens: 0, grace_ends }
    }

    /// Time has its way.
    pub fn settle(&mut self) {
        match self.at {
            At::Offered { token, until } if until <= self.now => {
                self.at = if self.offers >= OFFERS_MAX {
                    At::Ended { status: FinalStatus::Failed, token: Some(token), said: None }
                } else {
                    At::Queued
                };
            }
            At::Running { token, until, cancel, .. } if until.max(self.grace_ends) <= self.now => {
                let status = if cancel { FinalStatus::Cancelled } else { FinalStatus::Failed };
                self.at = At::Ended { status, token: Some(token), said: None };
            }
            At::Queued | At::Offered { .. } | At::Running { .. } | At::Ended { .. } => {}
        }
    }

    pub fn claim(&mut self) -> Said {
        if self.at != At::Queued {
            return Said::Nothing;
        }
        self.offers += 1;
        self.at = At::Offered { token: self.tokens, until: self.now + OFFER_SECONDS };
        self.tokens += 1;
        Said::Ok
    }

    /// A report; `None` for the status is progress.
    pub fn report(&mut self, with: usize, status: Option<FinalStatus>, body: u8) -> Said {
        self.settle();
        match self.at.clone() {
            At::Offered { token, .. } if token == with => {
                let until = self.now + LEASE.min(DEADLINE);
                self.at = At::Running { token, until, started: self.now, cancel: false };
                self.end(token, status, body)
            }
            At::Running { token, .. } if token == with => self.end(token, status, body),
            At::Ended { token: Some(token), said: Some(said), .. } if token == with => {
                if status.is_some_and(|status| (status, body) == said) { Said::Ok } else { Said::Other }
            }
            At::Queued | At::Offered { .. } | At::Running { .. } | At::Ended { .. } => Said::Stale,
        }
    }

    fn end(&mut self, token: usize, status: Option<FinalStatus>, body: u8) -> Said {
        if let Some(status) = status {
            self.at = At::Ended { status, token: Some(token), said: Some((status, body)) };
        }
        Said::Ok
    }

    pub fn heartbeat(&mut self, with: usize) -> Said {
        self.settle();
        match &mut self.at {
            At::Offered { token, .. } if *token == with => Said::Ok,
            At::Running { token, until, started, .. } if *token == with => {
                *until = (self.now + LEASE).min(*started + DEADLINE);
                Said::Ok
            }
            At::Queued | At::Offered { .. } | At::Running { .. } | At::Ended { .. } => Said::Stale,
        }
    }

    pub fn give_back(&mut self, with: usize) -> Said {
        self.settle();
        match self.at {
            At::Offered { token, .. } if token == with => {
                self.at = At::Queued;
                Said::Ok
            }
            At::Running { token, .. } if token == with => Said::Illegal,
            At::Queued | At::Offered { .. } | At::Running { .. } | At::Ended { .. } => Said::Stale,
        }
    }

    pub fn cancel(&mut self) -> Said {
        self.settle();
        match &mut self.at {
            At::Queued => self.at = At::Ended { status: FinalStatus::Cancelled, token: None, said: None },
            At::Offered { token, .. } => {
                self.at = At::Ended { status: FinalStatus::Cancelled, token: Some(*token), said: None };
            }
            At::Running { cancel, .. } => *cancel = true,
            At::Ended { .. } => return Said::Illegal,
        }
        Said::Ok
    }

    pub fn status(&self) -> JobStatus {
        match &self.at {
            At::Queued | At::Offered { .. } => JobStatus::Queued,
            At::Running { .. } => JobStatus::InProgress,
            At::Ended { status, .. } => status.status(),
        }
    }
}
