//! Freezes: what may not start now, and until when.

use model::{
    freeze::Freeze,
    id::VersionId,
    report::{Block, BlockKind},
    skip::{Skip, Skipped},
    snapshot::Snapshot,
    time::{Timestamp, earliest},
};

use crate::{matching::PolicySelector, target::Target};

/// The freezes of a workspace, their selectors parsed once.
pub struct Freezes {
    freezes: Vec<(Freeze, PolicySelector)>,
}

impl Freezes {
    pub fn new(snapshot: &Snapshot) -> Self {
        let freezes = &snapshot.freezes;
        Self { freezes: freezes.iter().map(|one| (one.clone(), PolicySelector::parse(&one.selector))).collect() }
    }

    /// What is frozen of the version at the target, by the freezes' names.
    pub fn blocks(&self, version: VersionId, target: &Target, skips: &[Skip], now: Timestamp) -> Vec<Block> {
        let in_force = self.freezes.iter().filter(|(freeze, _)| freeze.in_force(now));
        in_force
            .filter(|(freeze, _)| {
                let skipped = |skip: &&Skip| skip.skipped == Skipped::Freeze(freeze.id);
                !skips.iter().filter(skipped).any(|skip| skip.covers(version, target.target.key, now))
            })
            .filter_map(|(freeze, selector)| {
                let until =
                    freeze.ends_at.map_or_else(|| "until it is lifted".to_owned(), |end| format!("until {end}"));
                let Freeze { name, reason, created_by, .. } = freeze;
                let reason = match selector.matches(&target.target) {
                    Ok(false) => return None,
                    Ok(true) => format!("freeze `{name}` of {created_by} holds {until}: {reason}"),
                    Err(error) => format!("the selector of freeze `{name}` failed here, so it holds {until}: {error}"),
                };
                Some(Block { kind: BlockKind::Freeze, reason, until: freeze.ends_at })
            })
            .collect()
    }

    /// When time alone changes what is frozen at the target.
    pub fn next_change(&self, target: &Target, now: Timestamp) -> Option<Timestamp> {
        let here = self.freezes.iter().filter(|(freeze, _)| freeze.next_change(now).is_some());
        let here = here.filter(|(_, selector)| selector.matches(&target.target).unwrap_or(true));
        here.fold(None, |at, (freeze, _)| earliest(at, freeze.next_change(now)))
    }
}
