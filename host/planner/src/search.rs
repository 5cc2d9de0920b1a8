//! The search for a target's version: what a person wants started again; else the newest that every rule lets go, down
//! to what the target runs; else, where a rollback holds it, what it is held on.

use std::sync::Arc;

use model::{hold::HeldBy, id::ReleaseId, question::Intent, version::VersionStatus};

use crate::{
    gates::OpenGate,
    holds,
    pass::Pass,
    requests,
    rules::Governor,
    target::{Search, Target, attempts},
};

/// Where each target's search begins.
pub fn begin(pass: &mut Pass) {
    for index in 0..pass.targets.len() {
        let target = &pass.targets[index];
        let search = match target.redeploy {
            _ if !target.attached => Search::Settled(None),
            Some(version) => Search::Redeploy(version),
            None => after_redeploy(pass, target),
        };
        pass.targets[index].search = search;
    }
}

fn after_redeploy(pass: &Pass, target: &Target) -> Search {
    let held = target.hold.as_ref().filter(|hold| !holds::lets_newer_go(hold));
    match held.and_then(|hold| pass.version_index(hold.version)) {
        Some(version) => Search::Held(version),
        None => Search::At(0, None),
    }
}

/// Moves every target's search on as far as the answers go; gives what is to be asked.
pub fn go_on(pass: &mut Pass) -> Vec<OpenGate> {
    let mut open = Vec::new();
    for index in 0..pass.targets.len() {
        while let Some(search) = step(pass, index, &mut open) {
            pass.targets[index].search = search;
        }
    }
    open
}

/// The next state of a target's search; nothing when it is over or an answer is missing.
fn step(pass: &mut Pass, index: usize, open: &mut Vec<OpenGate>) -> Option<Search> {
    let target = &pass.targets[index];
    match target.search {
        Search::Settled(_) => None,
        Search::Redeploy(version) => {
            if pass.snapshot.versions[version].status != VersionStatus::Ready {
                return Some(after_redeploy(pass, target));
            }
            pass.targets[index].intent = Intent::Redeploy;
            let goes = goes(pass, index, version, open)?;
            if !goes {
                pass.targets[index].intent = Intent::Automatic;
            }
            Some(if goes { Search::Settled(Some(version)) } else { after_redeploy(pass, &pass.targets[index]) })
        }
        Search::Held(version) => {
            pass.targets[index].intent = Intent::Rollback;
            if let Some(newest) = newest_ready(pass, version) {
                // So that people see what is held back.
                consider(pass, index, newest);
            }
            if pass.snapshot.versions[version].status == VersionStatus::Rejected {
                return Some(Search::Settled(None));
            }
            let goes = goes(pass, index, version, open)?;
            Some(Search::Settled(goes.then_some(version)))
        }
        Search::At(candidate, queued) => {
            if candidate >= floor(pass, target) {
                return Some(match (queued, &target.hold) {
                    (Some(queued), _) => Search::Settled(Some(queued)),
                    (None, Some(hold)) => pass.version_index(hold.version).map_or(Search::Settled(None), Search::Held),
                    (None, None) => Search::Settled(None),
                });
            }
            if !may_be_candidate(pass, target, candidate) {
                return Some(Search::At(candidate + 1, queued));
            }
            let goes = goes(pass, index, candidate, open)?;
            Some(match (goes, pass.targets[index].rules.is_queue()) {
                (true, false) => Search::Settled(Some(candidate)),
                // Older ones may go as well, and then come first.
                (true, true) => Search::At(candidate + 1, Some(candidate)),
                (false, _) => Search::At(candidate + 1, queued),
            })
        }
    }
}

/// The first version that is not looked at: what the target runs, or what an agent brings or is being verified, is the
/// floor, nothing older is. What once was to come here is not left for anything older either, only for something
/// newer; but in a queue one that is older comes first, and what ended here is behind it.
fn floor(pass: &Pass, target: &Target) -> usize {
    let count = pass.snapshot.versions.len();
    let mut floor = count;
    if let Some(current) = target.current {
        // A redeploy of what runs that failed is tried again.
        let again =
            !attempts(&pass.snapshot.jobs, &target.jobs, pass.snapshot.versions[current].id, &pass.verdicts).is_empty();
        floor = floor.min(current + usize::from(again));
    }
    if let Some(in_progress) = target.in_progress {
        floor = floor.min(in_progress);
    }
    let failed = target.hold.as_ref().and_then(|hold| match hold.by {
        HeldBy::Rule { failed } => pass.version_index(failed),
        HeldBy::Person { .. } => None,
    });
    if let Some(failed) = failed {
        floor = floor.min(failed);
    }
    if target.rules.is_queue() {
        let ended = target.jobs.iter().filter_map(|job| pass.version_index(pass.snapshot.jobs[*job].version));
        floor = ended.filter(|version| has_ended(pass, target, *version)).fold(floor, usize::min);
    } else if let Some(desired) = target.desired {
        floor = floor.min(desired + 1);
    }
    floor
}

