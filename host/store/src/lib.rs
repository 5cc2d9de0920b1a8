//! Everything that is kept, on SQLite or PostgreSQL: one text of SQL for both.
//!
//! A file per noun with functions over an open [`Tx`], `snapshot` and `plan` for the planning pass, `claim` for the
//! agents, `wake` for who waits. It decides nothing: what may follow what is the model's to say. It never hands out
//! a row that is no value of the model, and nothing outside it knows of SQL.
#![warn(missing_docs)]

mod dependency;
mod error;
mod many;
mod page;
mod planned;
mod pool;
mod row;
mod tx;

pub mod clock;
pub mod crash;
pub mod wake;

pub mod access;
pub mod approval;
pub mod claim;
pub mod decision;
pub mod deployment;
pub mod environment;
pub mod event;
pub mod freeze;
pub mod hold;
pub mod idempotency;
pub mod job;
pub mod job_agent;
pub mod job_result;
pub mod measurement;
pub mod planning;
pub mod plugin;
pub mod policy;
pub mod redeploy;
pub mod release;
pub mod release_target;
pub mod resource;
pub mod skip;
pub mod system;
pub mod version;
pub mod workspace;

pub mod plan;
pub mod snapshot;

#[doc(hidden)]
pub mod statements;

pub use clock::{Clock, ManualClock, SystemClock};
pub use error::StoreError;
pub use page::{Listed, Page};
pub use pool::{Durability, Options, Store};
pub use tx::Tx;
pub use wake::Signals;
