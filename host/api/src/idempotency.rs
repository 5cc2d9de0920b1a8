//! `Idempotency-Key`: a POST that is sent again under its key is answered as the first time, for 24 hours, and is
//! not carried out again. Only answers that changed something (2xx) are kept: a refused request may be sent again.
//!
//! What runs right now is known to this process alone; across replicas the commands are safe to repeat by
//! themselves.

use std::{
    collections::HashSet,
    future::Future,
    sync::{Mutex, PoisonError},
};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use model::{Json, access::Caller, id::WorkspaceId};
use sha2::{Digest as _, Sha256};
use store::idempotency::Answered;

use crate::{
    app::App,
    problem::{Code, Problem},
};

const HEADER: &str = "idempotency-key";
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Longest key, bytes.
const KEY_BYTES_MAX: usize = 255;

/// Keys of requests that are being carried out.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<HashSet<(WorkspaceId, String)>>);

/// One request that is being carried out; ends when dropped.
struct Turn<'a> {
    running: &'a Running,
    key: (WorkspaceId, String),
}

impl Running {
    fn begin(&self, workspace: WorkspaceId, key: &str) -> Option<Turn<'_>> {
        let key = (workspace, key.to_owned());
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        begun.then_some(Turn { running: self, key })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Carries a request out once per key. `what` is the route with its path and caller: the same body sent elsewhere,
/// or by somebody else, is another request.
pub(crate) async fn once<F>(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    (what, body): (String, [u8; 32]),
    command: F,
) -> Result<Response, Problem>
where
    F: Future<Output = Result<(StatusCode, Json), Problem>>,
{
    let Some(key) = key_of(headers)? else {
        return command.await.map(|(status, body)| answer(status, body.to_string()));
    };
    let Some(_turn) = app.running.begin(caller.workspace, &key) else {
        let detail = format!("a request with the Idempotency-Key `{key}` is still running; ask again in a moment");
        return Err(Problem::new(Code::IdempotencyRunning, detail).retry_after(std::time::Duration::from_secs(1)));
    };
    let hash: [u8; 32] = Sha256::new()
        .chain_update(what)
        .chain_update([0])
        .chain_update(&caller.user)
        .chain_update([0])
        .chain_update(body)
        .finalize()
        .into();
    let mut tx = app.store.read("api.idempotency.get").await?;
    let kept = store::idempotency::get(&mut tx, caller.workspace, &key).await?;
    drop(tx);
    if let Some(kept) = kept {
        return replay(&kept, hash, &key);
    }
    let (status, body) = command.await?;
    let body = body.to_string();
    let kept = Answered { request_hash: hash, status: status.as_u16(), body: body.clone() };
    let mut tx = app.store.write("api.idempotency.put").await?;
    store::idempotency::put(&mut tx, caller.workspace, &key, &kept).await?;
    tx.commit().await?;
    Ok(answer(status, body))
}

fn replay(kept: &Answered, hash: [u8; 32], key: &str) -> Result<Response, Problem> {
    if kept.request_hash != hash {
        let detail = format!("the Idempotency-Key `{key}` was used for another request in the last 24 hours");
        return Err(Problem::new(Code::IdempotencyKeyReused, detail));
    }
    let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    let mut response = answer(status, kept.body.clone());
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

fn answer(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text.is_empty() || text.len() > KEY_BYTES_MAX {
        let detail = format!("the Idempotency-Key header must be 1 to {KEY_BYTES_MAX} visible ASCII characters");
        return Err(Problem::new(Code::InvalidHeader, detail));
    }
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use model::id::Uuid;

    use super::*;

    #[test]
    fn one_turn_at_a_time_per_key_and_workspace() {
        let running = Running::default();
        let [one, other] = [1, 2].map(|id| WorkspaceId(Uuid::from_u128(id)));
        let turn = running.begin(one, "k").expect("free");
        assert!(running.begin(one, "k").is_none());
        assert!(running.begin(other, "k").is_some() && running.begin(one, "l").is_some());
        drop(turn);
        assert!(running.begin(one, "k").is_some());
    }

    #[test]
    fn a_key_is_short_and_visible() {
        let check = |value: HeaderValue| key_of(&HeaderMap::from_iter([(HeaderName::from_static(HEADER), value)]));
        assert_eq!(check(HeaderValue::from_static(" k1 ")).map_err(|p| p.code()), Ok(Some("k1".into())));
        for bad in [HeaderValue::from_static(""), HeaderValue::from_str(&"x".repeat(256)).expect("a header")] {
            assert_eq!(check(bad).expect_err("not a key").code(), Code::InvalidHeader);
        }
    }
}