/// Whether the version is over on the target: nothing of it is left to be done.
fn has_ended(pass: &Pass, target: &Target, version: usize) -> bool {
    let attempts = attempts(&pass.snapshot.jobs, &target.jobs, pass.snapshot.versions[version].id, &pass.verdicts);
    attempts.last().is_none_or(|last| last.status.is_final())
        && !matches!(target.retries.get(&version), Some(crate::retries::Retry::Granted { .. }))
}

/// A ready version whose release on the target nobody closed.
fn may_be_candidate(pass: &Pass, target: &Target, candidate: usize) -> bool {
    let version = &pass.snapshot.versions[candidate];
    let release = pass.releases.get(&(target.target.key, version.id));
    version.status == VersionStatus::Ready && release.is_none_or(|release| release.closed.is_none())
}

fn newest_ready(pass: &Pass, than: usize) -> Option<usize> {
    pass.snapshot.versions[..than].iter().position(|version| version.status == VersionStatus::Ready)
}

/// A candidate gets its release, so that people can see, approve and cancel what is pending.
fn consider(pass: &mut Pass, index: usize, candidate: usize) {
    if !pass.targets[index].consider(candidate) {
        return;
    }
    let key = (pass.targets[index].target.key, pass.snapshot.versions[candidate].id);
    if !pass.releases.contains_key(&key) {
        pass.new_releases.insert(key, ReleaseId(pass.ids.next(pass.now)));
    }
}

/// Whether every rule and freeze lets the candidate go; nothing while an answer is missing. Every rule is asked, also
/// after one said no, so that a person sees all that is missing.
fn goes(pass: &mut Pass, index: usize, candidate: usize, open: &mut Vec<OpenGate>) -> Option<bool> {
    consider(pass, index, candidate);
    let version = Arc::clone(&pass.snapshot.versions[candidate]);
    let target = &pass.targets[index];
    let frozen = !pass.freezes.blocks(version.id, target, &pass.snapshot.skips, pass.now).is_empty();
    if skips_gates(target, candidate, pass) {
        return Some(!frozen);
    }
    let intent = intent(pass, target, candidate);
    let rules = Arc::clone(&target.rules);
    let others = || rules.gates().filter(|rule| !rule.is_rollout());
    let mut complete = true;
    for rule in others() {
        pass.gates.answer_at_once(&mut pass.ids, &pass.targets[index], rule, &version);
        if pass.gates.decision(rule, version.id, &pass.targets[index]).is_some() {
            continue;
        }
        complete = false;
        if let Governor::Plugin(plugin) = &rule.by {
            let scope = pass.gates.key(rule, version.id, &pass.targets[index]).2;
            if pass.gates.is_asked(rule, version.id, &pass.targets[index]) {
                continue;
            }
            let request = requests::gate(pass, index, plugin.manifest.facts, scope, candidate, intent, None);
            open.extend(pass.gates.open(&pass.targets[index], rule, &version, |_| request));
        }
    }
    if !complete {
        return None;
    }
    let others_go = !frozen && pass.gates.let_go(others(), version.id, &pass.targets[index]);
    let mut turn = true;
    for rule in rules.gates().filter(|rule| rule.is_rollout()) {
        pass.gates.answer_at_once(&mut pass.ids, &pass.targets[index], rule, &version);
        if pass.gates.decision(rule, version.id, &pass.targets[index]).is_some() {
            continue;
        }
        if others_go {
            turn = false;
        } else {
            pass.gates.wait_for_others(&mut pass.ids, &pass.targets[index], rule, &version);
        }
    }
    if !turn {
        let environment = pass.targets[index].target.key.environment;
        pass.rollouts.wait(environment, candidate, index);
        return None;
    }
    Some(!frozen && pass.gates.let_go(rules.gates(), version.id, &pass.targets[index]))
}

/// A rollback to one of the last verified versions must not wait for anybody.
pub fn skips_gates(target: &Target, candidate: usize, pass: &Pass) -> bool {
    let window = target.rules.rollback().unwrap_or_default().window;
    target.intent == Intent::Rollback
        && target.hold.as_ref().is_some_and(|hold| {
            pass.version_index(hold.version) == Some(candidate) && (1..=window).contains(&hold.steps_back)
        })
}

/// Why a version would go to a target.
pub fn intent(pass: &Pass, target: &Target, version: usize) -> Intent {
    match target.search {
        Search::Redeploy(wanted) if wanted == version => Intent::Redeploy,
        Search::Held(held) if held == version => Intent::Rollback,
        Search::Redeploy(_) | Search::Held(_) | Search::At(..) | Search::Settled(_) => {
            let id = pass.snapshot.versions[version].id;
            let attempts = attempts(&pass.snapshot.jobs, &target.jobs, id, &pass.verdicts);
            match attempts.iter().any(|attempt| attempt.status.is_final()) {
                true => Intent::Retry,
                false => Intent::Automatic,
            }
        }
    }
}
