//! Where a job stands, and the one table of how it may change.
//!
//! A state carries exactly the data of that state. Every change is a method that looks at the present state and
//! gives the next one or [`IllegalTransition`], which names both; nothing else makes a state from another.

use crate::time::Timestamp;

/// A job's status, as the API and policies see it. The last seven are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobStatus {
    /// Made, not yet offered.
    Pending,
    /// An agent may claim it, or has been offered it.
    Queued,
    /// Handed to an outside system.
    Triggered,
    /// An agent works on it.
    InProgress,
    /// An agent waits for a person.
    ActionRequired,
    /// Done.
    Completed,
    /// Ended without success.
    Failed,
    /// Called off.
    Cancelled,
    /// Never started: its gates closed again before an agent took it.
    Skipped,
    /// The agent is unfit or its configuration wrong.
    InvalidJobAgent,
    /// What the agent talks to is unfit.
    InvalidIntegration,
    /// The outside run vanished.
    ExternalRunNotFound,
}

impl JobStatus {
    /// Every status.
    pub const ALL: [Self; 12] = [
        Self::Pending,
        Self::Queued,
        Self::Triggered,
        Self::InProgress,
        Self::ActionRequired,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Skipped,
        Self::InvalidJobAgent,
        Self::InvalidIntegration,
        Self::ExternalRunNotFound,
    ];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Queued => "queued",
            Self::Triggered => "triggered",
            Self::InProgress => "in_progress",
            Self::ActionRequired => "action_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::InvalidJobAgent => "invalid_job_agent",
            Self::InvalidIntegration => "invalid_integration",
            Self::ExternalRunNotFound => "external_run_not_found",
        }
    }

    /// The status of that name; also Ctrlplane's spellings.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "inProgress" => Some(Self::InProgress),
            "actionRequired" => Some(Self::ActionRequired),
            "successful" => Some(Self::Completed),
            "failure" => Some(Self::Failed),
            "invalidJobAgent" => Some(Self::InvalidJobAgent),
            "invalidIntegration" => Some(Self::InvalidIntegration),
            "externalRunNotFound" => Some(Self::ExternalRunNotFound),
            _ => Self::ALL.into_iter().find(|status| status.name() == name),
        }
    }

    /// The same status as an end, for those that are.
    #[must_use]
    pub const fn as_final(self) -> Option<FinalStatus> {
        match self {
            Self::Pending | Self::Queued | Self::Triggered | Self::InProgress | Self::ActionRequired => None,
            Self::Completed => Some(FinalStatus::Completed),
            Self::Failed => Some(FinalStatus::Failed),
            Self::Cancelled => Some(FinalStatus::Cancelled),
            Self::Skipped => Some(FinalStatus::Skipped),
            Self::InvalidJobAgent => Some(FinalStatus::InvalidJobAgent),
            Self::InvalidIntegration => Some(FinalStatus::InvalidIntegration),
            Self::ExternalRunNotFound => Some(FinalStatus::ExternalRunNotFound),
        }
    }

    /// Whether nothing follows.
    #[must_use]
    pub const fn is_final(self) -> bool {
        self.as_final().is_some()
    }
}

/// A status that ends a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FinalStatus {
    /// Done.
    Completed,
    /// Ended without success.
    Failed,
    /// Called off.
    Cancelled,
    /// Never started.
    Skipped,
    /// The agent is unfit.
    InvalidJobAgent,
    /// What the agent talks to is unfit.
    InvalidIntegration,
    /// The outside run vanished.
    ExternalRunNotFound,
}

impl FinalStatus {
    /// As a status.
    #[must_use]
    pub const fn status(self) -> JobStatus {
        match self {
            Self::Completed => JobStatus::Completed,
            Self::Failed => JobStatus::Failed,
            Self::Cancelled => JobStatus::Cancelled,
            Self::Skipped => JobStatus::Skipped,
            Self::InvalidJobAgent => JobStatus::InvalidJobAgent,
            Self::InvalidIntegration => JobStatus::InvalidIntegration,
            Self::ExternalRunNotFound => JobStatus::ExternalRunNotFound,
        }
    }
}

