//! Tidegate's nouns: what each is, which states it has and how it may change.
//!
//! Pure data and functions. Nothing here reads a clock, a random source, a database or the network; time and ids
//! arrive as arguments. Entities have no serde: the wire (api), the rows (store), the WIT records (plugins) and
//! the documents (manifest) are types of their own, converted by hand at the edge.
#![warn(missing_docs)]

pub mod id;
pub mod limits;
pub mod names;
pub mod time;

pub mod access;
pub mod approval;
pub mod decision;
pub mod deployment;
pub mod environment;
pub mod event;
pub mod freeze;
pub mod hold;
pub mod job;
pub mod job_agent;
pub mod job_state;
pub mod plugin;
pub mod policy;
pub mod redeploy;
pub mod release;
pub mod release_target;
pub mod resource;
pub mod rollback;
pub mod skip;
pub mod system;
pub mod verification;
pub mod version;
pub mod workspace;

pub mod plan;
pub mod question;
pub mod report;
pub mod snapshot;
pub mod wanted;

/// A JSON document: configuration and whatever else is carried but not interpreted.
pub type Json = serde_json::Value;

/// Key-value labels, sorted by key.
pub type Labels = std::collections::BTreeMap<String, String>;
