//! The API over an in-process router and a real store: every route, every way to refuse.

mod api_keys;
mod bad_input;
mod events;
mod idempotency;
mod nouns;
mod problems;
mod queue;
mod roles;
mod server;
mod socket;
