//! What an agent says to the server, and what the answers mean.

use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::{Method, Url};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::{
    client::{Client, is_passing},
    failure::Refused,
    output::text,
};

/// How long one poll waits for jobs.
const POLL: Duration = Duration::from_secs(30);
/// Waits between attempts of a report; the last one repeats.
const REPORT_AGAIN: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(3)];

/// A job that was handed to us, and for how long.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Its id.
    pub id: String,
    /// What every report of it carries.
    pub lease_token: i64,
    /// How long the lease holds without a heartbeat.
    pub lease: Duration,
    /// Merged configuration for the executor.
    pub config: Json,
    /// Everything there is to know of it.
    pub context: Json,
}

impl Offer {
    /// Reads one job of the queue's answer.
    ///
    /// # Errors
    /// When it lacks what no job lacks.
    pub fn parse(job: &Json) -> Result<Self> {
        let id = job["id"].as_str().context("a job without an id")?.to_owned();
        let seconds = job["leaseSeconds"].as_u64().filter(|seconds| *seconds > 0);
        Ok(Self {
            lease_token: job["leaseToken"].as_i64().with_context(|| format!("job {id} without a lease token"))?,
            lease: Duration::from_secs(seconds.with_context(|| format!("job {id} without a lease"))?),
            config: job["config"].clone(),
            context: job["dispatchContext"].clone(),
            id,
        })
    }

    /// `deployment/environment/resource version`, for the log.
    #[must_use]
    pub fn label(&self) -> String {
        let part = |path: &str| text(&self.context, path);
        format!(
            "{}/{}/{} {}",
            part("deployment.name"),
            part("environment.name"),
            part("resource.identifier"),
            part("version.tag")
        )
    }
}

/// How a job ended here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The status, as the API spells it.
    pub status: &'static str,
    /// For people.
    pub message: String,
}

/// What the server made of something we said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It stands.
    Accepted,
    /// Our token no longer holds, or the job is over; and what the server said.
    Refused(String),
}

/// What a heartbeat tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// Go on; the lease holds for this long.
    GoOn(Duration),
    /// Somebody called the job off.
    Cancel,
}

/// One agent's queue, as one node of it sees it.
#[derive(Debug, Clone)]
pub struct Queue {
    client: Client,
    agent: String,
    node: String,
}

impl Queue {
    /// For the agent with that id.
    #[must_use]
    pub fn new(client: Client, agent: String, node: String) -> Self {
        Self { client, agent, node }
    }

    /// What we are called.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Waits for up to that many jobs.
    pub async fn next(&self, max: usize) -> Result<Vec<Offer>> {
        let url = self.client.url(&["job-agents", &self.agent, "queue", "next"]);
        let query = [("max", max.to_string()), ("wait", POLL.as_secs().to_string()), ("node", self.node.clone())];
        let Some(answer) = self.client.poll(url, &query, POLL).await? else { return Ok(Vec::new()) };
        answer["jobs"].as_array().context("an answer without jobs")?.iter().map(Offer::parse).collect()
    }

    /// Says that we work on a job. Said again, it means the same, so it is said until there is an answer.
    pub async fn acknowledge(&self, offer: &Offer) -> Said {
        let body = json!({"leaseToken": offer.lease_token, "status": "in_progress"});
        self.insist(offer, self.job(offer), &body).await
    }

    /// Says how a job ended, until the server takes it or refuses it.
    pub async fn report(&self, offer: &Offer, report: &Report) -> Said {
        let body = json!({"leaseToken": offer.lease_token, "status": report.status, "message": report.message});
        self.insist(offer, self.job(offer), &body).await
    }

    /// Renews the lease, once.
    ///
    /// # Errors
    /// When there is no answer now; `Ok(Err)` when the lease has passed on.
    pub async fn heartbeat(&self, offer: &Offer) -> Result<Result<Beat, String>> {
        let url = self.client.url(&["jobs", &offer.id, "heartbeat"]);
        let body = json!({"leaseToken": offer.lease_token});
        match self.client.write(Method::POST, url, &body).await {
            Ok((_, answer)) => Ok(Ok(beat(&answer, offer.lease))),
            Err(error) => match error.downcast::<Refused>() {
                Ok(refused) if refused.status < 500 && refused.status != 429 => Ok(Err(first_line(&refused))),
                Ok(refused) => Err(refused.into()),
                Err(other) => Err(other),
            },
        }
    }

    fn job(&self, offer: &Offer) -> Url {
        self.client.url(&["jobs", &offer.id])
    }

    async fn insist(&self, offer: &Offer, url: Url, body: &Json) -> Said {
        let mut failures = 0;
        loop {
            match self.client.write(Method::PATCH, url.clone(), body).await {
                Ok(_) => return Said::Accepted,
                Err(error) if is_passing(&error) => {
                    if failures == 0 {
                        tracing::warn!(job = offer.id, "will be said again: {error:#}");
                    }
                    tokio::time::sleep(REPORT_AGAIN[usize::min(failures, REPORT_AGAIN.len() - 1)]).await;
                    failures += 1;
                }
                Err(error) => return Said::Refused(first_line(&error)),
            }
        }
    }
}

/// What goes into a log: the problem without its fields and hints.
fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

fn beat(answer: &Json, lease: Duration) -> Beat {
    if answer["cancel"] == true {
        return Beat::Cancel;
    }
    let seconds = answer["leaseSeconds"].as_u64().filter(|seconds| *seconds > 0);
    Beat::GoOn(seconds.map_or(lease, Duration::from_secs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_has_a_token_and_a_lease() {
        let job = json!({"id": "j1", "leaseToken": 9_007_199_254_740_993_i64, "leaseSeconds": 30, "config": {"a": 1},
            "dispatchContext": {"deployment": {"name": "site"}, "environment": {"name": "prod"},
                "resource": {"identifier": "c1"}, "version": {"tag": "v1"}}});
        let offer = Offer::parse(&job).expect("an offer");
        assert_eq!((offer.lease_token, offer.lease), (9_007_199_254_740_993, Duration::from_secs(30)));
        assert_eq!(offer.label(), "site/prod/c1 v1");
        for missing in ["id", "leaseToken", "leaseSeconds"] {
            let mut job = job.clone();
            job.as_object_mut().expect("an object").remove(missing);
            assert!(Offer::parse(&job).is_err(), "{missing}");
        }
    }

    #[test]
    fn a_heartbeat_goes_on_or_calls_off() {
        let lease = Duration::from_secs(60);
        assert_eq!(beat(&json!({"leaseSeconds": 30, "cancel": false}), lease), Beat::GoOn(Duration::from_secs(30)));
        assert_eq!(beat(&json!({}), lease), Beat::GoOn(lease));
        assert_eq!(beat(&json!({"leaseSeconds": 30, "cancel": true}), lease), Beat::Cancel);
    }
}
