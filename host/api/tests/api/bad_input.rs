//! Whatever a client sends, it is told what is wrong and where, and never that the server failed.

use api::{Sends, Summary};
use axum::{body::Body, http::header};
use model::access::Role;
use serde_json::json;

use crate::server::{Answer, Server, filled};

async fn post(server: &Server, route: &Summary, kind: Option<&str>, body: impl Into<Body>) -> Answer {
    let mut request = server.request(Some(server.key(Role::Admin)), &route.method, &filled(route, &[]));
    if let Some(kind) = kind {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    server.call(request.body(body.into()).expect("a request")).await
}

fn with_json() -> impl Iterator<Item = Summary> {
    api::summaries().into_iter().filter(|route| matches!(route.sends, Sends::Json | Sends::LargeJson))
}

#[tokio::test]
async fn bodies_that_are_no_json() {
    let server = Server::start().await;
    let table: [(&[u8], u16, &str); 11] = [
        (b"", 400, "malformed_json"),
        (b"{", 400, "malformed_json"),
        (b"{]", 400, "malformed_json"),
        (b"nope", 400, "malformed_json"),
        (b"{\"\xff\xfe\":1}", 400, "malformed_json"),
        (b"\xef\xbb\xbf{}", 400, "malformed_json"),
        (b"[]", 422, "invalid_content"),
        (b"null", 422, "invalid_content"),
        (b"7", 422, "invalid_content"),
        (b"{\"noSuchField\":1}", 422, "invalid_content"),
        (b"{\"x\":\"\\u0000\"}", 422, "invalid_content"),
    ];
    for route in with_json() {
        for (body, status, code) in table {
            let answer = post(&server, &route, Some("application/json"), body).await;
            let answer = answer.refused(status, code);
            assert!(
                answer.body["errors"].as_array().is_some_and(|errors| !errors.is_empty()),
                "{route}: {:#}",
                answer.body
            );
        }
    }
}

#[tokio::test]
async fn unknown_fields_and_nul_are_pointed_at() {
    let server = Server::start().await;
    for route in with_json() {
        let answer = post(&server, &route, Some("application/json"), r#"{"noSuchField":1}"#).await;
        assert_eq!(answer.pointer(), "/noSuchField", "{route}: {:#}", answer.body);
        let answer = post(&server, &route, Some("application/json"), r#"{"a":[{"b~":"x\u0000"}]}"#).await;
        assert_eq!(answer.pointer(), "/a/0/b~0", "{route}: {:#}", answer.body);
    }
}

#[tokio::test]
async fn bodies_that_are_too_much() {
    let server = Server::start().await;
    for route in with_json() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        post(&server, &route, Some("application/json"), deep).await.refused(413, "body_too_deep");
        post(&server, &route, Some("application/json"), "[".repeat(900_000)).await.refused(413, "body_too_deep");
        let limit = if route.sends == Sends::LargeJson { 32 << 20 } else { 1 << 20 };
        let long = format!("\"{}\"", "x".repeat(limit));
        post(&server, &route, Some("application/json"), long.clone()).await.refused(413, "body_too_large");
        // Without a length in its head the body is cut off while reading.
        let chunks = futures::stream::iter([Ok::<_, std::io::Error>(long)]);
        post(&server, &route, Some("application/json"), Body::from_stream(chunks)).await.refused(413, "body_too_large");
    }
}

#[tokio::test]
async fn other_content_types() {
    let server = Server::start().await;
    for route in api::summaries().into_iter().filter(|route| route.sends != Sends::Nothing) {
        for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("json")] {
            post(&server, &route, kind, "{}").await.refused(415, "unsupported_media_type");
        }
        let other = if route.sends == Sends::Component { "application/json" } else { "application/wasm" };
        post(&server, &route, Some(other), "{}").await.refused(415, "unsupported_media_type");
    }
    // Parameters of the type, and types built on JSON, are read.
    for route in with_json() {
        for kind in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"] {
            let answer = post(&server, &route, Some(kind), "[]").await;
            assert_eq!(answer.code(), "invalid_content", "{route}");
        }
    }
}

