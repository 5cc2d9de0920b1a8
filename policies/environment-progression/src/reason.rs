//! What is missing in the environments before, as one sentence with its figures.

use condition::shortened;
use tidegate_policy::{Version, instant_text};

use crate::{
    Config,
    percentage::share_text,
    rule::{Stage, Standing},
};

/// So many environments are named.
pub const NAMED_MAX: usize = 5;

/// Nothing to go by.
#[must_use]
pub fn no_environment(config: &Config) -> String {
    format!(
        "no other environment that shares a system matches `{}`; one must be added, or the rule changed",
        shortened(&config.depends_on_environment_selector)
    )
}

/// Why one environment is enough.
#[must_use]
pub fn satisfied(config: &Config, candidate: &Version, stage: &Stage<'_>) -> String {
    let name = &stage.progress.environment.name;
    if stage.progress.targets == 0 {
        return format!("{name} has no targets, so nothing there can hold {} back", candidate.tag);
    }
    let mut sentence = format!("{} in {name} {}", candidate.tag, figures(config, stage));
    if let Some(success_at) = stage.progress.last_success_at {
        sentence.push_str(&format!(", last at {}", instant_text(success_at)));
        if config.minimum_soak_time_minutes > 0 {
            sentence.push_str(&format!(", and has soaked for {} min", config.minimum_soak_time_minutes));
        }
    }
    sentence
}

/// What is missing where; one of them is enough.
#[must_use]
pub fn missing(config: &Config, candidate: &Version, stages: &[Stage<'_>]) -> String {
    let mut parts: Vec<String> = stages.iter().take(NAMED_MAX).map(|stage| lacks(config, stage)).collect();
    let more = stages.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        parts.push(format!("{more} more are not ready either"));
    }
    format!("{} {}", candidate.tag, parts.join("; or "))
}

fn lacks(config: &Config, stage: &Stage<'_>) -> String {
    let name = &stage.progress.environment.name;
    let figures = figures(config, stage);
    match stage.standing {
        Standing::Soaks(until) => {
            let soak = config.minimum_soak_time_minutes;
            format!("soaks in {name} until {} ({soak} min after its last success there)", instant_text(until))
        }
        Standing::TooOld(until) => {
            let hours = config.maximum_age_hours.unwrap_or_default();
            let until = instant_text(until);
            format!("must succeed in {name} again: its last success was good for {hours} h, until {until}")
        }
        Standing::TooFew | Standing::Satisfied { .. } if stage.progress.last_success_at.is_none() => {
            format!("must succeed in {name} first: it {figures}")
        }
        Standing::TooFew | Standing::Satisfied { .. } => {
            let (targets, needed) = (stage.progress.targets, config.minimum_success_percentage);
            format!("must succeed on {} of {targets} targets in {name} ({needed}): it {figures}", needed.of(targets))
        }
    }
}

/// `succeeded on 1 of 3 targets (33.3 %)`
fn figures(config: &Config, stage: &Stage<'_>) -> String {
    let verb = if config.require_verification_passed { "succeeded and was verified" } else { "succeeded" };
    let targets = stage.progress.targets;
    let noun = if targets == 1 { "target" } else { "targets" };
    format!("{verb} on {} of {targets} {noun} ({})", stage.succeeded, share_text(stage.succeeded, targets))
}
