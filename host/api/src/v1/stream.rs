//! The event stream (server-sent events): everything after a position, then whatever comes.
//!
//! Nothing is kept for a reader: it names the last position it has seen (`Last-Event-ID` or `?after=`) and is sent
//! what followed. It wakes by signal and by period, so that a lost signal only costs time.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse,
        sse::{Event as Frame, KeepAlive, Sse},
    },
};
use futures::{Stream, stream};
use model::{event::Event, id::WorkspaceId};
use serde::Deserialize;
use store::StoreError;
use tokio::{sync::watch, time::timeout};
use utoipa::IntoParams;

use super::{
    event::{Event as WireEvent, position},
    wire::Ws,
};
use crate::{
    app::App,
    extract::{Auth, Query},
    problem::{Code, Problem},
};

/// Looks at least this often, whatever was signalled.
const PERIOD: Duration = Duration::from_secs(2);
/// A silent connection says this often that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events read at once.
const BATCH: u32 = 100;

/// From where on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// After this position; 0 for all. The header `Last-Event-ID` goes before it.
    #[param(minimum = 0, default = 0)]
    after: Option<i64>,
}

/// Every event after a position and then as they come: `id` is the position, `event` the kind, `data` the event.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/events/stream", tag = "events", operation_id = "streamEvents",
    params(Ws, From, ("last-event-id" = Option<i64>, Header, description = "The last position seen.")),
    responses((status = 200, description = "Events.", content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(query): Query<From>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let after = match headers.get("last-event-id") {
        Some(value) => last_event_id(value.to_str().unwrap_or_default())?,
        None => position("after", query.after)?,
    };
    let signal = app.store.signals().events();
    let reader = Reader { app, workspace: caller.workspace, after, waiting: VecDeque::new(), signal };
    Ok(Sse::new(reader.into_stream()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

fn last_event_id(text: &str) -> Result<i64, Problem> {
    text.trim().parse().ok().filter(|at| *at >= 0).ok_or_else(|| {
        Problem::new(Code::InvalidHeader, format!("Last-Event-ID `{text}` is not the position of an event"))
    })
}

/// One open stream.
struct Reader {
    app: App,
    workspace: WorkspaceId,
    after: i64,
    waiting: VecDeque<Event>,
    signal: watch::Receiver<u64>,
}

impl Reader {
    fn into_stream(self) -> impl Stream<Item = Result<Frame, Infallible>> {
        stream::unfold(self, |mut reader| async move {
            let event = reader.next().await?;
            reader.after = event.position;
            Some((Ok(frame(event)), reader))
        })
    }

    /// The next event; nothing once the server stops or the database fails, upon which the client comes back with
    /// the position it has.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            // Before the look, so that what comes during it is not missed.
            self.signal.mark_unchanged();
            match self.read().await {
                Ok(events) => self.waiting = events.into(),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "an event stream ends");
                    return None;
                }
            }
            if self.waiting.is_empty() {
                let signal = &mut self.signal;
                let woken = async {
                    if signal.changed().await.is_err() {
                        std::future::pending::<()>().await;
                    }
                };
                tokio::select! {
                    _ = timeout(PERIOD, woken) => {}
                    () = self.app.shutdown.cancelled() => return None,
                }
            }
        }
    }

    async fn read(&self) -> Result<Vec<Event>, StoreError> {
        let mut tx = self.app.store.read("api.event.stream").await?;
        store::event::after(&mut tx, self.workspace, self.after, BATCH).await
    }
}

fn frame(event: Event) -> Frame {
    let event = WireEvent::from(event);
    let frame = Frame::default().id(event.position.to_string()).event(event.kind.0.name());
    // One line of JSON: a frame's data cannot hold a carriage return, and JSON has none outside escapes.
    match serde_json::to_string(&event) {
        Ok(text) => frame.data(text),
        Err(_) => frame.data("{}"),
    }
}
