//! What an agent does with its jobs: asks for them, says how far they are, keeps its leases, gives back what it has
//! not begun. Everything said of a job goes with the token that came with it.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use dispatch::{Offer, Report};
use model::{
    Json as AnyJson, Labels,
    access::Caller,
    id::{JobAgentId, JobId, Uuid},
    job_state::LeaseToken,
    limits::{CLAIM_MAX, POLL_SECONDS_MAX},
    names::{check_label_value, check_name, check_text},
    wanted::FieldError,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use utoipa::{IntoParams, ToSchema};

use super::{
    job::Job,
    wire::{Id, JobStatusName, Ws},
};
use crate::{
    app::App,
    extract::{Auth, Body, PathId, Query, refused},
    problem::{Code, Problem},
};

/// Most links of one report.
const LINKS_MAX: usize = 100;

/// Jobs that were handed out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Claimed {
    pub jobs: Vec<ClaimedJob>,
}

/// A job with all that its executor needs. It is to be acknowledged (`in_progress`) within 30 s, or it goes back.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimedJob {
    #[serde(flatten)]
    pub job: Job,
    /// The agent's configuration, the deployment's over it, the version's over that.
    pub config: AnyJson,
    /// Deployment, environment, resource, version, release, variables and the token, for scripts.
    pub dispatch_context: AnyJson,
    /// Goes with everything that is said of the job.
    #[schema(example = 7)]
    pub lease_token: i64,
    /// The lease once it is acknowledged; heartbeats must come faster.
    #[schema(example = 60)]
    pub lease_seconds: i64,
}

impl From<Offer> for ClaimedJob {
    fn from(offer: Offer) -> Self {
        Self {
            config: offer.job.job.config.clone(),
            dispatch_context: offer.job.job.context.clone(),
            lease_token: offer.token.0,
            lease_seconds: offer.lease_seconds,
            job: offer.job.into(),
        }
    }
}

/// How many jobs, for whom, and how long to wait for the first.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Poll {
    /// At most so many.
    #[param(minimum = 1, maximum = 100, default = 1)]
    max: Option<i64>,
    /// Seconds.
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait: Option<i64>,
    /// The node's name; the key's user when absent.
    #[param(max_length = 255)]
    node: Option<String>,
}

/// The agent in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path, rename_all = "camelCase")]
pub(crate) struct OfAgent {
    /// Whose queue.
    #[expect(dead_code, reason = "described for OpenAPI; the handler takes it as `PathId`")]
    agent_id: Uuid,
}

/// Hands out jobs of an agent's queue, and waits for the first for a while if there are none.
#[utoipa::path(get, path = "/api/v1/job-agents/{agentId}/queue/next", tag = "agents", operation_id = "nextJobs",
    params(OfAgent, Poll),
    responses(
        (status = 200, description = "Jobs, each under a token of its own. Not to be stored.", body = Claimed),
        (status = 204, description = "Nothing came."),
    ))]
pub(crate) async fn next(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(agent): PathId<JobAgentId>,
    Query(poll): Query<Poll>,
) -> Result<Response, Problem> {
    let max = within("max", poll.max, 1, 1..=i64::from(CLAIM_MAX))?;
    let wait = within("wait", poll.wait, 0, 0..=i64::try_from(POLL_SECONDS_MAX).unwrap_or(i64::MAX))?;
    let node = node(&caller, poll.node)?;
    let max = u32::try_from(max).unwrap_or(1);
    let wait = Duration::from_secs(wait.unsigned_abs());
    // What is handed out while the server stops is not lost: it goes back unacknowledged, at no cost.
    let offers = tokio::select! {
        offers = app.dispatch.next(&caller, agent, &node, max, wait) => offers?,
        () = app.shutdown.cancelled() => Vec::new(),
    };
    let mut response = if offers.is_empty() {
        StatusCode::NO_CONTENT.into_response()
    } else {
        Json(Claimed { jobs: offers.into_iter().map(Into::into).collect() }).into_response()
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// What an agent says of a job. Whatever it says first acknowledges it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `leaseToken`")]
#[schema(example = json!({"leaseToken": 7, "status": "completed", "message": "copied 12 files"}))]
pub(crate) struct ReportJob {
    /// The one that came with the job; without it the answer is 428.
    #[schema(value_type = i64)]
    lease_token: Option<i64>,
    /// `in_progress` acknowledges; a final status ends the job. Also Ctrlplane's spellings.
    status: Option<JobStatusName>,
    #[schema(max_length = 4096)]
    message: Option<String>,
    /// What the outside system calls it.
    #[schema(max_length = 255)]
    external_id: Option<String>,
    /// Named addresses for people; added to those there are.
    #[schema(max_items = 100)]
    links: Option<Labels>,
}

/// Takes in what the holder of a job says. The same end again under the same token is answered the same way.
#[utoipa::path(patch, path = "/api/v1/jobs/{id}", tag = "agents", operation_id = "reportJob",
    params(Id), request_body = ReportJob,
    responses((status = 200, description = "The job as it is now.", body = Job)))]
pub(crate) async fn report(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<JobId>,
    body: Body<ReportJob>,
) -> Result<Json<Job>, Problem> {
    let said = body.value;
    check(&said)?;
    let token = said.lease_token.map(LeaseToken);
    let report = Report {
        status: said.status.map(|status| status.0),
        message: said.message,
        external_id: said.external_id,
        links: said.links,
    };
    app.dispatch.report(&caller, id, token, &report, hash(&report)).await?;
    as_it_is(&app, &caller, id).await
}

