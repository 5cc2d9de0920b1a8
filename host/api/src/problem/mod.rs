//! Problems: every answer that is not a success, as RFC 9457 `application/problem+json`, rendered here and nowhere
//! else. A problem never carries SQL, a file name or another tenant's data.

mod code;
mod from;

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
pub use code::Code;
use model::{Json, wanted::FieldError};
use serde_json::{Map, json};

/// The media type of a problem.
pub const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// What went wrong, for programs and for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
    extra: Map<String, Json>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// A problem; `detail` is one sentence about this occurrence.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let problem = Inner { code, detail: detail.into(), errors: Vec::new(), extra: Map::new(), headers: Vec::new() };
        Self(Box::new(problem))
    }

    /// A problem about one place of what was sent. The detail is the same sentence with its place.
    #[must_use]
    pub fn at(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of_fields(code, vec![FieldError { pointer: pointer.into(), message: message.into() }])
    }

    /// A problem about several places of what was sent.
    #[must_use]
    pub fn of_fields(code: Code, errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [] => code.title().to_owned(),
            [one] if one.pointer.is_empty() => one.message.clone(),
            [one] => format!("{}: {}", one.pointer, one.message),
            [first, rest @ ..] => format!("{}: {} (and {} more)", first.pointer, first.message, rest.len()),
        };
        let mut problem = Self::new(code, detail);
        problem.0.errors = errors;
        problem
    }

    /// There is no such thing.
    #[must_use]
    pub fn not_found(what: &str, key: impl std::fmt::Display) -> Self {
        Self::new(Code::NotFound, format!("there is no {what} `{key}` in this workspace"))
    }

    /// Adds a member of its own, such as a lease's holder.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.0.extra.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Says when to come back.
    #[must_use]
    pub fn retry_after(self, wait: Duration) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)))
    }

    /// Its code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// As a document, with the request it answers.
    #[must_use]
    pub fn document(&self, request_id: Option<&str>) -> Json {
        let Inner { code, detail, errors, extra, .. } = &*self.0;
        let mut document = json!({
            "type": code.doc(),
            "title": code.title(),
            "status": code.status().as_u16(),
            "detail": detail,
            "code": code.name(),
            "errors": errors
                .iter()
                .map(|error| json!({"pointer": error.pointer, "message": error.message}))
                .collect::<Vec<_>>(),
            "requestId": request_id,
        });
        if let Json::Object(members) = &mut document {
            members.extend(extra.clone());
        }
        document
    }

    /// As a response.
    pub(crate) fn render(&self, request_id: Option<&str>) -> Response {
        let mut response = Response::new(Body::from(self.document(request_id).to_string()));
        *response.status_mut() = self.0.code.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, CONTENT_TYPE);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for (name, value) in &self.0.headers {
            headers.append(name, value.clone());
        }
        response
    }
}

impl IntoResponse for Problem {
    /// The problem travels with the response, so that the edge of the server can put the request's id into it.
    fn into_response(self) -> Response {
        let mut response = self.render(None);
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_every_member_of_the_contract() {
        let problem = Problem::at(Code::InvalidContent, "/rules/0", "has no key").with("holder", "n1");
        assert_eq!(
            problem.document(Some("r1")),
            json!({
                "type": "/docs/reference/errors#invalid_content",
                "title": "The content is not valid",
                "status": 422,
                "detail": "/rules/0: has no key",
                "code": "invalid_content",
                "errors": [{"pointer": "/rules/0", "message": "has no key"}],
                "requestId": "r1",
                "holder": "n1",
            })
        );
    }

    #[test]
    fn several_places_are_counted_in_the_detail() {
        let error = |pointer: &str| FieldError { pointer: pointer.into(), message: "is wrong".into() };
        let problem = Problem::of_fields(Code::InvalidContent, vec![error("/a"), error("/b"), error("/c")]);
        assert_eq!(problem.document(None)["detail"], "/a: is wrong (and 2 more)");
        assert_eq!(problem.document(None)["errors"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn a_wait_is_at_least_a_second() {
        let response = Problem::new(Code::StoreUnavailable, "x").retry_after(Duration::ZERO).into_response();
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
        assert!(response.extensions().get::<Problem>().is_some());
    }
}
