//! What people, CI and manifests ask for: each command is one transaction that changes intent, with its events, and
//! marks the planning that must follow.

pub mod api_key;
pub mod apply;
pub mod approval;
pub mod plugin;
pub mod version;
pub mod workspace;

mod text;
