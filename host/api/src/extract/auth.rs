//! Who asks. The gate checks the key and puts the caller into the request; handlers take it from there.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use model::access::Caller;

use crate::problem::{Code, Problem};

/// The caller that the gate let through.
#[derive(Debug, Clone)]
pub(crate) struct Auth(pub Caller);

impl<S: Send + Sync> FromRequestParts<S> for Auth {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Only a route that the table says is open to all has no caller, and its handler takes none.
        parts.extensions.get::<Caller>().cloned().map(Self).ok_or_else(missing)
    }
}

/// The secret of a request: `Authorization: Bearer KEY`, or else `x-api-key: KEY`.
pub(crate) fn secret(headers: &HeaderMap) -> Result<&str, Problem> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        return match text.split_once(' ') {
            Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Ok(secret.trim()),
            _ => Err(invalid("the Authorization header is not `Bearer KEY`")),
        };
    }
    match headers.get("x-api-key") {
        Some(value) => value.to_str().map_err(|_| invalid("the x-api-key header is not a key")),
        None => Err(missing()),
    }
}

fn missing() -> Problem {
    challenge(Problem::new(Code::CredentialsMissing, "send `Authorization: Bearer KEY` or `x-api-key: KEY`"))
}

/// A key that is none.
pub(crate) fn invalid(detail: &str) -> Problem {
    challenge(Problem::new(Code::CredentialsInvalid, detail))
}

fn challenge(problem: Problem) -> Problem {
    problem.with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tidegate\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, value: &'static str, expect: Result<&str, Code>) {
        let headers = HeaderMap::from_iter([(
            header::HeaderName::from_static(name),
            HeaderValue::from_bytes(value.as_bytes()).expect("a header"),
        )]);
        assert_eq!(secret(&headers).map_err(|problem| problem.code()), expect, "{name}: {value}");
    }

    #[test]
    fn both_headers_are_read() {
        check("authorization", "Bearer k1", Ok("k1"));
        check("authorization", "bearer  k1 ", Ok("k1"));
        check("x-api-key", "k1", Ok("k1"));
        check("authorization", "Basic abc", Err(Code::CredentialsInvalid));
        check("authorization", "k1", Err(Code::CredentialsInvalid));
        check("x-api-key", "k\u{e9}", Err(Code::CredentialsInvalid));
        check("cookie", "k1", Err(Code::CredentialsMissing));
    }
}
