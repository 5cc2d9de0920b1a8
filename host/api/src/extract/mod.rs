//! What handlers take: bodies, queries, path parts and the caller, checked before a handler sees them. Every refusal
//! is a problem that says where.

mod auth;
mod body;
mod path;
mod query;
mod scan;

pub(crate) use auth::{Auth, invalid, secret};
#[cfg(test)]
pub(crate) use body::parse;
pub(crate) use body::{Body, BodyLimit, WasmBody};
pub(crate) use path::{PathId, PathText, decoded};
pub(crate) use query::{Query, limit_of, page, refused};