#[tokio::test]
async fn parts_of_paths() {
    let server = Server::start().await;
    for route in api::summaries() {
        let names: Vec<&str> =
            route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        for name in names {
            let free_text = matches!(name, "ws" | "name" | "identifier");
            for (bad, is_bad_text) in [("%ff", true), ("%00", true), ("a%00b", true), ("nope", false), ("-1", false)] {
                let path = filled(&route, &[(name, bad)]);
                let request = server.request(Some(server.key(Role::Admin)), &route.method, &path);
                let request = match route.sends {
                    Sends::Nothing => request.body(Body::empty()),
                    Sends::Json | Sends::LargeJson => {
                        request.header(header::CONTENT_TYPE, "application/json").body(Body::from("{}"))
                    }
                    Sends::Component => request.header(header::CONTENT_TYPE, "application/wasm").body(Body::empty()),
                };
                let answer = server.call(request.expect("a request")).await;
                if is_bad_text || !free_text {
                    let answer = answer.refused(400, "invalid_path");
                    if bad != "%ff" {
                        assert_eq!(answer.pointer(), format!("/{name}"), "{route}");
                    }
                } else {
                    answer.refused(404, "not_found");
                }
            }
        }
    }
}

#[tokio::test]
async fn queries() {
    let server = Server::start().await;
    let document: serde_json::Value = serde_json::from_str(api::openapi_text()).expect("the document is JSON");
    let mut lists = 0;
    for route in api::summaries() {
        let parameters = &document["paths"][&route.path][route.method.to_lowercase()]["parameters"];
        let named: Vec<&str> = parameters
            .as_array()
            .into_iter()
            .flatten()
            .filter(|parameter| parameter["in"] == "query")
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        if named.is_empty() {
            continue;
        }
        let mut bad = vec![("noSuchFilter=1".to_owned(), "/noSuchFilter")];
        for (name, values) in [
            ("limit", vec!["0", "1001", "-1", "x", "", "1.5", "99999999999999999999"]),
            ("offset", vec!["-1", "x", "99999999999999999999", "4294967296"]),
            ("after", vec!["-1", "x"]),
            ("max", vec!["0", "101", "-1", "x"]),
            ("wait", vec!["-1", "61", "x"]),
            ("node", vec!["", "%00", "%ff", "a%0ab"]),
            ("status", vec!["nope", "", "%00"]),
            ("deploymentId", vec!["nope", "%00"]),
            ("versionId", vec!["nope"]),
            ("targetKey", vec!["nope", "a-b-c"]),
            ("latest", vec!["maybe"]),
            ("name", vec!["", "%00", "%ff"]),
            ("version", vec!["nope", "1", ""]),
        ] {
            if named.contains(&name) {
                lists += 1;
                let pointer = Box::leak(format!("/{name}").into_boxed_str());
                bad.extend(values.into_iter().map(|value| (format!("{name}={value}"), &*pointer)));
            }
        }
        for (query, pointer) in bad {
            let path = filled(&route, &[]);
            let path = match path.split_once('?') {
                // The upload's own parameters stay, but for the one that is tried.
                Some((path, rest)) => {
                    let tried = query.split('=').next().unwrap_or_default();
                    let rest: Vec<&str> =
                        rest.split('&').filter(|pair| !pair.starts_with(&format!("{tried}="))).collect();
                    format!("{path}?{}&{query}", rest.join("&"))
                }
                None => format!("{path}?{query}"),
            };
            let request = server.request(Some(server.key(Role::Admin)), &route.method, &path);
            let request = request.header(header::CONTENT_TYPE, "application/wasm").body(Body::from("x"));
            let answer = server.call(request.expect("a request")).await;
            let answer = answer.refused(400, "invalid_query");
            assert_eq!(answer.pointer(), pointer, "{route}?{query}: {:#}", answer.body);
        }
    }
    assert!(lists > 30, "{lists}");
}