/// The fence: new at every claim, rising strictly over all jobs of a release target. Below 2^53, so that every
/// JSON reader carries it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseToken(pub i64);

/// Who holds a job, under which token, until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The fence.
    pub token: LeaseToken,
    /// The node.
    pub holder: String,
    /// Since when the holder has it.
    pub since: Timestamp,
    /// At exactly this instant it has run out.
    pub until: Timestamp,
}

/// Where a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// Made, not yet offered.
    Pending,
    /// An agent may claim it.
    Queued {
        /// Offers in a row that nobody acknowledged.
        offers: u32,
    },
    /// An agent was handed it and has not acknowledged. Its status is still `queued`.
    Offered {
        /// Who, and until when it must acknowledge.
        lease: Lease,
        /// This offer included.
        offers: u32,
    },
    /// Handed to an outside system.
    Triggered {
        /// When.
        started_at: Timestamp,
    },
    /// An agent works on it.
    Running {
        /// Who.
        lease: Lease,
        /// When it acknowledged.
        started_at: Timestamp,
        /// Whether it waits for a person.
        action_required: bool,
        /// When somebody asked it to stop.
        cancel_requested_at: Option<Timestamp>,
    },
    /// Nothing follows.
    Ended {
        /// How it ended.
        status: FinalStatus,
        /// When an agent began, if one did.
        started_at: Option<Timestamp>,
        /// When it ended.
        ended_at: Timestamp,
        /// The token under which it ended, if a claim ended it.
        token: Option<LeaseToken>,
    },
}

/// A change that the present state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a job that is `{}` cannot become `{}`", from.name(), to.name())]
pub struct IllegalTransition {
    /// Where it stands.
    pub from: JobStatus,
    /// What was wanted.
    pub to: JobStatus,
}

/// The table: what may follow what. Every method below asks it.
#[must_use]
pub const fn may_follow(from: JobStatus, to: JobStatus) -> bool {
    use JobStatus::{
        ActionRequired, Cancelled, Completed, ExternalRunNotFound, Failed, InProgress, InvalidIntegration,
        InvalidJobAgent, Pending, Queued, Skipped, Triggered,
    };
    match from {
        Pending => matches!(to, Queued | Triggered | Cancelled | Skipped | InvalidJobAgent),
        // Queued to queued: an offer, and an offer that lapsed or was given back.
        Queued => matches!(to, Queued | InProgress | Failed | Cancelled | Skipped | InvalidJobAgent),
        Triggered => matches!(
            to,
            InProgress
                | ActionRequired
                | Completed
                | Failed
                | Cancelled
                | InvalidJobAgent
                | InvalidIntegration
                | ExternalRunNotFound
        ),
        InProgress | ActionRequired => matches!(
            to,
            InProgress
                | ActionRequired
                | Completed
                | Failed
                | Cancelled
                | InvalidJobAgent
                | InvalidIntegration
                | ExternalRunNotFound
        ),
        Completed | Failed | Cancelled | Skipped | InvalidJobAgent | InvalidIntegration | ExternalRunNotFound => false,
    }
}

impl JobState {
    /// The status of this state.
    #[must_use]
    pub const fn status(&self) -> JobStatus {
        match self {
            Self::Pending => JobStatus::Pending,
            Self::Queued { .. } | Self::Offered { .. } => JobStatus::Queued,
            Self::Triggered { .. } => JobStatus::Triggered,
            Self::Running { action_required: false, .. } => JobStatus::InProgress,
            Self::Running { action_required: true, .. } => JobStatus::ActionRequired,
            Self::Ended { status, .. } => status.status(),
        }
    }

