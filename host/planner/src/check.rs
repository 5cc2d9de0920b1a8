//! A second opinion on a finished plan: which of the rules that every plan must keep it breaks.
//!
//! Written from the design and not from the pass, whose code it does not use: what the pass overlooks must not be
//! overlooked here for the same reason. It knows only what was read and what came out, so it cannot say whether a
//! plan is the best one, only whether it is sound. It runs after every plan in tests, simulation and debug builds;
//! a line from it is a defect of the planner, never of a user's set-up.

mod events;
mod gates;
mod jobs;
mod look;
mod releases;
mod report;
mod targets;

use model::snapshot::Snapshot;

use crate::Outcome;
use look::Look;

/// What `outcome` breaks, a sentence each that begins with the target; empty for a sound plan.
#[must_use]
pub fn plan(snapshot: &Snapshot, outcome: &Outcome) -> Vec<String> {
    let look = Look::new(snapshot, outcome);
    let mut broken = Broken(Vec::new());
    targets::check(&look, &mut broken);
    releases::check(&look, &mut broken);
    jobs::check(&look, &mut broken);
    gates::check(&look, &mut broken);
    report::check(&look, &mut broken);
    events::check(&look, &mut broken);
    broken.0
}

/// The rules found broken so far.
struct Broken(Vec<String>);

impl Broken {
    /// Notes the sentence unless the rule holds.
    fn unless(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.0.push(sentence());
        }
    }
}
