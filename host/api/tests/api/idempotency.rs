//! Idempotency-Key: carried out once, answered again, refused with another body or while it runs.

use std::time::Duration;

use axum::{body::Body, http::header};
use model::access::Role;
use serde_json::{Value, json};

use crate::server::{Answer, Server};

async fn apply(server: &Server, role: Role, key: &str, body: &Value) -> Answer {
    let request = server
        .request(Some(server.key(role)), "POST", "./apply")
        .header("idempotency-key", key)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()));
    server.call(request.expect("a request")).await
}

fn system(name: &str) -> Value {
    json!({"documents": [{"type": "System", "name": name}]})
}

#[tokio::test]
async fn the_second_time_is_answered_as_the_first() {
    let server = Server::start().await;
    let first = apply(&server, Role::Admin, "k1", &system("a")).await.expect(200);
    assert_eq!(first.body["results"][0]["change"], "created");
    let again = apply(&server, Role::Admin, "k1", &system("a")).await.expect(200);
    assert_eq!(again.body, first.body, "not `unchanged`: it was not carried out again");
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert!(!first.headers.contains_key("idempotent-replayed"));
    let other = apply(&server, Role::Admin, "k2", &system("a")).await.expect(200);
    assert_eq!(other.body["results"][0]["change"], "unchanged");
}

#[tokio::test]
async fn another_request_under_the_key_is_refused_for_a_day() {
    let server = Server::start().await;
    apply(&server, Role::Admin, "k1", &system("a")).await.expect(200);
    apply(&server, Role::Admin, "k1", &system("b")).await.refused(422, "idempotency_key_reused");
    assert_eq!(server.get("./systems").await.body["total"], 1);
    server.clock.advance(Duration::from_secs(24 * 3600 - 1));
    apply(&server, Role::Admin, "k1", &system("b")).await.refused(422, "idempotency_key_reused");
    server.clock.advance(Duration::from_secs(1));
    apply(&server, Role::Admin, "k1", &system("b")).await.expect(200);
}

#[tokio::test]
async fn somebody_elses_answer_is_not_given_away() {
    let server = Server::start().await;
    let policy = json!({"documents": [{"type": "Policy", "name": "p", "rules": []}]});
    apply(&server, Role::Admin, "k1", &policy).await.expect(200);
    apply(&server, Role::PolicyAuthor, "k1", &policy).await.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn what_was_refused_may_be_sent_again() {
    let server = Server::start().await;
    apply(&server, Role::Admin, "k1", &json!({"documents": [{}]})).await.refused(422, "invalid_content");
    apply(&server, Role::Admin, "k1", &system("a")).await.expect(200);
}

#[tokio::test]
async fn while_it_runs_it_is_not_run_again() {
    let server = Server::start().await;
    // Whoever writes now must wait.
    let held = server.store.write("test.hold").await.expect("a transaction");
    let body = system("a");
    let mut one = std::pin::pin!(apply(&server, Role::Admin, "k1", &body));
    let mut other = std::pin::pin!(apply(&server, Role::Admin, "k1", &body));
    let (refused, ran) = tokio::select! {
        refused = &mut one => (refused, other),
        refused = &mut other => (refused, one),
    };
    let refused = refused.refused(409, "idempotency_running");
    assert_eq!(refused.headers[header::RETRY_AFTER], "1");
    drop(held);
    ran.await.expect(200);
    let third = apply(&server, Role::Admin, "k1", &system("a")).await.expect(200);
    assert_eq!(third.headers["idempotent-replayed"], "true");
}

#[tokio::test]
async fn a_version_is_reported_once() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let path = format!("./deployments/{}/versions", seeded.deployment);
    let report = || {
        let request = server
            .request(Some(server.key(Role::Developer)), "POST", &path)
            .header("idempotency-key", "build-17")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(r#"{"tag":"v1"}"#));
        server.call(request.expect("a request"))
    };
    let first = report().await.expect(201);
    let again = report().await.expect(201);
    assert_eq!(first.body, again.body);
}
