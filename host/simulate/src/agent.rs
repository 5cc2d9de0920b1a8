//! The simulated agents: take every job of their queues at once, and end it as the scenario says.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    time::Duration,
};

use dispatch::{Offer, Report};
use manifest::scenario::{AgentRule, Match, Outcome};
use model::{
    id::{JobAgentId, JobId},
    job_agent::AgentType,
    job_state::{JobStatus, LeaseToken},
    limits::CLAIM_MAX,
    time::Timestamp,
};

use crate::{SimulateError, world::World};

/// The node whose name the agents work under.
pub(crate) const NODE: &str = "sim";

/// What the agents have in hand.
pub(crate) struct Agents {
    /// Those of the workspace that are simulated, once they are known.
    simulated: Option<Vec<JobAgentId>>,
    /// Whether jobs may have come since the last look.
    look: bool,
    due: BinaryHeap<Reverse<(Timestamp, u64, Due)>>,
    working: HashMap<JobId, Working>,
    count: u64,
}

impl Default for Agents {
    fn default() -> Self {
        let (due, working) = (BinaryHeap::new(), HashMap::new());
        Self { simulated: None, look: true, due, working, count: 0 }
    }
}

struct Working {
    token: LeaseToken,
    lease_seconds: i64,
    ends_at: Timestamp,
    status: JobStatus,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Heartbeat(JobId),
    End(JobId),
}

impl Agents {
    /// When an agent does something next.
    pub fn next_due_at(&self) -> Option<Timestamp> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    /// Jobs may have come.
    pub fn look(&mut self) {
        self.look = true;
    }

    /// Agents may have come, or changed.
    pub fn forget(&mut self) {
        (self.simulated, self.look) = (None, true);
    }

    /// Does what is due now and takes what is queued; whether anything came of it but leases that are renewed.
    pub async fn work(&mut self, world: &World, rules: &[AgentRule]) -> Result<bool, SimulateError> {
        let mut worked = false;
        while let Some(Reverse((at, _, due))) = self.due.peek().copied()
            && at <= world.now()
        {
            self.due.pop();
            worked |= match due {
                Due::Heartbeat(job) => self.beat(world, job).await?,
                Due::End(job) => self.end(world, job).await?,
            };
        }
        if !std::mem::take(&mut self.look) {
            return Ok(worked);
        }
        let caller = world.caller("simulated-agent", &[]);
        for agent in self.simulated(world).await? {
            // An agent takes no more at once than a claim may bring.
            loop {
                let offers = world.dispatch.next(&caller, agent, NODE, CLAIM_MAX, Duration::ZERO).await;
                let offers = offers.map_err(|error| refused(&error))?;
                let all = offers.len() < CLAIM_MAX as usize;
                for offer in offers {
                    worked = true;
                    self.take(world, rules, offer).await?;
                }
                if all {
                    break;
                }
            }
        }
        Ok(worked)
    }

    async fn simulated(&mut self, world: &World) -> Result<Vec<JobAgentId>, SimulateError> {
        if let Some(known) = &self.simulated {
            return Ok(known.clone());
        }
        let mut tx = world.store.read("simulate.agents").await?;
        let agents = store::job_agent::all(&mut tx, world.workspace.id).await?;
        let simulated = agents.into_iter().filter(|agent| agent.agent_type == AgentType::Simulated);
        let found: Vec<JobAgentId> = simulated.map(|agent| agent.id).collect();
        self.simulated = Some(found.clone());
        Ok(found)
    }

    async fn take(&mut self, world: &World, rules: &[AgentRule], offer: Offer) -> Result<(), SimulateError> {
        let job = offer.job.job.id;
        acknowledge(world, job, offer.token).await?;
        let rule = rules.iter().find(|rule| matches(&rule.matches, &offer));
        let (takes, status, message) = match rule {
            None => (0, JobStatus::Completed, String::new()),
            Some(AgentRule { outcome: Outcome::Vanishes, .. }) => return Ok(()),
            Some(AgentRule { takes, outcome: Outcome::Ends(status), message, .. }) => {
                (*takes, *status, message.clone())
            }
        };
        let ends_at = world.now().plus_millis(takes);
        let lease_seconds = offer.lease_seconds;
        self.working.insert(job, Working { token: offer.token, lease_seconds, ends_at, status, message });
        self.schedule(ends_at, Due::End(job));
        self.schedule_heartbeat(world.now(), job);
        Ok(())
    }

    /// Whether anything came of it but a lease that is renewed.
    async fn beat(&mut self, world: &World, job: JobId) -> Result<bool, SimulateError> {
        let Some(working) = self.working.get_mut(&job) else { return Ok(false) };
        let caller = world.caller("simulated-agent", &[]);
        match world.dispatch.heartbeat(&caller, job, Some(working.token)).await {
            Ok(beat) if beat.cancel => {
                working.status = JobStatus::Cancelled;
                working.message = "stopped when asked to".to_owned();
                self.end(world, job).await
            }
            Ok(_) => {
                self.schedule_heartbeat(world.now(), job);
                Ok(false)
            }
            // Somebody else has it, or it has ended: the agent stops.
            Err(_) => {
                self.working.remove(&job);
                Ok(true)
            }
        }
    }

    async fn end(&mut self, world: &World, job: JobId) -> Result<bool, SimulateError> {
        let Some(working) = self.working.remove(&job) else { return Ok(false) };
        let message = Some(working.message).filter(|message| !message.is_empty());
        let report = Report { status: Some(working.status), message, ..Report::default() };
        let caller = world.caller("simulated-agent", &[]);
        // A refusal is an event, and the server's to tell; the agent can do nothing about it.
        drop(world.dispatch.report(&caller, job, Some(working.token), &report, [0; 32]).await);
        Ok(true)
    }

    /// Three heartbeats to a lease, as the agent that ships does.
    fn schedule_heartbeat(&mut self, now: Timestamp, job: JobId) {
        let Some(working) = self.working.get(&job) else { return };
        let at = now.plus_millis((working.lease_seconds * 1000 / 3).max(1));
        if at < working.ends_at {
            self.schedule(at, Due::Heartbeat(job));
        }
    }

    fn schedule(&mut self, at: Timestamp, due: Due) {
        self.count += 1;
        self.due.push(Reverse((at, self.count, due)));
    }
}

/// The agent begins to work on a job that it was handed.
pub(crate) async fn acknowledge(world: &World, job: JobId, token: LeaseToken) -> Result<(), SimulateError> {
    let report = Report { status: Some(JobStatus::InProgress), ..Report::default() };
    let caller = world.caller("simulated-agent", &[]);
    world.dispatch.report(&caller, job, Some(token), &report, [1; 32]).await.map_err(|error| refused(&error))?;
    Ok(())
}

fn matches(rule: &Match, offer: &Offer) -> bool {
    let said = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    said(&rule.deployment, &offer.job.deployment_name)
        && said(&rule.environment, &offer.job.environment_name)
        && said(&rule.resource, &offer.job.resource_identifier)
        && said(&rule.version, &offer.job.version_tag)
        && rule.attempt.is_none_or(|attempt| attempt == offer.job.job.attempt)
        && rule.kind.is_none_or(|kind| kind == offer.job.job.kind)
}

/// An agent that does everything right was refused.
fn refused(error: &dyn std::error::Error) -> SimulateError {
    SimulateError::Step { line: 0, message: format!("a simulated agent was refused: {error}") }
}
