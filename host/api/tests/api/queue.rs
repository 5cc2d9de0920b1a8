//! What an agent does with its jobs, and what happens to one whose token does not hold.

use std::time::Duration;

use axum::http::header;
use model::access::Role;
use serde_json::{Value, json};

use crate::server::{Answer, Seeded, Server};

async fn claim(server: &Server, seeded: &Seeded, node: &str) -> Answer {
    let path = format!("/api/v1/job-agents/{}/queue/next?max=5&node={node}", seeded.agent);
    server.send(Role::Agent, "GET", &path, None).await
}

async fn say(server: &Server, job: &str, body: Value) -> Answer {
    server.send(Role::Agent, "PATCH", &format!("/api/v1/jobs/{job}"), Some(body)).await
}

/// A server with one job, claimed by `n1`: its id and token.
async fn claimed() -> (Server, Seeded, String, i64) {
    let server = Server::start().await;
    let seeded = server.seed().await;
    server.release(&seeded, "v1").await;
    let answer = claim(&server, &seeded, "n1").await.expect(200);
    let token = answer.body["jobs"][0]["leaseToken"].as_i64().expect("a token");
    let job = answer.text("/jobs/0/id");
    (server, seeded, job, token)
}

#[tokio::test]
async fn a_claim_has_all_that_an_executor_needs_and_is_not_stored() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    claim(&server, &seeded, "n1").await.expect(204);
    server.release(&seeded, "v1").await;
    let answer = claim(&server, &seeded, "n1").await.expect(200);
    assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
    let job = &answer.body["jobs"][0];
    assert_eq!(
        (&job["leaseSeconds"], &job["lease"]["holder"], &job["status"]),
        (&json!(60), &json!("n1"), &json!("queued"))
    );
    let context = &job["dispatchContext"];
    assert_eq!(context["job"]["id"], job["id"]);
    assert_eq!(context["job"]["leaseToken"], job["leaseToken"]);
    assert_eq!((&context["resource"]["identifier"], &context["version"]["tag"]), (&json!("eu/1"), &json!("v1")));
    assert_eq!((&context["deployment"]["name"], &context["environment"]["name"]), (&json!("site"), &json!("prod")));
    assert_eq!(context["release"]["id"], job["releaseId"]);
    claim(&server, &seeded, "n2").await.expect(204);
}

#[tokio::test]
async fn a_job_is_acknowledged_kept_and_done() {
    let (server, seeded, job, token) = claimed().await;
    let started = say(&server, &job, json!({"leaseToken": token, "status": "in_progress"})).await.expect(200);
    assert_eq!(started.body["status"], "in_progress");
    server.clock.advance(Duration::from_secs(20));
    let beat = format!("/api/v1/jobs/{job}/heartbeat");
    let beat = server.send(Role::Agent, "POST", &beat, Some(json!({"leaseToken": token}))).await.expect(200);
    assert_eq!(beat.body, json!({"leaseSeconds": 60, "cancel": false}));
    let progress = json!({"leaseToken": token, "message": "half", "externalId": "run-7", "links": {"log": "http://x"}});
    let progress = say(&server, &job, progress).await.expect(200);
    assert_eq!((&progress.body["externalId"], &progress.body["links"]["log"]), (&json!("run-7"), &json!("http://x")));
    let done = json!({"leaseToken": token, "status": "successful", "message": "ok"});
    let ended = say(&server, &job, done.clone()).await.expect(200);
    assert_eq!((&ended.body["status"], &ended.body["lease"]), (&json!("completed"), &json!(null)));
    assert_eq!(say(&server, &job, done).await.expect(200).body, ended.body, "the same again is answered the same way");
    server.engine.settle().await.expect("planning goes on");
    let state = server.get(&format!("./release-targets/{}/state", seeded.target())).await.expect(200);
    assert_eq!(state.body["currentRelease"]["version"]["tag"], "v1");
}

#[tokio::test]
async fn lease_token_required() {
    let (server, _, job, _) = claimed().await;
    for (method, path) in [
        ("PATCH", format!("/api/v1/jobs/{job}")),
        ("POST", format!("/api/v1/jobs/{job}/heartbeat")),
        ("POST", format!("./jobs/{job}/release")),
    ] {
        for body in [json!({}), json!({"leaseToken": null})] {
            let answer = server.send(Role::Agent, method, &path, Some(body)).await.refused(428, "lease_token_required");
            assert_eq!(answer.pointer(), "/leaseToken");
        }
    }
}

#[tokio::test]
async fn stale_lease() {
    let (server, seeded, job, old) = claimed().await;
    let back = format!("./jobs/{job}/release");
    server.send(Role::Agent, "POST", &back, Some(json!({"leaseToken": old}))).await.expect(200);
    server.clock.advance(Duration::from_secs(1));
    let new = claim(&server, &seeded, "n2").await.expect(200).body["jobs"][0]["leaseToken"].as_i64().expect("a token");
    assert!(new > old, "tokens rise");
    let late = json!({"leaseToken": old, "status": "completed"});
    let refused = say(&server, &job, late).await.refused(409, "stale_lease");
    assert_eq!((&refused.body["holder"], &refused.body["since"]), (&json!("n2"), &json!("2026-03-02T08:00:02.000Z")));
    for path in [format!("/api/v1/jobs/{job}/heartbeat"), back] {
        let answer = server.send(Role::Agent, "POST", &path, Some(json!({"leaseToken": old}))).await;
        answer.refused(409, "stale_lease");
    }
    for odd in [0, -1, i64::MAX, i64::MIN] {
        say(&server, &job, json!({"leaseToken": odd, "status": "completed"})).await.refused(409, "stale_lease");
    }
    assert_eq!(server.get(&format!("./jobs/{job}")).await.expect(200).body["lease"]["holder"], "n2");
    let events = server.get("./events?limit=1000").await.expect(200).body.to_string();
    assert!(events.contains("late_result_rejected"), "what was said is kept");
}

#[tokio::test]
async fn illegal_transition() {
    let (server, _, job, token) = claimed().await;
    let answer =
        say(&server, &job, json!({"leaseToken": token, "status": "queued"})).await.refused(409, "illegal_transition");
    assert!(answer.text("/detail").contains("`queued`"), "{:#}", answer.body);
    say(&server, &job, json!({"leaseToken": token, "status": "in_progress"})).await.expect(200);
    let back = format!("./jobs/{job}/release");
    let answer = server.send(Role::Agent, "POST", &back, Some(json!({"leaseToken": token}))).await;
    answer.refused(409, "illegal_transition");
}

#[tokio::test]
async fn result_conflict() {
    let (server, _, job, token) = claimed().await;
    say(&server, &job, json!({"leaseToken": token, "status": "completed"})).await.expect(200);
    say(&server, &job, json!({"leaseToken": token, "status": "failed"})).await.refused(409, "result_conflict");
    assert_eq!(server.get(&format!("./jobs/{job}")).await.expect(200).body["status"], "completed");
}

#[tokio::test]
async fn a_waiting_poll_gets_what_comes() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let path = format!("/api/v1/job-agents/{}/queue/next?wait=30", seeded.agent);
    let poll = server.send(Role::Agent, "GET", &path, None);
    let release = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.release(&seeded, "v1").await
    };
    let (answer, _) = tokio::time::timeout(Duration::from_secs(10), async { tokio::join!(poll, release) })
        .await
        .expect("long before the wait is over");
    assert_eq!(answer.expect(200).body["jobs"][0]["version"]["tag"], "v1");
}
