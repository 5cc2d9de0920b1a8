//! Runs policies: uploaded WebAssembly components behind the interface in `wit/`. The only crate that knows wasmtime.
//!
//! A component gets a request and gives an answer. It has 64 MiB, some fuel and some milliseconds, no clock, network,
//! file or random source, and nothing of it survives a trap. Whatever it does, the caller gets one [`Answer`] per
//! question: a fault says which limit was hit, what was seen, and by which policy.
//!
//! - [`Host`] compiles each component once, keeps native code on disk, and owns the worker threads.
//! - [`Session`] is one planning pass: one instance per component, reused for the questions of that pass.
//!
//! This crate never reads a clock for a policy, never opens a database or a socket, and never decides what a fault
//! means: that is the planner's.
//!
//! [`Answer`]: model::question::Answer
#![warn(missing_docs)]

mod host;
mod session;

mod cache;
mod config;
mod engine;
mod fault;
mod imports;
mod instance;
mod limiter;
mod load;
mod ticker;
mod v1;
mod workers;

pub use config::{HostConfig, Limits};
pub use host::{Host, HostError, digest_of};
pub use session::Session;
