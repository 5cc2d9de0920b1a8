//! When the next version may follow. Pure: everything is an argument.
//!
//! The time counts from the creation of the version that the target runs, so versions that arrive meanwhile never put
//! it off. No reason tells how long ago something was: the same facts give the same decision until it changes.

use tidegate_policy::{
    Intent, Timestamp, Version, duration_text,
    gate::{Decision, TargetState},
    instant_text,
};

use crate::Config;

/// May the version follow now?
#[must_use]
pub fn decide(config: &Config, now: Timestamp, intent: Intent, candidate: &Version, target: &TargetState) -> Decision {
    let made_at = created_at(candidate);
    let passes = |reason: String| Decision::allow(reason).satisfied_at(made_at);
    match intent {
        Intent::Redeploy => return passes("a person asked for it again, which no cooldown holds back".to_owned()),
        Intent::Rollback => return passes("it is a rollback, which no cooldown holds back".to_owned()),
        Intent::Automatic | Intent::Retry => {}
    }
    let place = &target.target.asset.name;
    let in_progress = target.in_progress.as_ref().map(|version| (version, "is on its way to"));
    let current = target.current.as_ref().map(|version| (version, "runs on"));
    let Some((reference, stands)) = in_progress.or(current) else {
        return passes(format!("nothing runs on {place} yet"));
    };
    if let Some((same, stands)) = [in_progress, current].into_iter().flatten().find(|(v, _)| v.id == candidate.id) {
        return passes(format!("{} {stands} {place} itself", same.tag));
    }

    let reference_at = created_at(reference);
    let opens_at = reference_at.saturating_add(config.interval_millis());
    let cooldown = format!(
        "the cooldown of {} after {}, which {stands} {place},",
        duration_text(config.interval_seconds.into()),
        reference.tag
    );
    let decision = if now >= opens_at {
        let reason = format!("{cooldown} ended {}", instant_text(opens_at));
        Decision::allow(reason).satisfied_at(opens_at.max(made_at))
    } else {
        let reason = format!("{cooldown} ends {}; no other version follows before", instant_text(opens_at));
        Decision::wait_until(opens_at, reason)
    };
    decision
        .detail("reference", &reference.tag)
        .detail("referenceCreatedAt", instant_text(reference_at))
        .detail("intervalSeconds", config.interval_seconds)
}

/// A creator's clock that runs ahead does not count: the server had the version by then.
fn created_at(version: &Version) -> Timestamp {
    version.created_at.min(version.received_at)
}

#[cfg(test)]
mod tests;
