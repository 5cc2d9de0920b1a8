//! Placeholder.
use crate::Outcome;
use model::snapshot::Snapshot;
/// x
pub fn plan(_: &Snapshot, _: &Outcome) -> Vec<String> {
    Vec::new()
}
