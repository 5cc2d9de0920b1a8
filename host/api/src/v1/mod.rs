//! Version 1 of the API: one file per noun, with its wire types, the conversions and its handlers.

mod wire;

pub(crate) mod api_key;
pub(crate) mod apply;
pub(crate) mod approval;
pub(crate) mod decision;
pub(crate) mod deployment;
pub(crate) mod environment;
pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod freeze;
pub(crate) mod job;
pub(crate) mod job_agent;
pub(crate) mod plugin;
pub(crate) mod policy;
pub(crate) mod queue;
pub(crate) mod release;
pub(crate) mod release_target;
pub(crate) mod resource;
pub(crate) mod skip;
pub(crate) mod steer;
pub(crate) mod stream;
pub(crate) mod system;
pub(crate) mod version;
pub(crate) mod workspace;
