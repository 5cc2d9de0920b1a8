//! Plays a scenario: the real engine, the real policies and the real dispatch on a database of its own, under a clock
//! that moves from one due instant to the next.
//!
//! Nothing here decides what is released or when; it only does what people, CI and agents would do, and looks. The
//! same file gives the same lines on every run.
#![warn(missing_docs)]

mod actions;
mod agent;
mod expectations;
mod find;
mod line;
mod names;
mod people;
mod play;
mod world;

pub use line::{Line, Summary};
pub use play::play;
pub use world::{Shipped, Stage};

/// Why a scenario could not be played to its end. A failed expectation is none of these.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The file asks for what is not there, or may not be.
    #[error("line {line}: {message}")]
    Step {
        /// Where in the file.
        line: u64,
        /// What is wrong and what would be right.
        message: String,
    },
    /// What is there at the start is wrong.
    #[error("apply: {0}")]
    Apply(engine::CommandError),
    /// A policy that ships cannot be run here, which is a fault of this build.
    #[error("a policy that ships cannot be run: {0}")]
    Shipped(engine::CommandError),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] store::StoreError),
}
