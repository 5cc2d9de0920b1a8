//! The planning pass: a snapshot in, questions out, answers in, a plan and its report out.
//!
//! What to ask a policy depends on earlier answers, so the pass is a conversation held by value:
//! [`Pass::start`] gives questions or the outcome, [`Pass::answer`] gives more questions or the outcome. Whoever
//! holds it (the engine, a simulation, a forecast) asks the plugins and applies the plan; the pass itself never
//! waits, reads a clock or touches a database, and the same snapshot, instant, seed and answers give the same bytes.
#![warn(missing_docs)]

mod dispatch_context;
mod freezes;
mod gates;
mod holds;
mod matching;
mod pass;
mod progress;
mod requests;
mod retries;
mod rollouts;
mod rules;
mod search;
mod sequences;
mod standing;
mod states;
mod steps;
mod target;
mod verify;

pub mod check;

pub use matching::matching_targets;
pub use pass::{Outcome, Pass, Turn};
