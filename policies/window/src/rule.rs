//! May releases start now? Pure: everything is an argument.

use tidegate_policy::{Timestamp, Version, gate::Decision, instant_text};

use crate::{
    Config, reason,
    stretch::Change,
    window::{Standing, Window},
    zone::Zone,
};

/// No instant outside these years is in question, and none overflows on the way to milliseconds.
const SECONDS_MAX: i64 = 253_402_207_200;

/// May the version go?
///
/// # Errors
/// The configuration is wrong (it was checked when it was saved), or the instant is out of reach.
pub fn decide(
    config: &Config,
    now: Timestamp,
    rule_created_at: Timestamp,
    version: &Version,
) -> Result<Decision, String> {
    // A start lies on a whole second, so the second that has begun tells on which side of it `now` is.
    let (now, created) = (now.div_euclid(1000), rule_created_at.div_euclid(1000));
    for (name, at) in [("now", now), ("the rule's creation", created)] {
        if at.abs() > SECONDS_MAX {
            return Err(format!("{name} is {at} seconds from 1970, which no calendar reaches"));
        }
    }
    let window = Window::new(config, created).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(|error| format!("{} {}", error.path, error.message)).collect();
        format!("the window cannot be read: {}", errors.join("; "))
    })?;
    // A creator's clock that runs ahead does not count.
    let made_at = version.created_at.min(version.received_at);
    Ok(decision(&window, now, made_at))
}

fn decision(window: &Window, now: i64, made_at: Timestamp) -> Decision {
    let zone = window.zone();
    let standing = window.standing(now);
    let since = |at: Option<i64>| at.map_or(made_at, |at| made_at.max(millis(at)));
    let reason = reason::sentence(window.allow, zone, standing);
    let decision = match (window.allow, standing) {
        (true, Standing::Inside { since: opened, until }) => {
            let allow = Decision::allow(reason).satisfied_at(since(opened));
            match until {
                Change::At(at) | Change::NotBefore(at) => allow.valid_until(millis(at)),
                Change::Never => allow,
            }
        }
        (false, Standing::Outside { ended, next }) => {
            let allow = Decision::allow(reason).satisfied_at(since(ended));
            match next {
                Some((at, _)) => allow.valid_until(millis(at)),
                None => allow,
            }
        }
        (true, Standing::Outside { next: Some((at, _)), .. }) => Decision::wait_until(millis(at), reason),
        (false, Standing::Inside { until: Change::At(at) | Change::NotBefore(at), .. }) => {
            Decision::wait_until(millis(at), reason)
        }
        (true, Standing::Outside { next: None, .. }) | (false, Standing::Inside { until: Change::Never, .. }) => {
            Decision::deny(reason)
        }
    };
    with_details(decision, zone, standing)
}

fn with_details(decision: Decision, zone: &Zone, standing: Standing) -> Decision {
    let (opens, closes, next) = match standing {
        Standing::Inside { since, until } => (since, Some(until), known(until)),
        Standing::Outside { next: Some((at, until)), .. } => (Some(at), Some(until), Some(at)),
        Standing::Outside { next: None, .. } => (None, None, None),
    };
    let mut decision = decision.detail("timezone", zone.name());
    let times = [("opensAt", opens), ("closesAt", closes.and_then(known)), ("nextChange", next)];
    for (name, at) in times {
        if let Some(at) = at {
            decision = decision.detail(name, instant_text(millis(at)));
        }
    }
    match next {
        Some(at) => decision.detail("nextChangeLocal", zone.text(at)),
        None => decision,
    }
}

const fn known(change: Change) -> Option<i64> {
    match change {
        Change::At(at) | Change::NotBefore(at) => Some(at),
        Change::Never => None,
    }
}

const fn millis(seconds: i64) -> Timestamp {
    seconds.saturating_mul(1000)
}

#[cfg(test)]
mod tests;
