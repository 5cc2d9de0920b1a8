//! The parts of a path. `{ws}` is the gate's; every route has at most one other part, and handlers take that.

use std::{fmt::Display, str::FromStr};

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};

use super::scan::push_token;
use crate::problem::{Code, Problem};

/// The part of a path that is an id or a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathId<T>(pub T);

/// The part of a path that is a name.
#[derive(Debug, Clone)]
pub(crate) struct PathText(pub String);

impl<S: Send + Sync, T> FromRequestParts<S> for PathId<T>
where
    T: FromStr,
    T::Err: Display,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let (name, text) = own_part(parts, state).await?;
        text.parse().map(Self).map_err(|error: T::Err| refused(&name, error))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        own_part(parts, state).await.map(|(_, text)| Self(text))
    }
}

async fn own_part<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<(String, String), Problem> {
    let found = decoded(parts, state).await?.into_iter().rfind(|(name, _)| name != "ws");
    Ok(found.expect("a handler takes a part of its path only where its route has one"))
}

/// Every part of the path, decoded. What is not UTF-8 or holds a NUL is refused here for all.
pub(crate) async fn decoded<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Vec<(String, String)>, Problem> {
    let params = RawPathParams::from_request_parts(parts, state)
        .await
        .map_err(|_| Problem::new(Code::InvalidPath, "a part of the path is not UTF-8"))?;
    let mut found = Vec::new();
    for (name, text) in &params {
        if text.contains('\0') {
            return Err(refused(name, "must not hold the character U+0000"));
        }
        found.push((name.to_owned(), text.to_owned()));
    }
    Ok(found)
}

fn refused(name: &str, message: impl Display) -> Problem {
    let mut pointer = String::new();
    push_token(&mut pointer, name);
    Problem::at(Code::InvalidPath, pointer, message.to_string())
}
