//! When a target's turn is. Pure: everything is an argument.
//!
//! The host keeps the order, each target's place and when the rollout began, and asks in that order, counting what it
//! has just allowed as a start. So the same place always has the same turn, and a turn is never put forward.

use tidegate_policy::{
    Intent, Timestamp, Version, duration_text,
    gate::{Decision, RolloutPosition, TargetState},
    instant_text,
};

use crate::{Config, config::RolloutType};

/// The answer for a target that has had its turn, whatever became of the others since.
#[must_use]
pub fn started(intent: Intent, candidate: &Version, target: &TargetState) -> Option<Decision> {
    let is_candidate = |version: &Option<Version>| version.as_ref().is_some_and(|version| version.id == candidate.id);
    let (tag, place) = (&candidate.tag, &target.target.asset.name);
    let reason = if is_candidate(&target.current) {
        format!("{place} runs {tag} already, so it waits for no turn")
    } else if is_candidate(&target.in_progress) {
        format!("{tag} is on its way to {place}, which has had its turn")
    } else {
        match intent {
            Intent::Retry => format!("{place} has had its turn; this is another attempt"),
            Intent::Redeploy => "a person asked for it again on this target, which waits for no turn".to_owned(),
            Intent::Automatic | Intent::Rollback => return None,
        }
    };
    Some(Decision::allow(reason).satisfied_at(candidate.created_at.min(candidate.received_at)))
}

/// May a target that has not started do so now?
///
/// # Errors
/// The place makes no sense.
pub fn decide(config: &Config, now: Timestamp, position: &RolloutPosition) -> Result<Decision, String> {
    let RolloutPosition { index, total, .. } = *position;
    if index >= total {
        return Err(format!("the host gave place {index} (from 0) in a rollout of {total} targets"));
    }
    let place = u64::from(index) + 1;
    let turn_at = after(position.started_at, config.turn_seconds(index, total));
    let spaced_at = spaced_at(config, position);
    let opens_at = spaced_at.map_or(turn_at, |spaced_at| spaced_at.max(turn_at));
    let turn = format!("target {place} of {total} in this rollout, whose turn");
    let since = if opens_at == turn_at {
        let seconds = config.turn_seconds(index, total);
        format!("{} after it began", duration_text(seconds))
    } else {
        format!("starts stay {} apart", duration_text(config.time_scale_interval.into()))
    };
    let opens = format!("{} ({since})", instant_text(opens_at));

    let decision = if position.failed > 0 {
        Decision::deny(format!(
            "the rollout has stopped: {} failed; it goes on when a redeploy there succeeds, or with a newer version",
            targets(position.failed)
        ))
    } else if config.wait_for_verification && position.unverified > 0 {
        let unverified = format!("{} to be verified first", targets(position.unverified));
        if now < opens_at {
            Decision::wait_until(opens_at, format!("{turn} comes {opens}, has {unverified}"))
        } else {
            Decision::wait(format!("{turn} came {opens}, has {unverified}"))
        }
    } else if now < opens_at {
        Decision::wait_until(opens_at, format!("{turn} comes {opens}"))
    } else {
        Decision::allow(format!("{turn} came {opens}")).satisfied_at(opens_at)
    };
    Ok(decision
        .detail("place", place)
        .detail("total", total)
        .detail("startedAt", instant_text(position.started_at))
        .detail("turnAt", instant_text(opens_at))
        .detail("failed", position.failed)
        .detail("unverified", position.unverified))
}

/// Two starts are never closer than the interval, also after a closed window or a pause. A normalized rollout has
/// its length for a goal, and no such distance.
fn spaced_at(config: &Config, position: &RolloutPosition) -> Option<Timestamp> {
    match config.rollout_type {
        RolloutType::Linear => {
            let starts = u64::from(position.pending_index) + 1;
            let seconds = starts * u64::from(config.time_scale_interval);
            position.last_start_at.map(|last| after(last, seconds))
        }
        RolloutType::LinearNormalized => None,
    }
}

fn after(at: Timestamp, seconds: u64) -> Timestamp {
    let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    at.saturating_add(millis)
}

fn targets(count: u32) -> String {
    if count == 1 { "1 target".to_owned() } else { format!("{count} targets") }
}

#[cfg(test)]
mod tests;
