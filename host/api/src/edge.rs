//! The outermost layer: every response gets the request's id, every panic becomes a problem, and what the router
//! answers by itself becomes one too. Never logs headers, bodies or queries: secrets travel in them.

use std::{any::Any, panic::AssertUnwindSafe, time::Instant};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::Response,
};
use futures::FutureExt as _;

use crate::{
    problem::{Code, Problem},
    unread::Unread,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id that is taken over from a client, bytes.
const REQUEST_ID_BYTES_MAX: usize = 64;

pub(crate) async fn edge(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let (request, unread) = Unread::of(request);
    let mut response = match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => rendered(response, &id),
        Err(panic) => {
            tracing::error!(%method, path, request_id = id, panic = panic_text(&*panic), "a handler panicked");
            Problem::new(Code::Internal, "the server failed; its log has the reason").render(Some(&id))
        }
    };
    if let Some(unread) = unread.filter(|_| is_error(response.status())) {
        unread.throw_away().await;
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let status = response.status().as_u16();
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(%method, path, status, elapsed_ms, request_id = id, "request answered");
    response
}

/// Problems get the id; headers that were added to them on the way out stay.
fn rendered(mut response: Response, id: &str) -> Response {
    let problem = match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem,
        None if is_error(response.status()) => own_words(response.status()),
        None => return response,
    };
    let mut whole = problem.render(Some(id));
    if let Some(allow) = response.headers_mut().remove(header::ALLOW) {
        whole.headers_mut().insert(header::ALLOW, allow);
    }
    whole
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// What axum answers without asking us, in our words.
fn own_words(status: StatusCode) -> Problem {
    let code = match status {
        StatusCode::NOT_FOUND => Code::RouteUnknown,
        StatusCode::METHOD_NOT_ALLOWED => Code::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => Code::BodyTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
        status if status.is_client_error() => Code::InvalidPath,
        _ => Code::Internal,
    };
    Problem::new(code, status.canonical_reason().unwrap_or_default().to_lowercase())
}

/// Any path that no route has.
pub(crate) async fn unknown_route(uri: Uri) -> Problem {
    Problem::new(Code::RouteUnknown, format!("no route has the path `{}`", uri.path()))
}

/// A path that a route has, with another method. axum adds the Allow header.
pub(crate) async fn unknown_method(method: Method, uri: Uri) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("`{}` does not take {method}", uri.path()))
}

/// The client's own id when it is a plain word, so that its logs and ours meet; otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let plain = |text: &&str| {
        !text.is_empty()
            && text.len() <= REQUEST_ID_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    match headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(plain) {
        Some(id) => id.to_owned(),
        None => {
            let mut bytes = [0_u8; 8];
            // An id without randomness still answers the request; it only cannot be told from another.
            let _ = getrandom::fill(&mut bytes);
            format!("{:016x}", u64::from_be_bytes(bytes))
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, body::to_bytes, middleware::from_fn, routing::get};
    use model::Json;
    use tower::ServiceExt as _;

    use super::*;

    async fn boom() -> &'static str {
        panic!("the secret is hunter2")
    }

    async fn call(method: &str, path: &str, id: &str) -> (Response<()>, Json) {
        let router = Router::new()
            .route("/ok", get(|| async { "fine" }))
            .route("/boom", get(boom))
            .route("/bare", get(|| async { StatusCode::IM_A_TEAPOT }))
            .fallback(unknown_route)
            .method_not_allowed_fallback(unknown_method)
            .layer(from_fn(edge));
        let request = Request::builder().method(method).uri(path).header(REQUEST_ID, id);
        let response = router.oneshot(request.body(Body::empty()).expect("a request")).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.expect("a body");
        (Response::from_parts(parts, ()), serde_json::from_slice(&bytes).unwrap_or_default())
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_that_says_nothing_of_it() {
        let (response, body) = call("GET", "/boom", "r-1").await;
        assert_eq!(
            (response.status().as_u16(), &body["code"], &body["requestId"]),
            (500, &"internal".into(), &"r-1".into())
        );
        assert!(!body.to_string().contains("hunter2"));
        assert_eq!(response.headers()[REQUEST_ID], "r-1");
    }

    #[tokio::test]
    async fn what_the_router_says_by_itself_is_a_problem() {
        let (response, body) = call("GET", "/none", "r-1").await;
        assert_eq!((response.status().as_u16(), &body["code"]), (404, &"route_unknown".into()));
        let (response, body) = call("POST", "/ok", "r-1").await;
        assert_eq!((response.status().as_u16(), &body["code"]), (405, &"method_not_allowed".into()));
        assert_eq!(response.headers()[header::ALLOW], "GET,HEAD");
        let (_, body) = call("GET", "/bare", "r-1").await;
        assert_eq!(body["requestId"], "r-1");
    }

    #[tokio::test]
    async fn an_odd_id_is_replaced() {
        for odd in ["", "a b", &"x".repeat(65), "<script>"] {
            let (response, _) = call("GET", "/ok", odd).await;
            let id = response.headers()[REQUEST_ID].to_str().expect("text");
            assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{odd}: {id}");
        }
        assert_eq!(call("GET", "/ok", "trace-7").await.0.headers()[REQUEST_ID], "trace-7");
    }
}
