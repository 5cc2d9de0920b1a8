//! Bodies: JSON of a known shape, and the bytes of a component. Size is bounded while reading, nesting before
//! parsing; unknown members are refused by the types themselves; every refusal points at its place.

use axum::{
    body::{Bytes, to_bytes},
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use model::limits::JSON_DEPTH_MAX;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use sha2::{Digest as _, Sha256};

use super::scan::{Refused, in_json_words, named_member, nul_pointer, push_token, scan};
use crate::problem::{Code, Problem};

/// How many bytes the route takes; set by the gate from the table of routes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub usize);

/// A JSON body, and the bytes it was read from.
#[derive(Debug)]
pub(crate) struct Body<T> {
    pub value: T,
    bytes: Bytes,
}

impl<T> Body<T> {
    /// SHA-256 of the bytes as they came.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.bytes).into()
    }
}

/// A component's bytes.
#[derive(Debug)]
pub(crate) struct WasmBody(pub Bytes);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let content_type = content_type(request.headers());
        if !is_json(&content_type) {
            return Err(unsupported(&content_type, "application/json"));
        }
        let bytes = read(request).await?;
        Ok(Self { value: parse(&bytes)?, bytes })
    }
}

impl<S: Send + Sync> FromRequest<S> for WasmBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let content_type = content_type(request.headers());
        if content_type != "application/wasm" {
            return Err(unsupported(&content_type, "application/wasm"));
        }
        read(request).await.map(Self)
    }
}

async fn read(request: Request) -> Result<Bytes, Problem> {
    let limit = request.extensions().get::<BodyLimit>().map_or(0, |limit| limit.0);
    let too_large = || Problem::new(Code::BodyTooLarge, format!("this route takes at most {limit} bytes"));
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limit as u64) {
        return Err(too_large());
    }
    to_bytes(request.into_body(), limit).await.map_err(|error| {
        // The limit's own error is the source; anything else is the connection.
        let source = std::error::Error::source(&error).map(ToString::to_string);
        if source.is_some_and(|text| text.contains("length limit")) {
            too_large()
        } else {
            Problem::new(Code::BodyIncomplete, "the connection ended before the body did")
        }
    })
}

/// Reads JSON; also used for the tests of wire types.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    match scan(bytes, JSON_DEPTH_MAX) {
        Ok(()) => {}
        Err(Refused::TooDeep(at)) => {
            let detail = format!("nested deeper than {JSON_DEPTH_MAX} levels at byte {at}");
            return Err(Problem::new(Code::BodyTooDeep, detail));
        }
        Err(Refused::Nul) => {
            let value = serde_json::from_slice(bytes).map_err(|error| malformed(String::new(), &error))?;
            let pointer = nul_pointer(&value).unwrap_or_default();
            return Err(Problem::at(Code::InvalidContent, pointer, "must not hold the character U+0000"));
        }
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| refusal(&error))?;
    reader.end().map_err(|error| malformed(String::new(), &error))?;
    Ok(value)
}

fn refusal(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let mut pointer = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => push_token(&mut pointer, index),
            Segment::Map { key } => push_token(&mut pointer, key),
            Segment::Enum { variant } => push_token(&mut pointer, variant),
            Segment::Unknown => {}
        }
    }
    let inner = error.inner();
    if !inner.is_data() {
        return malformed(pointer, inner);
    }
    let message = without_position(&inner.to_string());
    if let Some((name, words)) = named_member(&message) {
        push_token(&mut pointer, name);
        return Problem::at(Code::InvalidContent, pointer, words);
    }
    Problem::at(Code::InvalidContent, pointer, in_json_words(&message))
}

fn malformed(pointer: String, error: &serde_json::Error) -> Problem {
    Problem::at(Code::MalformedJson, pointer, error.to_string())
}

/// A data error's place is its pointer; line and column would say it twice.
fn without_position(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message.to_owned(),
    }
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(content_type: &str) -> bool {
    content_type == "application/json" || (content_type.starts_with("application/") && content_type.ends_with("+json"))
}

fn unsupported(found: &str, expected: &str) -> Problem {
    let found = if found.is_empty() { "no content type".to_owned() } else { format!("`{found}`") };
    Problem::new(Code::UnsupportedMediaType, format!("{found} was sent, this route takes `{expected}`"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, expecting = "an object")]
    struct Inner {
        count: u32,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object")]
    struct Outer {
        tag: String,
        #[serde(default)]
        parts: Vec<Inner>,
        #[serde(default)]
        labels: BTreeMap<String, String>,
    }

    fn check(text: &str, code: Code, pointer: &str, message: &str) {
        let problem = parse::<Outer>(text.as_bytes()).expect_err(text);
        assert_eq!(problem.code(), code, "{text}");
        let document = problem.document(None);
        assert_eq!(document["errors"][0]["pointer"], pointer, "{text}: {document}");
        let found = document["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
        assert!(found.contains(message), "{text}: {found}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        use Code::{InvalidContent, MalformedJson};
        check("{", MalformedJson, "", "line 1 column 1");
        check("", MalformedJson, "", "EOF");
        check(r#"{"tag":"v1"} x"#, MalformedJson, "", "trailing");
        check(r#"{"tag":"v1","parts":[{"count":1},{"count":}]}"#, MalformedJson, "/parts/1/count", "expected value");
        check(r#"[]"#, InvalidContent, "", "expected an object");
        check(r#"{"tag":5}"#, InvalidContent, "/tag", "expected a string");
        check(r#"{"parts":[]}"#, InvalidContent, "/tag", "is required");
        check(r#"{"tag":"v1","parts":[{"count":1},{}]}"#, InvalidContent, "/parts/1/count", "is required");
        check(r#"{"tag":"v1","parts":[{"count":-1}]}"#, InvalidContent, "/parts/0/count", "integer `-1`");
        check(r#"{"tag":"v1","labels":{"a/b":1}}"#, InvalidContent, "/labels/a~1b", "expected a string");
        check(r#"{"tag":"v1","nope":1}"#, InvalidContent, "/nope", "unknown field `nope`");
        check(r#"{"tag":"v1","tag":"v2"}"#, InvalidContent, "/tag", "duplicate");
        check(r#"{"tag":"a\u0000b"}"#, InvalidContent, "/tag", "U+0000");
        check(r#"{"tag":"\ud800"}"#, MalformedJson, "/tag", "hex escape");
    }

    #[test]
    fn bad_utf8_is_malformed() {
        let problem = parse::<Outer>(b"{\"tag\":\"\xff\"}").expect_err("not UTF-8");
        assert_eq!(problem.code(), Code::MalformedJson);
    }

    #[test]
    fn depth_is_bounded_before_parsing() {
        let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(parse::<model::Json>(nest(64).as_bytes()).map(|_| ()).map_err(|e| e.code()), Ok(()));
        let deep = parse::<model::Json>(nest(65).as_bytes()).expect_err("too deep");
        assert_eq!(deep.code(), Code::BodyTooDeep);
        assert_eq!(parse::<Outer>("[".repeat(1_000_000).as_bytes()).expect_err("deep").code(), Code::BodyTooDeep);
    }
}
