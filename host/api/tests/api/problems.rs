//! One test for each code of a problem that a request can have, and the list that holds none is forgotten. The codes
//! of plugins that fail only while they are asked (`eval_...`) never answer a request.

use std::{collections::BTreeSet, time::Duration};

use api::problem::Code;
use axum::{body::Body, http::header};
use model::access::Role;
use serde_json::json;

use crate::server::{Seeded, Server};

/// Codes with a test: here, beside the edge (`internal`), or in the file that is named.
const TESTED: &[&str] = &[
    "malformed_json",         // bad_input
    "body_incomplete",        // here
    "invalid_query",          // bad_input
    "invalid_path",           // bad_input
    "invalid_header",         // here
    "credentials_missing",    // roles
    "credentials_invalid",    // roles
    "role_missing",           // roles
    "forbidden",              // here
    "not_found",              // here
    "route_unknown",          // here
    "method_not_allowed",     // here
    "conflict",               // here
    "stale_lease",            // queue
    "illegal_transition",     // queue
    "result_conflict",        // queue
    "idempotency_running",    // idempotency
    "idempotency_key_reused", // idempotency
    "body_too_large",         // bad_input
    "body_too_deep",          // bad_input
    "unsupported_media_type", // bad_input
    "invalid_content",        // bad_input
    "lease_token_required",   // queue
    "internal",               // src/edge.rs
    "store_unavailable",      // here
    "not_ready",              // here
];

#[test]
fn no_code_is_forgotten() {
    let own: BTreeSet<&str> = Code::all().filter(|code| !matches!(code, Code::Fault(_))).map(Code::name).collect();
    assert_eq!(own, TESTED.iter().copied().collect());
}

#[tokio::test]
async fn body_incomplete() {
    let server = Server::start().await;
    let broken = futures::stream::iter([Ok("{"), Err(std::io::Error::other("gone"))]);
    let request = server
        .request(Some(server.key(Role::Admin)), "POST", "./apply")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from_stream(broken));
    server.call(request.expect("a request")).await.refused(400, "body_incomplete");
}

#[tokio::test]
async fn invalid_header() {
    let server = Server::start().await;
    let with = |name: &str, value: &str, method: &str, path: &str| {
        server
            .request(Some(server.key(Role::Admin)), method, path)
            .header(name, value)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(r#"{"documents":[]}"#))
            .expect("a request")
    };
    for key in ["", &"k".repeat(256)] {
        server.call(with("idempotency-key", key, "POST", "./apply")).await.refused(400, "invalid_header");
    }
    for id in ["x", "-1", "1.5", ""] {
        server.call(with("last-event-id", id, "GET", "./events/stream")).await.refused(400, "invalid_header");
    }
}

#[tokio::test]
async fn forbidden() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let other = json!({"documents": [{"type": "JobAgent", "name": "other", "agentType": "pull"}]});
    server.send(Role::Admin, "POST", "./apply", Some(other)).await.expect(200);
    let other = server.get("./job-agents/name/other").await.text("/id").parse().expect("an id");
    let key = server.new_key(server.workspace.id, Role::Agent, Some(other), None).await;
    let path = format!("/api/v1/job-agents/{}/queue/next", seeded.agent);
    let request = server.request(Some(&key), "GET", &path).body(Body::empty()).expect("a request");
    server.call(request).await.refused(403, "forbidden");
}

#[tokio::test]
async fn not_found() {
    let server = Server::start().await;
    let gone = "0199d3c0-7a00-7000-8000-000000000000";
    for path in [
        "./systems/ID",
        "./systems/name/gone",
        "./resources/ID",
        "./resources/identifier/gone",
        "./environments/ID",
        "./environments/name/gone",
        "./deployments/ID",
        "./deployments/name/gone",
        "./deployments/ID/versions",
        "./policies/ID",
        "./policies/name/gone",
        "./job-agents/ID",
        "./job-agents/name/gone",
        "./deploymentversions/ID",
        "./deployment-versions/ID/user-approval-records",
        "./release-targets/ID-ID-ID/state",
        "./release-targets/ID-ID-ID/explain",
        "./release-targets/ID-ID-ID/decisions",
        "./releases/ID",
        "./jobs/ID",
        "/api/v1/job-agents/ID/queue/next",
    ] {
        server.get(&path.replace("ID", gone)).await.refused(404, "not_found");
    }
    let version = json!({"tag": "v1"});
    let path = format!("./deployments/{gone}/versions");
    server.send(Role::Developer, "POST", &path, Some(version)).await.refused(404, "not_found");
    let token = json!({"leaseToken": 1});
    for (method, path) in
        [("PATCH", "/api/v1/jobs/ID"), ("POST", "/api/v1/jobs/ID/heartbeat"), ("POST", "./jobs/ID/release")]
    {
        server
            .send(Role::Agent, method, &path.replace("ID", gone), Some(token.clone()))
            .await
            .refused(404, "not_found");
    }
}

