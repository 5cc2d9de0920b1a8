//! The imperative shell around the planner: reads a snapshot, asks the plugins what the planner wants to know,
//! commits its plan, and carries out what people and CI ask for (commands).
//!
//! It decides nothing itself: a plan leaves no choice, and a command either changes intent or says why not. It
//! speaks no HTTP, holds no SQL and knows nothing of agents; what dispatch did reaches it as rows.

mod ask;
mod engine;
mod error;
mod explain;
mod measure;
pub mod measures;
mod pass;
mod run;

pub mod commands;

pub use commands::{
    apply::{Applied, Change},
    skip::{NewSkip, SkipScope, ToSkip},
    version::NewVersion,
};
pub use engine::Engine;
pub use error::CommandError;
