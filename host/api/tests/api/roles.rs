//! The table of routes × roles: who comes in, who does not, and what they are told.

use api::{Needs, Sends, Summary};
use axum::{body::Body, http::header};
use model::access::Role;

use crate::server::{Answer, Server, filled};

async fn ask(server: &Server, route: &Summary, key: Option<&str>, path: &str) -> Answer {
    let request = server.request(key, &route.method, path);
    let (kind, body) = match route.sends {
        Sends::Nothing => return server.call(request.body(Body::empty()).expect("a request")).await,
        Sends::Json | Sends::LargeJson => ("application/json", "{}"),
        Sends::Component => ("application/wasm", ""),
    };
    server.call(request.header(header::CONTENT_TYPE, kind).body(Body::from(body)).expect("a request")).await
}

/// The stream never ends by itself; that it begins is enough.
fn is_stream(route: &Summary) -> bool {
    route.path.ends_with("/stream")
}

#[tokio::test]
async fn without_a_key_nobody_comes_in() {
    let server = Server::start().await;
    for route in api::summaries() {
        let path = filled(&route, &[]);
        let missing = ask(&server, &route, None, &path).await;
        match route.needs {
            Needs::Nothing => assert!(missing.status.is_success(), "{route}: {:#}", missing.body),
            Needs::AnyOf(_) => {
                missing.refused(401, "credentials_missing");
                let wrong = ask(&server, &route, Some("tg_wrong"), &path).await.refused(401, "credentials_invalid");
                assert!(wrong.headers[header::WWW_AUTHENTICATE].to_str().is_ok_and(|text| text.starts_with("Bearer")));
            }
        }
    }
}

#[tokio::test]
async fn a_role_that_does_not_cover_is_told_which_one_would() {
    let server = Server::start().await;
    for route in api::summaries() {
        let Needs::AnyOf(needed) = route.needs else { continue };
        for role in Role::ALL {
            let covers = needed.iter().any(|needed| role.covers(*needed));
            if covers && is_stream(&route) {
                continue;
            }
            let answer = ask(&server, &route, Some(server.key(role)), &filled(&route, &[])).await;
            if covers {
                assert!(!matches!(answer.status.as_u16(), 401 | 403), "{route} as {role:?}: {:#}", answer.body);
            } else {
                let answer = answer.refused(403, "role_missing");
                assert_eq!(answer.body["missingRole"], needed[0].name(), "{route} as {role:?}");
                assert!(answer.text("/detail").contains(needed[0].name()));
            }
        }
    }
}

#[tokio::test]
async fn another_workspace_is_not_there_by_id_or_by_slug() {
    let server = Server::start().await;
    let (other, _) = server.engine.create_workspace("other", "Other").await.expect("a workspace");
    let mut seen = 0;
    for route in api::summaries().into_iter().filter(|route| route.path.contains("{ws}")) {
        for workspace in [other.id.to_string(), "other".to_owned(), "nowhere".to_owned()] {
            // A viewer may do less than an admin, and is told no more.
            for role in [Role::Admin, Role::Viewer] {
                let path = filled(&route, &[("ws", &workspace)]);
                ask(&server, &route, Some(server.key(role)), &path).await.refused(404, "not_found");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
    let own = server.workspace.id.to_string();
    let answer = server.get(&format!("/api/v1/workspaces/{own}")).await.expect(200);
    assert_eq!(answer.body["slug"], "default");
}

#[tokio::test]
async fn a_policy_author_applies_policies_only() {
    let server = Server::start().await;
    let policy = serde_json::json!({"documents": [{"type": "Policy", "name": "p", "rules": []}]});
    server.send(Role::PolicyAuthor, "POST", "./apply", Some(policy)).await.expect(200);
    let system = serde_json::json!({"documents": [
        {"type": "Policy", "name": "p", "rules": []}, {"type": "System", "name": "s"}
    ]});
    let answer = server.send(Role::PolicyAuthor, "POST", "./apply", Some(system)).await.refused(403, "role_missing");
    assert!(answer.text("/detail").contains("/documents/1"), "{:#}", answer.body);
    assert_eq!(server.get("./systems").await.body["total"], 0);
}

#[tokio::test]
async fn an_expired_key_is_none() {
    let server = Server::start().await;
    let end = server.store.clock().now().plus_seconds(60);
    let key = server.new_key(server.workspace.id, Role::Viewer, None, Some(end)).await;
    let ask = || server.request(Some(&key), "GET", "./systems").body(Body::empty()).expect("a request");
    server.call(ask()).await.expect(200);
    server.clock.advance(std::time::Duration::from_secs(60));
    server.call(ask()).await.refused(401, "credentials_invalid");
}

#[tokio::test]
async fn either_header_will_do() {
    let server = Server::start().await;
    let request = server.request(None, "GET", "./systems").header("x-api-key", server.key(Role::Viewer));
    server.call(request.body(Body::empty()).expect("a request")).await.expect(200);
}