#[tokio::test]
async fn content_that_cannot_be() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let version = server.release(&seeded, "v1").await;
    let versions = format!("./deployments/{}/versions", seeded.deployment);
    let approvals = format!("./deployment-versions/{version}/user-approval-records");
    let patch = format!("./deploymentversions/{version}");
    let long = "x".repeat(256);
    let table = [
        ("POST", &versions, json!({}), "/tag"),
        ("POST", &versions, json!({"tag": 5}), "/tag"),
        ("POST", &versions, json!({"tag": ""}), "/tag"),
        ("POST", &versions, json!({"tag": long}), "/tag"),
        ("POST", &versions, json!({"tag": "a\nb"}), "/tag"),
        ("POST", &versions, json!({"tag": "v", "config": []}), "/config"),
        ("POST", &versions, json!({"tag": "v", "config": -1}), "/config"),
        ("POST", &versions, json!({"tag": "v", "status": "done"}), "/status"),
        ("POST", &versions, json!({"tag": "v", "createdAt": "yesterday"}), "/createdAt"),
        ("POST", &versions, json!({"tag": "v", "createdAt": -1}), "/createdAt"),
        ("POST", &versions, json!({"tag": "v", "metadata": {"a/b": 1}}), "/metadata/a~1b"),
        ("POST", &versions, json!({"tag": "v", "metadata": {"k": "v".repeat(5000)}}), "/metadata/k"),
        ("PATCH", &patch, json!({"status": 1}), "/status"),
        ("PATCH", &patch, json!({}), "/status"),
        ("PUT", &approvals, json!({"environmentIds": [], "status": "approved"}), "/environmentIds"),
        ("PUT", &approvals, json!({"environmentIds": ["x"], "status": "approved"}), "/environmentIds/0"),
        ("PUT", &approvals, json!({"environmentIds": [seeded.environment], "status": "maybe"}), "/status"),
        ("PUT", &approvals, json!({"environmentIds": [seeded.deployment], "status": "approved"}), "/environmentIds/0"),
        (
            "PUT",
            &approvals,
            json!({"environmentIds": [seeded.environment], "status": "approved", "reason": "r".repeat(5000)}),
            "/reason",
        ),
    ];
    for (method, path, body, pointer) in table {
        let answer = server.send(Role::Admin, method, path, Some(body.clone())).await.refused(422, "invalid_content");
        assert_eq!(answer.pointer(), pointer, "{method} {path} {body}: {:#}", answer.body);
    }
    let reports = "/api/v1/jobs/0199d3c0-7a00-7000-8000-000000000000".to_owned();
    for (body, pointer) in [
        (json!({"leaseToken": "7"}), "/leaseToken"),
        (json!({"leaseToken": 1.5}), "/leaseToken"),
        (json!({"leaseToken": 7, "status": "finished"}), "/status"),
        (json!({"leaseToken": 7, "links": {"a": 1}}), "/links/a"),
        (json!({"leaseToken": 7, "externalId": long}), "/externalId"),
    ] {
        let answer = server.send(Role::Agent, "PATCH", &reports, Some(body)).await.refused(422, "invalid_content");
        assert_eq!(answer.pointer(), pointer);
    }
}

#[tokio::test]
async fn documents_that_cannot_be() {
    let server = Server::start().await;
    server.seed().await;
    let before = server.get("./events?limit=1000").await.body["items"].as_array().map(Vec::len);
    for (document, pointer) in [
        (json!({}), "/documents/1/type"),
        (json!({"type": "Nope", "name": "n"}), "/documents/1/type"),
        (json!({"type": "System"}), "/documents/1/name"),
        (json!({"type": "System", "name": "n", "colour": "red"}), "/documents/1/colour"),
        (json!({"type": "System", "name": "x".repeat(256)}), "/documents/1/name"),
        (json!({"type": "Environment", "name": "e", "systems": ["gone"]}), "/documents/1/systems/0"),
        (
            json!({"type": "Environment", "name": "e", "systems": ["websites"], "resourceSelector": "1 +"}),
            "/documents/1/resourceSelector",
        ),
        (json!({"type": "Deployment", "name": "d", "systems": [], "jobAgent": "gone"}), "/documents/1/jobAgent"),
        (
            json!({"type": "JobAgent", "name": "j", "agentType": "pull", "leaseSeconds": -5}),
            "/documents/1/leaseSeconds",
        ),
        (json!({"type": "Policy", "name": "p", "rules": [{"mode": "enforce"}]}), "/documents/1/rules/0"),
        (
            json!({"type": "Policy", "name": "p", "rules": [{"plugin": {"name": "gone"}}]}),
            "/documents/1/rules/0/plugin",
        ),
        (json!({"type": "System", "name": "first"}), "/documents/1/name"),
    ] {
        let body = json!({"documents": [{"type": "System", "name": "first"}, document]});
        let answer = server.send(Role::Admin, "POST", "./apply", Some(body)).await.refused(422, "invalid_content");
        assert!(answer.pointer().starts_with(pointer), "{document}: {:#}", answer.body);
    }
    let after = server.get("./events?limit=1000").await.body["items"].as_array().map(Vec::len);
    assert_eq!(before, after, "one wrong document changes nothing");
    let answer = server.send(Role::Admin, "POST", "./apply", Some(json!({"documents": {}}))).await;
    assert_eq!(answer.refused(422, "invalid_content").pointer(), "/documents");
}
