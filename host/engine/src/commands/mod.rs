//! What people, CI and manifests ask for: each command is one transaction that changes intent, with its events, and
//! marks the planning that must follow.

pub mod api_key;
pub mod apply;
pub mod approval;
pub mod freeze;
pub mod measurement;
pub mod plugin;
pub mod policy;
pub mod redeploy;
pub mod release;
pub mod rollback;
pub mod skip;
pub mod version;
pub mod workspace;

mod text;
