//! Which ready releases start, which wait, which jobs are called off. Pure: everything is an argument.
//!
//! A job that is called off before anybody works on it makes room at once; one that runs makes room when it has ended.

use std::collections::BTreeSet;

use tidegate_policy::{
    Job, JobStatus, Timestamp, Version,
    sequence::{Ready, Running, Step},
};

use crate::{
    Config,
    config::{Mode, Order, WhenSuperseded},
};

/// One start or hold for every ready release, in the order of their turn, after the cancellations.
#[must_use]
pub fn plan(config: &Config, targets: u32, ready: &[Ready], running: &[Running]) -> Vec<Step> {
    let limit = config.limit(targets);
    let active: Vec<&Running> = running.iter().filter(|running| is_active(running.job.status)).collect();
    let cancelled = superseded(config, ready, &active);
    let mut steps: Vec<Step> = Vec::with_capacity(ready.len() + cancelled.len());
    for (job, newer) in &cancelled {
        steps.push(Step::Cancel((job.id.clone(), format!("superseded by {}", newer.tag))));
    }
    let gone: BTreeSet<&str> =
        cancelled.iter().filter(|(job, _)| is_queued(job.status)).map(|(job, _)| job.id.as_str()).collect();
    let held: Vec<&Running> = active.into_iter().filter(|running| !gone.contains(running.job.id.as_str())).collect();

    let mut taken = u32::try_from(held.len()).unwrap_or(u32::MAX);
    let mut busy: Vec<(&str, &str)> =
        held.iter().map(|running| (running.target.id.as_str(), running.version.tag.as_str())).collect();
    for release in in_turn(config.order, ready) {
        let here = busy.iter().find(|(target, _)| *target == release.target.id);
        let why = match (here, limit) {
            (Some((_, tag)), _) if config.mode == Mode::Sequential => {
                Some(format!("waits for {tag} on this target to end"))
            }
            (_, Some(limit)) if taken >= limit => Some(full(taken, limit)),
            _ => None,
        };
        steps.push(match why {
            Some(why) => Step::Hold((release.id.clone(), why)),
            None => {
                taken = taken.saturating_add(1);
                busy.push((&release.target.id, &release.version.tag));
                Step::Start(release.id.clone())
            }
        });
    }
    steps
}

fn full(taken: u32, limit: u32) -> String {
    let jobs = if taken == 1 { "1 job runs".to_owned() } else { format!("{taken} jobs run") };
    format!("waits for its turn: {jobs}, and the limit is {limit} (maxConcurrent)")
}

/// Jobs that a newer ready version on the same target calls off, each with that version.
fn superseded<'a>(config: &Config, ready: &'a [Ready], active: &[&'a Running]) -> Vec<(&'a Job, &'a Version)> {
    if config.mode == Mode::Parallel || config.order == Order::Queue {
        return Vec::new();
    }
    let goes = |status| match config.when_superseded {
        WhenSuperseded::CancelQueued => is_queued(status),
        WhenSuperseded::CancelRunning => true,
        WhenSuperseded::Keep => false,
    };
    let newest_on = |target: &str| {
        let here = ready.iter().filter(|release| release.target.id == target).map(|release| &release.version);
        here.max_by_key(|version| age_key(version))
    };
    active
        .iter()
        .filter(|running| goes(running.job.status))
        .filter_map(|running| Some((&running.job, &running.version, newest_on(&running.target.id)?)))
        .filter(|(_, version, newest)| age_key(newest) > age_key(version))
        .map(|(job, _, newest)| (job, newest))
        .collect()
}

/// The order of turns: by version, then by how long it waits; ids settle ties, so that it is total.
fn in_turn(order: Order, ready: &[Ready]) -> Vec<&Ready> {
    let mut turns: Vec<&Ready> = ready.iter().collect();
    turns.sort_by(|a, b| {
        let version = age_key(&a.version).cmp(&age_key(&b.version));
        let version = match order {
            Order::Newest => version.reverse(),
            Order::Queue => version,
        };
        version.then(a.ready_at.cmp(&b.ready_at)).then_with(|| a.id.cmp(&b.id))
    });
    turns
}

/// Orders versions from old to new, as the host does.
fn age_key(version: &Version) -> (Timestamp, &str) {
    (version.created_at.min(version.received_at), &version.id)
}

/// Nobody works on it yet.
const fn is_queued(status: JobStatus) -> bool {
    matches!(status, JobStatus::Pending | JobStatus::Queued)
}

const fn is_active(status: JobStatus) -> bool {
    match status {
        JobStatus::Pending
        | JobStatus::Queued
        | JobStatus::Triggered
        | JobStatus::InProgress
        | JobStatus::ActionRequired => true,
        JobStatus::Completed
        | JobStatus::Failed
        | JobStatus::Cancelled
        | JobStatus::Skipped
        | JobStatus::InvalidJobAgent
        | JobStatus::InvalidIntegration
        | JobStatus::ExternalRunNotFound => false,
    }
}

#[cfg(test)]
mod tests;
