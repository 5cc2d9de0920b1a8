//! Targets: what is attached, what is not, and in which order things are done to them.

use std::collections::{HashMap, HashSet};

use model::{plan::Step, release_target::TargetKey};

use super::{
    Broken,
    look::{Look, ended, in_hand},
};

pub fn check(look: &Look<'_>, broken: &mut Broken) {
    attachments(look, broken);
    order(look, broken);
    for (key, state) in look.after.iter().filter(|(_, state)| !state.attached) {
        let jobs = look.deploys.get(key).into_iter().flatten();
        for job in jobs.filter(|job| ended(job).is_none() && !in_hand(job)) {
            broken.unless(look.called_off.contains(&job.id), || {
                format!(
                    "{}: it is detached, and job {} that nobody has taken is left in the queue",
                    look.name(state.key),
                    job.id
                )
            });
        }
    }
}

fn attachments(look: &Look<'_>, broken: &mut Broken) {
    let mut moved = HashSet::new();
    let environments: HashSet<_> = look.snapshot.environments.iter().map(|environment| environment.id).collect();
    let resources: HashSet<_> = look.snapshot.resources.iter().map(|resource| resource.id).collect();
    for step in &look.plan.steps {
        let was_attached = |key| look.before.get(key).is_some_and(|state| state.attached);
        match step {
            Step::AttachTarget(key) => {
                broken.unless(moved.insert(*key), || format!("{}: attached or detached twice", look.name(*key)));
                broken.unless(!was_attached(key), || format!("{}: attached, but it was before", look.name(*key)));
                let exists = key.deployment == look.snapshot.deployment.id
                    && environments.contains(&key.environment)
                    && resources.contains(&key.resource);
                broken.unless(exists, || format!("{key}: attached, but a part of it was not read"));
            }
            Step::DetachTarget(key) => {
                broken.unless(moved.insert(*key), || format!("{}: attached or detached twice", look.name(*key)));
                broken.unless(was_attached(key), || format!("{}: detached, but it was not attached", look.name(*key)));
            }
            // What a running job came to is kept on a detached target too.
            Step::SetCurrent(key, _) => {
                broken.unless(look.after.contains_key(key) && known(look, *key), || {
                    format!("{key}: a target that does not exist gets a current release")
                });
            }
            Step::CreateRelease(release) => only_attached(look, release.target, "gets a release", broken),
            Step::SetDesired(key, _) => only_attached(look, *key, "gets a desired release", broken),
            Step::CreateJob(job) => only_attached(look, job.target, "gets a job", broken),
            Step::Hold(hold) => only_attached(look, hold.target, "is held", broken),
            Step::CloseRelease(..)
            | Step::RecordDecision(_)
            | Step::CancelJob(..)
            | Step::WithdrawJob(..)
            | Step::SettleVerification(..)
            | Step::Measure(_)
            | Step::PlaceInRollout(..)
            | Step::EndHold(_)
            | Step::FinishRedeploy(_) => {}
        }
    }
}

fn known(look: &Look<'_>, key: TargetKey) -> bool {
    look.before.contains_key(&key) || look.plan.steps.contains(&Step::AttachTarget(key))
}

fn only_attached(look: &Look<'_>, key: TargetKey, what: &str, broken: &mut Broken) {
    broken.unless(look.attached(key), || format!("{}: it is not attached and {what}", look.name(key)));
}

/// Targets come first, then verification, releases and states (of one target after the other), decisions, calling off, new jobs.
/// Within a target a release is made before anything names it.
fn order(look: &Look<'_>, broken: &mut Broken) {
    let mut last = (0, "the beginning");
    let mut within: HashMap<TargetKey, u8> = HashMap::new();
    for step in &look.plan.steps {
        let (phase, name) = match step {
            Step::AttachTarget(_) | Step::DetachTarget(_) => (1, "targets"),
            Step::SettleVerification(..) | Step::Measure(_) => (2, "verification"),
            Step::CreateRelease(_)
            | Step::CloseRelease(..)
            | Step::SetDesired(..)
            | Step::SetCurrent(..)
            | Step::PlaceInRollout(..)
            | Step::Hold(_)
            | Step::EndHold(_)
            | Step::FinishRedeploy(_) => (3, "releases"),
            Step::RecordDecision(_) => (4, "decisions"),
            Step::CancelJob(..) | Step::WithdrawJob(..) => (5, "calling off"),
            Step::CreateJob(_) => (6, "new jobs"),
        };
        broken.unless(last.0 <= phase, || format!("a step of {name} comes after one of {}", last.1));
        last = (phase, name);
        let (key, part) = match step {
            Step::CreateRelease(release) => (release.target, 1),
            Step::PlaceInRollout(id, _) => match look.releases.get(id) {
                Some(release) => (release.target, 2),
                None => continue,
            },
            Step::SetCurrent(key, _) => (*key, 3),
            Step::Hold(hold) => (hold.target, 4),
            Step::EndHold(key) | Step::FinishRedeploy(key) => (*key, 4),
            Step::SetDesired(key, _) => (*key, 5),
            Step::CloseRelease(id, _) => match look.releases.get(id) {
                Some(release) => (release.target, 6),
                None => continue,
            },
            Step::AttachTarget(_)
            | Step::DetachTarget(_)
            | Step::RecordDecision(_)
            | Step::CreateJob(_)
            | Step::CancelJob(..)
            | Step::WithdrawJob(..)
            | Step::SettleVerification(..)
            | Step::Measure(_) => continue,
        };
        let before = within.insert(key, part).unwrap_or(0);
        broken.unless(before <= part, || {
            format!("{}: its releases are not made, set and closed in this order", look.name(key))
        });
    }
}
