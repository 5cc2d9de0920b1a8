//! An admin makes keys for others; each does what its role says, and ends when it says.

use std::time::Duration;

use axum::body::Body;
use model::access::Role;
use serde_json::json;

use crate::server::Server;

#[tokio::test]
async fn a_key_that_an_admin_made_is_good_for_its_role_until_it_ends() {
    let server = Server::start().await;
    let expires_at = store::Clock::now(&*server.clock).plus_seconds(60).to_string();
    let wanted = json!({"user": "alice", "teams": ["sre"], "role": "approver", "expiresAt": expires_at});
    let made = server.send(Role::Admin, "POST", "./api-keys", Some(wanted)).await.expect(201);
    assert_eq!(made.headers["cache-control"], "no-store");
    assert_eq!((made.body["user"].as_str(), made.body["role"].as_str()), (Some("alice"), Some("approver")));
    let secret = made.text("/secret");

    let ask =
        |method: &str, path: &str| server.request(Some(&secret), method, path).body(Body::empty()).expect("a request");
    server.call(ask("GET", "./systems")).await.expect(200);
    let refused = server.call(ask("POST", "./api-keys")).await.refused(403, "role_missing");
    assert_eq!(refused.body["missingRole"], "admin");
    server.clock.advance(Duration::from_secs(60));
    server.call(ask("GET", "./systems")).await.refused(401, "credentials_invalid");
}

#[tokio::test]
async fn a_key_with_a_wrong_field_is_refused_with_its_place() {
    let server = Server::start().await;
    let table = [
        (json!({"user": "", "role": "viewer"}), "/user"),
        (json!({"user": "alice", "role": "boss"}), "/role"),
        (json!({"user": "alice", "role": "viewer", "teams": ["", "b"]}), "/teams/0"),
    ];
    for (wanted, pointer) in table {
        let refused = server.send(Role::Admin, "POST", "./api-keys", Some(wanted)).await;
        assert_eq!(refused.refused(422, "invalid_content").pointer(), pointer);
    }
}