/// The token that came with a job.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `leaseToken`")]
pub(crate) struct Holding {
    #[schema(value_type = i64, example = 7)]
    lease_token: Option<i64>,
}

/// The answer to a heartbeat.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Heartbeat {
    /// The lease ends so many seconds from now unless another heartbeat comes.
    #[schema(example = 60)]
    lease_seconds: i64,
    /// Somebody wants the job stopped.
    cancel: bool,
}

/// Renews the lease of a running job, and says whether somebody wants it stopped.
#[utoipa::path(post, path = "/api/v1/jobs/{id}/heartbeat", tag = "agents", operation_id = "heartbeat",
    params(Id), request_body = Holding,
    responses((status = 200, description = "The lease runs on.", body = Heartbeat)))]
pub(crate) async fn heartbeat(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<JobId>,
    body: Body<Holding>,
) -> Result<Json<Heartbeat>, Problem> {
    let beat = app.dispatch.heartbeat(&caller, id, body.value.lease_token.map(LeaseToken)).await?;
    Ok(Json(Heartbeat { lease_seconds: beat.lease_seconds, cancel: beat.cancel }))
}

/// Gives a job back that was handed out and not begun, at no cost of an attempt.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/jobs/{id}/release", tag = "agents", operation_id = "giveBackJob",
    params(Ws, Id), request_body = Holding,
    responses((status = 200, description = "The job as it is now.", body = Job)))]
pub(crate) async fn give_back(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(id): PathId<JobId>,
    body: Body<Holding>,
) -> Result<Json<Job>, Problem> {
    app.dispatch.give_back(&caller, id, body.value.lease_token.map(LeaseToken)).await?;
    as_it_is(&app, &caller, id).await
}

async fn as_it_is(app: &App, caller: &Caller, id: JobId) -> Result<Json<Job>, Problem> {
    let mut tx = app.store.read("api.job.reported").await?;
    let found = store::job::get_named(&mut tx, caller.workspace, id).await?;
    Ok(Json(found.ok_or_else(|| Problem::not_found("job", id))?.into()))
}

/// SHA-256 of what is said, not of how it was written: the same report with its members in another order is the same.
fn hash(report: &Report) -> [u8; 32] {
    let said = json!([report.status.map(|status| status.name()), report.message, report.external_id, report.links]);
    Sha256::digest(said.to_string().as_bytes()).into()
}

fn check(said: &ReportJob) -> Result<(), Problem> {
    let mut errors = Vec::new();
    let mut keep = |pointer: String, result: Result<(), String>| {
        if let Err(message) = result {
            errors.push(FieldError { pointer, message });
        }
    };
    keep("/message".to_owned(), said.message.as_deref().map_or(Ok(()), check_text));
    keep("/externalId".to_owned(), said.external_id.as_deref().map_or(Ok(()), check_name));
    for (name, address) in said.links.iter().flatten() {
        let pointer = format!("/links/{}", name.replace('~', "~0").replace('/', "~1"));
        keep(pointer, check_name(name).and_then(|()| check_label_value(address)));
    }
    let links = said.links.as_ref().map_or(0, Labels::len);
    if links > LINKS_MAX {
        keep("/links".to_owned(), Err(format!("has {links} links, at most {LINKS_MAX} are allowed")));
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::of_fields(Code::InvalidContent, errors)) }
}

fn within(name: &str, value: Option<i64>, default: i64, range: std::ops::RangeInclusive<i64>) -> Result<i64, Problem> {
    let value = value.unwrap_or(default);
    if range.contains(&value) {
        return Ok(value);
    }
    Err(refused(name, &format!("must be between {} and {}", range.start(), range.end())))
}

fn node(caller: &Caller, node: Option<String>) -> Result<String, Problem> {
    let node = node.unwrap_or_else(|| caller.user.clone());
    check_name(&node).map_err(|message| refused("node", &message))?;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::parse;

    #[test]
    fn the_order_of_members_makes_no_other_report() {
        let read = |text: &str| {
            let said: ReportJob = parse(text.as_bytes()).expect("a report");
            let report = Report {
                status: said.status.map(|status| status.0),
                message: said.message,
                external_id: said.external_id,
                links: said.links,
            };
            hash(&report)
        };
        let one = read(r#"{"leaseToken":1,"status":"completed","links":{"a":"1","b":"2"}}"#);
        assert_eq!(one, read(r#"{"links":{"b":"2","a":"1"},"status":"successful","leaseToken":1}"#));
        assert_ne!(one, read(r#"{"leaseToken":1,"status":"failed","links":{"a":"1","b":"2"}}"#));
        assert_ne!(one, read(r#"{"leaseToken":1,"status":"completed","message":""}"#));
    }

    #[test]
    fn what_is_too_long_is_named() {
        let said: ReportJob = parse(
            json!({"message": "m".repeat(4097), "externalId": "x".repeat(256), "links": {"a/b": "y".repeat(4097)}})
                .to_string()
                .as_bytes(),
        )
        .expect("a report");
        let errors = check(&said).expect_err("too long").document(None)["errors"].clone();
        let pointers: Vec<&str> =
            errors.as_array().expect("errors").iter().filter_map(|e| e["pointer"].as_str()).collect();
        assert_eq!(pointers, ["/message", "/externalId", "/links/a~1b"]);
    }
}
