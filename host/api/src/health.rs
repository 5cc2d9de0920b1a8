//! Whether the process lives, and whether it can be used. The reasons are for everybody, the details for who has a
//! key.

use std::time::Duration;

use axum::{Json, extract::State, http::HeaderMap};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::{
    app::App,
    extract::secret,
    gate::authenticate,
    problem::{Code, Problem},
};

/// A database that takes longer than this to answer is not ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// That it lives.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Live {
    #[schema(example = "ok")]
    status: &'static str,
}

/// That it can be used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ready {
    #[schema(example = "ready")]
    status: &'static str,
    /// What was looked at; only for callers with a key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Check {
    #[schema(example = "database")]
    name: &'static str,
    #[schema(example = "answers")]
    detail: String,
}

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "health", operation_id = "live",
    responses((status = 200, description = "It lives.", body = Live)))]
pub(crate) async fn live() -> Json<Live> {
    Json(Live { status: "ok" })
}

/// Whether the server can be used: the database answers and it is not about to stop.
#[utoipa::path(get, path = "/readyz", tag = "health", operation_id = "ready",
    responses((status = 200, description = "It can be used.", body = Ready)))]
pub(crate) async fn ready(State(app): State<App>, headers: HeaderMap) -> Result<Json<Ready>, Problem> {
    let started = std::time::Instant::now();
    if app.shutdown.is_cancelled() {
        return Err(not_ready("the server is about to stop"));
    }
    match timeout(PATIENCE, app.store.read("api.ready")).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "not ready");
            return Err(not_ready("the database does not answer"));
        }
        Err(_) => return Err(not_ready("the database does not answer in time")),
    }
    let known = match secret(&headers) {
        Ok(secret) => authenticate(&app, secret).await.is_ok(),
        Err(_) => false,
    };
    let detail = format!("answered within {} ms", started.elapsed().as_millis());
    let checks = if known { vec![Check { name: "database", detail }] } else { Vec::new() };
    Ok(Json(Ready { status: "ready", checks }))
}

fn not_ready(reason: &str) -> Problem {
    Problem::new(Code::NotReady, reason).with("reasons", vec![reason]).retry_after(PATIENCE)
}