#[tokio::test]
async fn route_unknown_and_method_not_allowed() {
    let server = Server::start().await;
    for path in ["/api/v1/nope", "/api/v2/workspaces", "/nope", "/api", "/api/v1/workspaces/", "/api/v1//workspaces"] {
        server.get(path).await.refused(404, "route_unknown");
    }
    for (method, path, allowed) in [
        ("DELETE", "./systems", "GET,HEAD"),
        ("PUT", "./apply", "POST"),
        ("DELETE", "./deploymentversions/x", "GET,HEAD,PATCH"),
        ("OPTIONS", "/healthz", "GET,HEAD"),
        ("BREW", "/healthz", "GET,HEAD"),
    ] {
        let answer = server.send(Role::Admin, method, path, None).await.refused(405, "method_not_allowed");
        assert_eq!(answer.headers[header::ALLOW], allowed, "{method} {path}");
    }
}

#[tokio::test]
async fn conflict() {
    let server = Server::start().await;
    let Seeded { deployment, .. } = server.seed().await;
    let path = format!("./deployments/{deployment}/versions");
    server.send(Role::Developer, "POST", &path, Some(json!({"tag": "v1"}))).await.expect(201);
    server.send(Role::Developer, "POST", &path, Some(json!({"tag": "v1"}))).await.expect(200);
    let other = json!({"tag": "v1", "config": {"a": 1}});
    let answer = server.send(Role::Developer, "POST", &path, Some(other)).await.refused(409, "conflict");
    assert!(answer.text("/detail").contains("`v1`"), "{:#}", answer.body);
}

#[tokio::test]
async fn a_plugin_that_cannot_be_loaded_has_its_own_code() {
    let server = Server::start().await;
    let module = wat::parse_str("(module)").expect("a module");
    let empty = wat::parse_str("(component)").expect("a component");
    let mut cut = wat::parse_str("(component (core module (func)))").expect("a component");
    cut.truncate(cut.len() - 2);
    let table: [(&[u8], &str); 5] = [
        (b"", "not_wasm"),
        (b"#!/bin/sh", "not_wasm"),
        (&module, "core_module_not_component"),
        (&empty, "missing_export"),
        (&cut, "invalid_wasm"),
    ];
    for (bytes, code) in table {
        let request = server
            .request(Some(server.key(Role::PolicyAuthor)), "POST", "./plugins?name=p&version=1.0.0")
            .header(header::CONTENT_TYPE, "application/wasm")
            .body(Body::from(bytes.to_vec()));
        server.call(request.expect("a request")).await.refused(422, code);
    }
    assert_eq!(server.get("./plugins").await.body["total"], 0);
}

#[tokio::test]
async fn store_unavailable_and_not_ready() {
    let server = Server::start().await;
    let ready = server.get("/readyz").await.expect(200);
    assert_eq!(ready.body["checks"][0]["name"], "database");
    let anonymous = server.request(None, "GET", "/readyz").body(Body::empty()).expect("a request");
    let anonymous = server.call(anonymous).await.expect(200);
    assert!(anonymous.body["checks"].is_null(), "details need a key: {:#}", anonymous.body);

    server.store.close().await;
    let answer = server.get("./systems").await.refused(503, "store_unavailable");
    assert_eq!(answer.headers[header::RETRY_AFTER], "1");
    server.send(Role::Admin, "POST", "./apply", Some(json!({"documents": []}))).await.refused(503, "store_unavailable");
    let ready = server.get("/readyz").await.refused(503, "not_ready");
    assert_eq!(ready.body["reasons"], json!(["the database does not answer"]));
    server.get("/healthz").await.expect(200);
}

#[tokio::test]
async fn a_server_that_stops_is_not_ready() {
    let server = Server::start().await;
    server.shutdown.cancel();
    server.get("/readyz").await.refused(503, "not_ready");
    // What comes in until the end is still answered, and a long poll does not hold the end up.
    let seeded = server.seed().await;
    let path = format!("/api/v1/job-agents/{}/queue/next?wait=60", seeded.agent);
    tokio::time::timeout(Duration::from_secs(5), server.get(&path)).await.expect("at once").expect(204);
}
