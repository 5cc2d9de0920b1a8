//! The REST API: every route with its method, the role it needs and its schema in one table ([`routes`]), from which
//! the router, the check of keys and the OpenAPI document are built.
//!
//! Handlers turn wire types into a command of engine or dispatch, or into a read of store, and the answer back. They
//! decide nothing themselves, hold no SQL and know no plugin. Every refusal is a [`problem::Problem`].

pub mod problem;

mod app;
mod edge;
mod extract;
mod gate;
mod health;
mod idempotency;
mod openapi;
mod routes;
mod serve;
mod unread;
mod v1;

pub use app::ApiState;
pub use openapi::{document as openapi, text as openapi_text};
pub use routes::{Needs, Sends, Summary, summaries};
pub use serve::{router, serve};