    /// The lease in force, if there is one.
    #[must_use]
    pub const fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Offered { lease, .. } | Self::Running { lease, .. } => Some(lease),
            Self::Pending | Self::Queued { .. } | Self::Triggered { .. } | Self::Ended { .. } => None,
        }
    }

    /// When somebody began to work on it, if anyone did.
    #[must_use]
    pub const fn started_at(&self) -> Option<Timestamp> {
        match self {
            Self::Pending | Self::Queued { .. } | Self::Offered { .. } => None,
            Self::Triggered { started_at } | Self::Running { started_at, .. } => Some(*started_at),
            Self::Ended { started_at, .. } => *started_at,
        }
    }

    /// When it ended, if it did.
    #[must_use]
    pub const fn ended_at(&self) -> Option<Timestamp> {
        match self {
            Self::Ended { ended_at, .. } => Some(*ended_at),
            Self::Pending
            | Self::Queued { .. }
            | Self::Offered { .. }
            | Self::Triggered { .. }
            | Self::Running { .. } => None,
        }
    }

    /// Made → an agent may claim it.
    pub fn offer(&self) -> Result<Self, IllegalTransition> {
        match self {
            Self::Pending => Ok(Self::Queued { offers: 0 }),
            _ => Err(self.illegal(JobStatus::Queued)),
        }
    }

    /// An agent is handed the job under a new token; it must acknowledge before `until`.
    pub fn claim(&self, lease: Lease) -> Result<Self, IllegalTransition> {
        match self {
            Self::Queued { offers } => Ok(Self::Offered { lease, offers: offers + 1 }),
            _ => Err(self.illegal(JobStatus::Queued)),
        }
    }

    /// The holder takes the offer up; its lease now runs until `until`. Again by the same holder: no change.
    pub fn acknowledge(&self, now: Timestamp, until: Timestamp) -> Result<Self, IllegalTransition> {
        match self {
            Self::Offered { lease, .. } => Ok(Self::Running {
                lease: Lease { until, ..lease.clone() },
                started_at: now,
                action_required: false,
                cancel_requested_at: None,
            }),
            Self::Running { .. } => Ok(self.clone()),
            Self::Pending | Self::Queued { .. } | Self::Triggered { .. } | Self::Ended { .. } => {
                Err(self.illegal(JobStatus::InProgress))
            }
        }
    }

    /// An offer that lapsed or was given back: free for others, at no cost of an attempt.
    pub fn give_back(&self) -> Result<Self, IllegalTransition> {
        match self {
            Self::Offered { offers, .. } => Ok(Self::Queued { offers: *offers }),
            _ => Err(self.illegal(JobStatus::Queued)),
        }
    }

    /// The holder is alive: the lease now runs until `until`.
    pub fn renew(&self, until: Timestamp) -> Result<Self, IllegalTransition> {
        let mut next = self.clone();
        match &mut next {
            Self::Offered { lease, .. } | Self::Running { lease, .. } => lease.until = until,
            Self::Pending | Self::Queued { .. } | Self::Triggered { .. } | Self::Ended { .. } => {
                return Err(self.illegal(JobStatus::InProgress));
            }
        }
        Ok(next)
    }

    /// The holder waits for a person, or no longer does.
    pub fn await_person(&self, waits: bool) -> Result<Self, IllegalTransition> {
        let mut next = self.clone();
        match &mut next {
            Self::Running { action_required, .. } => *action_required = waits,
            Self::Pending
            | Self::Queued { .. }
            | Self::Offered { .. }
            | Self::Triggered { .. }
            | Self::Ended { .. } => {
                let to = if waits { JobStatus::ActionRequired } else { JobStatus::InProgress };
                return Err(self.illegal(to));
            }
        }
        Ok(next)
    }

    /// It ends.
    pub fn end(&self, status: FinalStatus, now: Timestamp) -> Result<Self, IllegalTransition> {
        if !may_follow(self.status(), status.status()) {
            return Err(self.illegal(status.status()));
        }
        Ok(Self::Ended {
            status,
            started_at: self.started_at(),
            ended_at: now,
            token: self.lease().map(|lease| lease.token),
        })
    }

    /// Somebody wants it stopped: what nobody works on is cancelled, what runs is asked.
    pub fn cancel(&self, now: Timestamp) -> Result<Self, IllegalTransition> {
        match self {
            Self::Pending | Self::Queued { .. } | Self::Offered { .. } | Self::Triggered { .. } => {
                self.end(FinalStatus::Cancelled, now)
            }
            Self::Running { lease, started_at, action_required, cancel_requested_at } => Ok(Self::Running {
                lease: lease.clone(),
                started_at: *started_at,
                action_required: *action_required,
                cancel_requested_at: cancel_requested_at.or(Some(now)),
            }),
            Self::Ended { .. } => Err(self.illegal(JobStatus::Cancelled)),
        }
    }

    const fn illegal(&self, to: JobStatus) -> IllegalTransition {
        IllegalTransition { from: self.status(), to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1000);

    fn lease() -> Lease {
        Lease { token: LeaseToken(7), holder: "n1".into(), since: NOW, until: NOW.plus_seconds(30) }
    }

    fn every_state() -> Vec<JobState> {
        let ended = |status: JobStatus| JobState::Ended {
            status: status.as_final().expect("a final status"),
            started_at: None,
            ended_at: NOW,
            token: None,
        };
        let running = |action_required| JobState::Running {
            lease: lease(),
            started_at: NOW,
            action_required,
            cancel_requested_at: None,
        };
        let mut states = vec![
            JobState::Pending,
            JobState::Queued { offers: 0 },
            JobState::Offered { lease: lease(), offers: 1 },
            JobState::Triggered { started_at: NOW },
            running(false),
            running(true),
        ];
        states.extend(JobStatus::ALL.into_iter().filter(|status| status.is_final()).map(ended));
        states
    }

    /// Whatever a command makes of a state, the table allows it, and what has ended stays as it is.
    #[test]
    fn every_command_on_every_state_keeps_to_the_table() {
        let mut allowed = 0;
        for state in every_state() {
            let mut results = vec![
                state.offer(),
                state.claim(lease()),
                state.acknowledge(NOW, NOW),
                state.give_back(),
                state.renew(NOW),
                state.await_person(true),
                state.await_person(false),
                state.cancel(NOW),
            ];
            results.extend(JobStatus::ALL.iter().filter_map(|status| status.as_final()).map(|end| state.end(end, NOW)));
            for result in results {
                match result {
                    Ok(next) => {
                        allowed += 1;
                        assert!(may_follow(state.status(), next.status()), "{state:?} became {next:?}");
                    }
                    Err(error) => assert_eq!(error.from, state.status()),
                }
            }
            if state.status().is_final() {
                assert!(JobStatus::ALL.iter().all(|to| !may_follow(state.status(), *to)));
            }
        }
        assert_eq!(allowed, 48);
    }

    #[test]
    fn names_round_trip_and_other_spellings_are_read() {
        for status in JobStatus::ALL {
            assert_eq!(JobStatus::parse(status.name()), Some(status));
            assert_eq!(status.as_final().map(FinalStatus::status), status.is_final().then_some(status));
        }
        assert_eq!(JobStatus::parse("successful"), Some(JobStatus::Completed));
        assert_eq!(JobStatus::parse("Completed"), None);
    }

    #[test]
    fn a_cancel_of_a_running_job_only_asks() {
        let running = JobState::Offered { lease: lease(), offers: 1 }.acknowledge(NOW, NOW).expect("offered");
        let asked = running.cancel(NOW).expect("running");
        assert_eq!(asked.status(), JobStatus::InProgress);
        assert!(asked.end(FinalStatus::Completed, NOW).is_ok(), "a result that wins the race stays");
        assert_eq!(asked.cancel(NOW.plus_seconds(5)).expect("running"), asked, "the first asking stands");
    }
}
