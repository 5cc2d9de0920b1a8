//! Query parameters: a known shape, unknown ones refused (a mistyped filter would otherwise show everything).

use axum::{
    extract::FromRequestParts,
    http::{Uri, request::Parts},
};
use model::limits::{PAGE_DEFAULT, PAGE_MAX};
use serde::de::DeserializeOwned;
use store::Page;

use super::scan::{named_member, push_token};
use crate::problem::{Code, Problem};

/// Query parameters of a known shape.
#[derive(Debug)]
pub(crate) struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parse(&parts.uri).map(Self)
    }
}

fn parse<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let text = uri.query().unwrap_or_default().as_bytes();
    for (name, value) in form_urlencoded::parse(text) {
        let has = |unwanted: char| name.contains(unwanted) || value.contains(unwanted);
        if has('\0') {
            return Err(refused(&name.replace('\0', ""), "must not hold the character U+0000"));
        }
        // What is not UTF-8 was replaced by this character while decoding.
        if has(char::REPLACEMENT_CHARACTER) {
            return Err(refused(&name, "is not UTF-8"));
        }
    }
    let reader = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text));
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let message = error.inner().to_string();
        if let Some((name, words)) = named_member(&message) {
            return refused(name, words);
        }
        let plain = if message.contains("invalid digit") || message.contains("empty string") {
            "is not a whole number".to_owned()
        } else {
            message
        };
        refused(&error.path().to_string(), &plain)
    })
}

/// A problem with one parameter; `.` is how a path that leads nowhere is written.
pub(crate) fn refused(name: &str, message: &str) -> Problem {
    let mut pointer = String::new();
    if name != "." && !name.is_empty() {
        push_token(&mut pointer, name);
    }
    Problem::at(Code::InvalidQuery, pointer, message)
}

/// Checks the two parameters that every list has.
pub(crate) fn page(limit: Option<i64>, offset: Option<i64>) -> Result<Page, Problem> {
    let offset = u32::try_from(offset.unwrap_or(0))
        .map_err(|_| refused("offset", &format!("must be between 0 and {}", u32::MAX)))?;
    Ok(Page { limit: limit_of(limit)?, offset })
}

/// Checks how many are asked for.
pub(crate) fn limit_of(limit: Option<i64>) -> Result<u32, Problem> {
    match limit.map(u32::try_from) {
        None => Ok(PAGE_DEFAULT),
        Some(Ok(limit)) if (1..=PAGE_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(refused("limit", &format!("must be between 1 and {PAGE_MAX}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Filter {
        status: Option<String>,
        limit: Option<i64>,
    }

    fn read(query: &str) -> Result<Filter, Problem> {
        parse(&format!("/x?{query}").parse().expect("a URI"))
    }

    fn check(query: &str, pointer: &str, message: &str) {
        let problem = read(query).expect_err(query);
        assert_eq!(problem.code(), Code::InvalidQuery);
        let error = problem.document(None)["errors"][0].clone();
        assert_eq!(error["pointer"], pointer, "{query}: {error}");
        assert!(error["message"].as_str().is_some_and(|found| found.contains(message)), "{query}: {error}");
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        assert_eq!(read("status=a%20b&limit=5"), Ok(Filter { status: Some("a b".into()), limit: Some(5) }));
        check("limit=abc", "/limit", "whole number");
        check("limit=", "/limit", "whole number");
        check("limit=1&limit=2", "/limit", "duplicate");
        check("limit=99999999999999999999", "/limit", "too large");
        check("statsu=x", "/statsu", "unknown field");
        check("status=%00", "/status", "U+0000");
        check("status=%ff", "/status", "UTF-8");
    }

    #[test]
    fn a_page_is_within_bounds() {
        assert_eq!(page(None, None).map_err(|p| p.code()), Ok(Page { limit: PAGE_DEFAULT, offset: 0 }));
        assert_eq!(page(Some(1000), Some(5)).map_err(|p| p.code()), Ok(Page { limit: 1000, offset: 5 }));
        for (limit, offset) in [(0, 0), (1001, 0), (-1, 0), (i64::MAX, 0), (1, -1), (1, i64::MIN)] {
            let problem = page(Some(limit), Some(offset)).expect_err("out of bounds");
            assert_eq!(problem.code(), Code::InvalidQuery);
        }
    }
}
