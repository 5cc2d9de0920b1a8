//! The audit trail, read in pages and as a stream.

use std::time::Duration;

use axum::{body::Body, http::header};
use futures::StreamExt as _;
use model::access::Role;
use serde_json::{Value, json};

use crate::server::Server;

/// Reads frames of an open stream until there are so many events. Comments (keep-alives) are left out.
struct Frames {
    body: axum::body::BodyDataStream,
    text: String,
}

impl Frames {
    async fn open(server: &Server, path: &str, last: Option<i64>) -> Self {
        let request = server.request(Some(server.key(Role::Viewer)), "GET", path);
        let request = match last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        };
        let response = server.raw(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        Self { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next event: id, kind, data. Nothing at the end of the stream.
    async fn next(&mut self) -> Option<(i64, String, Value)> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    frame
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                        .map(|text| text.trim().to_owned())
                };
                let event = field("id").map(|id| {
                    let data = field("data").expect("data");
                    (
                        id.parse().expect("a position"),
                        field("event").expect("a kind"),
                        serde_json::from_str(&data).expect("JSON"),
                    )
                });
                self.text = rest.to_owned();
                if event.is_some() {
                    return event;
                }
                continue;
            }
            let chunk = tokio::time::timeout(Duration::from_secs(10), self.body.next()).await.expect("in time")?;
            self.text.push_str(std::str::from_utf8(&chunk.expect("no error")).expect("text"));
        }
    }
}

#[tokio::test]
async fn pages_follow_each_other_without_gaps() {
    let server = Server::start().await;
    server.seed().await;
    let all = server.get("./events?limit=1000").await.expect(200).body;
    let all = all["items"].as_array().expect("items").clone();
    let mut seen = Vec::new();
    let mut after = json!(0);
    loop {
        let page = server.get(&format!("./events?after={after}&limit=2")).await.expect(200).body;
        let items = page["items"].as_array().expect("items").clone();
        if items.is_empty() {
            assert_eq!(page["nextCursor"], after);
            break;
        }
        after = page["nextCursor"].clone();
        seen.extend(items);
    }
    assert_eq!(seen, all);
    let positions: Vec<_> = seen.iter().filter_map(|event| event["position"].as_i64()).collect();
    assert!(positions.iter().copied().eq(1..=i64::try_from(positions.len()).expect("few")), "{positions:?}");
    let deployment = seen.iter().find(|event| event["kind"] == "deployment_created").expect("an event");
    assert_eq!(deployment["actor"], "user:admin-user");
    assert!(deployment["subject"]["deploymentId"].is_string() && deployment["subject"]["jobId"].is_null());
}

#[tokio::test]
async fn a_stream_tells_what_was_and_then_what_comes() {
    let server = Server::start().await;
    server.seed().await;
    let items = server.get("./events?limit=1000").await.expect(200).body["items"].as_array().expect("items").clone();
    let mut frames = Frames::open(&server, "./events/stream", None).await;
    for item in &items {
        let (id, kind, data) = frames.next().await.expect("what was");
        assert_eq!((json!(id), json!(kind), &data), (item["position"].clone(), item["kind"].clone(), item));
    }
    let apply = json!({"documents": [{"type": "System", "name": "new"}]});
    server.send(Role::Admin, "POST", "./apply", Some(apply)).await.expect(200);
    let (id, kind, _) = frames.next().await.expect("what comes");
    assert_eq!((id, kind.as_str()), (i64::try_from(items.len()).expect("few") + 1, "system_created"));
}

#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
    let server = Server::start().await;
    server.seed().await;
    let mut first = Frames::open(&server, "./events/stream?after=2", None).await;
    assert_eq!(first.next().await.expect("an event").0, 3);
    // The header goes before the query: a browser sends it of itself, with the address it began with.
    let mut back = Frames::open(&server, "./events/stream?after=2", Some(3)).await;
    assert_eq!(back.next().await.expect("an event").0, 4);
}

#[tokio::test]
async fn a_stream_ends_with_the_server() {
    let server = Server::start().await;
    let mut frames = Frames::open(&server, "./events/stream?after=100000", None).await;
    let shutdown = server.shutdown.clone();
    let (end, ()) = tokio::join!(frames.next(), async { shutdown.cancel() });
    assert_eq!(end, None);
}

#[tokio::test]
async fn nobody_sees_another_workspace() {
    let server = Server::start().await;
    let (other, _) = server.engine.create_workspace("other", "Other").await.expect("a workspace");
    let key = server.new_key(other.id, Role::Admin, None, None).await;
    server.seed().await;
    let request = server.request(Some(&key), "GET", "/api/v1/workspaces/other/events?limit=1000");
    let events = server.call(request.body(Body::empty()).expect("a request")).await.expect(200);
    let kinds: Vec<_> =
        events.body["items"].as_array().expect("items").iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["workspace_created", "api_key_created"]);
}
