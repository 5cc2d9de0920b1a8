//! The planner as a whole: worlds in memory, native policies, passes until nothing moves, tables that people read.
//!
//! [`world`] holds the stage and applies plans to it; [`policies`] answers questions in place of plugins; [`show`]
//! prints. Every pass that a test makes is checked by `planner::check`.

mod policies;
mod show;
mod world;

mod checker;
mod choice;
mod gating;
mod jobs;
mod property;
mod retrying;
mod sequencing;
mod stability;
mod targets;
mod verifying;
