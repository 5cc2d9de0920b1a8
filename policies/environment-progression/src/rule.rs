//! How the version stands in the environments before, and whether one is enough. Pure: everything is an argument.

use condition::{Cel, variables};
use serde_json::json;
use tidegate_policy::{
    Environment, Timestamp, Version,
    gate::{Decision, EnvironmentProgress},
};

use crate::{Config, config::Status, percentage::share_text, reason};

/// The version in one environment.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// Where, and how many targets.
    pub progress: &'a EnvironmentProgress,
    /// On how many of them it is a success.
    pub succeeded: u64,
    /// What that means.
    pub standing: Standing,
}

/// What is missing in one environment, the first thing if several are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: since when, and up to which instant at most.
    Satisfied { at: Timestamp, until: Option<Timestamp> },
    /// Too few successes, or none at all where soak or age count from one.
    TooFew,
    /// The most recent success is too recent, until then.
    Soaks(Timestamp),
    /// The most recent success is too old, since then.
    TooOld(Timestamp),
}

/// May the version go on? An environment is never its own forerunner.
///
/// Where the selector has no answer for an environment (a metadata key that only some have), it does not match.
///
/// # Errors
/// The selector has no answer for any environment.
pub fn decide(
    config: &Config,
    cel: &Cel,
    now: Timestamp,
    candidate: &Version,
    own: Option<&Environment>,
    progress: &[EnvironmentProgress],
) -> Result<Decision, String> {
    let others = progress.iter().filter(|progress| own.is_none_or(|own| own.id != progress.environment.id));
    let mut stages = Vec::new();
    let mut no_answer: Option<String> = None;
    let mut answers = 0_u32;
    for progress in others {
        let variables = json!({"environment": variables::environment(&progress.environment)});
        match cel.holds(&config.depends_on_environment_selector, &variables) {
            Ok(matches) => {
                answers += 1;
                if matches {
                    stages.push(stage(config, now, candidate, progress));
                }
            }
            Err(error) => {
                no_answer.get_or_insert(error);
            }
        }
    }
    // In the order that people know them by, whatever the order of the facts.
    stages.sort_by_key(|stage| (&stage.progress.environment.name, &stage.progress.environment.id));
    match no_answer {
        Some(error) if answers == 0 => Err(error),
        Some(_) | None => Ok(answer(config, candidate, &stages)),
    }
}

/// One that satisfies all is enough.
fn answer(config: &Config, candidate: &Version, stages: &[Stage<'_>]) -> Decision {
    if stages.is_empty() {
        return Decision::deny(reason::no_environment(config)).detail("environments", 0);
    }
    let satisfied = stages.iter().filter_map(|stage| match stage.standing {
        Standing::Satisfied { at, until } => Some((at, until, stage)),
        Standing::TooFew | Standing::Soaks(_) | Standing::TooOld(_) => None,
    });
    let soaks = stages.iter().filter_map(|stage| match stage.standing {
        Standing::Soaks(until) => Some(until),
        Standing::Satisfied { .. } | Standing::TooFew | Standing::TooOld(_) => None,
    });
    let decision = if let Some((at, _, first)) = satisfied.clone().min_by_key(|(at, _, _)| *at) {
        let decision = Decision::allow(reason::satisfied(config, candidate, first)).satisfied_at(at);
        // Time ends it when it ends the last of them; `None` is never.
        match satisfied.map(|(_, until, _)| until).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))) {
            // It is still good at that instant, and not after.
            Some(Some(until)) => decision.valid_until(until.saturating_add(1)),
            Some(None) | None => decision,
        }
    } else if let Some(soaked_at) = soaks.min() {
        Decision::wait_until(soaked_at, reason::missing(config, candidate, stages))
    } else if stages.iter().all(|stage| matches!(stage.standing, Standing::TooOld(_))) {
        Decision::deny(reason::missing(config, candidate, stages))
    } else {
        Decision::wait(reason::missing(config, candidate, stages))
    };
    let figures = stages.iter().take(reason::NAMED_MAX).fold(decision, |decision, stage| {
        let (name, targets) = (&stage.progress.environment.name, stage.progress.targets);
        let share = share_text(stage.succeeded, targets);
        decision.detail(&format!("succeeded in {name}"), format!("{} of {targets} ({share})", stage.succeeded))
    });
    figures.detail("environments", stages.len()).detail("needed", config.minimum_success_percentage)
}

fn stage<'a>(config: &Config, now: Timestamp, candidate: &Version, progress: &'a EnvironmentProgress) -> Stage<'a> {
    let counts = progress.statuses.iter().filter(|count| config.success_statuses.contains(&Status::from(count.status)));
    let succeeded = counts
        .map(|count| if config.require_verification_passed { count.of_them_verified } else { count.targets })
        .map(u64::from)
        .sum();
    let made_at = candidate.created_at.min(candidate.received_at);
    let standing = if progress.targets == 0 {
        Standing::Satisfied { at: made_at, until: None }
    } else if config.minimum_success_percentage.reached(succeeded, progress.targets) {
        timing(config, now, made_at, progress.last_success_at)
    } else {
        Standing::TooFew
    };
    Stage { progress, succeeded, standing }
}

/// Soak and age count from the most recent success: soaked at `success + soak`, still good at `success + age`.
fn timing(config: &Config, now: Timestamp, made_at: Timestamp, last_success_at: Option<Timestamp>) -> Standing {
    let Some(success_at) = last_success_at else {
        let untimed = config.soak_millis() == 0 && config.age_millis().is_none();
        return if untimed { Standing::Satisfied { at: made_at, until: None } } else { Standing::TooFew };
    };
    let soaked_at = success_at.saturating_add(config.soak_millis());
    let good_until = config.age_millis().map(|age| success_at.saturating_add(age));
    match good_until {
        Some(until) if now > until => Standing::TooOld(until),
        Some(_) | None if now < soaked_at => Standing::Soaks(soaked_at),
        until => Standing::Satisfied { at: soaked_at.max(made_at), until },
    }
}

#[cfg(test)]
mod tests;
