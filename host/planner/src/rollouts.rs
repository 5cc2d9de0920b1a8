//! Rollouts: in which order the targets of an environment get a version, where a rule wants to know.
//!
//! Places are given once, in an order that is the same on every machine, and kept; a target that comes later gets a
//! later place. Targets are asked in that order, one after the other while they are let go, since each start counts
//! for those that come after.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use model::{
    id::EnvironmentId,
    policy::RuleMode,
    question::{Answer, RolloutPosition},
    release::RolloutPlace,
    release_target::TargetKey,
    time::Timestamp,
    version::Version,
};
use sha2::{Digest as _, Sha256};

use crate::{gates::OpenGate, pass::Pass, requests, retries::has_failed, rules::Governor, target::Target};

/// One version in one environment.
type Key = (EnvironmentId, usize);

/// What the rules said of one target's turn.
type Turn = (Key, usize, Vec<(OpenGate, Answer)>);

/// The rollouts of a pass.
#[derive(Default)]
pub struct Rollouts {
    rollouts: HashMap<Key, Rollout>,
    /// Targets of which every other rule lets the version go.
    waiting: BTreeMap<Key, BTreeSet<usize>>,
    /// Places and starts that this pass gives, by target and version.
    pub placed: BTreeMap<(usize, usize), RolloutPlace>,
}

/// One rollout.
struct Rollout {
    places: HashMap<usize, RolloutPlace>,
    /// With a job, or let go in this pass.
    started: HashSet<usize>,
    last_start_at: Option<Timestamp>,
    failed: u32,
    unverified: u32,
    /// A target was made to wait in this pass, and so those after it will be.
    waits: bool,
}

/// The questions about one target's turn.
pub struct OpenTurn {
    key: Key,
    target: usize,
    gate: OpenGate,
}

impl OpenTurn {
    pub fn question(&self) -> model::question::Question {
        self.gate.question.clone()
    }
}

impl Rollouts {
    /// Every other rule lets the version go to the target: what is left is its turn.
    pub fn wait(&mut self, environment: EnvironmentId, version: usize, target: usize) {
        self.waiting.entry((environment, version)).or_default().insert(target);
    }
}

/// Asks for the next turn of every rollout; once one has to wait, for those of all that come after it.
pub fn open(pass: &mut Pass) -> Vec<OpenTurn> {
    let waiting = std::mem::take(&mut pass.rollouts.waiting);
    let mut open = Vec::new();
    for (key, targets) in waiting {
        if !pass.rollouts.rollouts.contains_key(&key) {
            let rollout = begin(pass, key);
            pass.rollouts.rollouts.insert(key, rollout);
        }
        let mut targets: Vec<usize> = targets.into_iter().collect();
        targets.sort_by_key(|target| place(pass, key, *target).index);
        let count = if pass.rollouts.rollouts[&key].waits { targets.len() } else { 1 };
        for target in targets.into_iter().take(count) {
            open.extend(questions(pass, key, target));
        }
    }
    open
}

fn questions(pass: &mut Pass, key: Key, target: usize) -> Vec<OpenTurn> {
    let place = place(pass, key, target);
    let version = std::sync::Arc::clone(&pass.snapshot.versions[key.1]);
    let started_at = place.started_at.unwrap_or_else(|| pass.gates.satisfied_at(&pass.targets[target], &version));
    let place = RolloutPlace { started_at: Some(started_at), ..place };
    let rollout = &pass.rollouts.rollouts[&key];
    let before = |(other, at): (&usize, &RolloutPlace)| at.index < place.index && !rollout.started.contains(other);
    let pending_index = rollout.places.iter().filter(|(other, at)| before((*other, *at))).count();
    let position = RolloutPosition {
        index: place.index,
        total: place.total,
        pending_index: u32::try_from(pending_index).unwrap_or(u32::MAX),
        started_at,
        last_start_at: rollout.last_start_at,
        failed: rollout.failed,
        unverified: rollout.unverified,
    };
    keep(pass, key, target, place);
    let intent = pass.intent(target, key.1);
    let rules = std::sync::Arc::clone(&pass.targets[target].rules);
    let mut open = Vec::new();
    for rule in rules.gates().filter(|rule| rule.is_rollout()) {
        let Governor::Plugin(plugin) = &rule.by else { continue };
        let scope = pass.gates.key(rule, version.id, &pass.targets[target]).2;
        let request = requests::gate(pass, target, plugin.manifest.facts, scope, key.1, intent, Some(position));
        let gate = pass.gates.open(&pass.targets[target], rule, &version, |_| request);
        open.extend(gate.map(|gate| OpenTurn { key, target, gate }));
    }
    open
}

/// Takes the answers in. Of several that were asked at once the first that is let go counts, and those after it are
/// asked again: it has started.
pub fn settle(pass: &mut Pass, open: Vec<OpenTurn>, answers: Vec<Answer>) {
    let mut of_target: Vec<Turn> = Vec::new();
    for (turn, answer) in open.into_iter().zip(answers) {
        match of_target.last_mut() {
            Some((key, target, gates)) if (*key, *target) == (turn.key, turn.target) => gates.push((turn.gate, answer)),
            _ => of_target.push((turn.key, turn.target, vec![(turn.gate, answer)])),
        }
    }
    let mut moved: HashSet<Key> = HashSet::new();
    for (key, target, gates) in of_target {
        let allows = |answer: &Answer| match answer {
            Answer::Gate(answer) => answer.verdict == model::decision::Verdict::Allow,
            Answer::Fault(_) | Answer::Retry(_) | Answer::Sequence(_) | Answer::Verify(_) => false,
        };
        if moved.contains(&key) && gates.iter().any(|(_, answer)| allows(answer)) {
            gates.iter().for_each(|(gate, _)| pass.gates.ask_anew(&gate.key));
            continue;
        }
        for (gate, answer) in gates {
            pass.gates.record(&mut pass.ids, gate.key, &gate.rule, answer);
        }
        let version = pass.snapshot.versions[key.1].id;
        let of = &pass.targets[target];
        let goes = pass.gates.let_go(of.rules.gates().filter(|rule| rule.is_rollout()), version, of);
        let Some(rollout) = pass.rollouts.rollouts.get_mut(&key) else { continue };
        rollout.waits |= !goes;
        if goes && rollout.started.insert(target) {
            rollout.last_start_at = Some(pass.now);
            rollout.unverified += 1;
            moved.insert(key);
        }
    }
}

/// Whether a rollout rule of the target is neither skipped nor answered without a question.
fn takes_turns(pass: &Pass, target: &Target, version: &Version) -> bool {
    let turns = target.rules.gates().filter(|rule| rule.is_rollout() && rule.rule.mode == RuleMode::Enforce);
    let mut open =
        turns.filter(|rule| pass.gates.decision(rule, version.id, target).is_none_or(|said| said.digest.is_some()));
    open.next().is_some()
}

/// Gives places to those that have none: first in an order of their own, later ones behind.
fn begin(pass: &mut Pass, key: Key) -> Rollout {
    let (environment, candidate) = key;
    let version = std::sync::Arc::clone(&pass.snapshot.versions[candidate]);
    let mut places = HashMap::new();
    let mut unplaced = Vec::new();
    for (index, target) in pass.targets.iter().enumerate() {
        let here = target.attached && target.target.key.environment == environment;
        if !here || !target.considered.contains(&candidate) && pass.release_id(target.target.key, candidate).is_none() {
            continue;
        }
        let runs = target.current == Some(candidate) || target.in_progress == Some(candidate);
        match pass.rollout_place(target.target.key, candidate) {
            Some(place) => {
                places.insert(index, place);
            }
            None if !runs && takes_turns(pass, target, &version) => unplaced.push(index),
            None => {}
        }
    }
    unplaced.sort_by_cached_key(|index| order(pass.targets[*index].target.key, &version));
    let first = places.values().map(|place: &RolloutPlace| place.index + 1).max().unwrap_or(0);
    let total = first + u32::try_from(unplaced.len()).unwrap_or(u32::MAX);
    for (target, index) in unplaced.into_iter().zip(first..) {
        let place = RolloutPlace { index, total, started_at: None };
        places.insert(target, place);
        pass.rollouts.placed.insert((target, candidate), place);
    }
    let mut rollout =
        Rollout { places, started: HashSet::new(), last_start_at: None, failed: 0, unverified: 0, waits: false };
    for target in rollout.places.keys().copied() {
        let of = &pass.targets[target];
        let jobs = of.jobs.iter().map(|job| &pass.snapshot.jobs[*job]).filter(|job| job.version == version.id);
        let Some(last) = jobs.clone().next_back() else { continue };
        rollout.started.insert(target);
        rollout.last_start_at = rollout.last_start_at.max(jobs.map(|job| job.created_at).max());
        if has_failed(pass, of, candidate) {
            rollout.failed += 1;
        } else if !pass.verdicts.is_good(last) {
            rollout.unverified += 1;
        }
    }
    rollout
}

/// The place of a target that waits for its turn; one that has none yet comes last.
fn place(pass: &Pass, key: Key, target: usize) -> RolloutPlace {
    let places = &pass.rollouts.rollouts[&key].places;
    let last = || {
        let index = places.values().map(|place| place.index + 1).max().unwrap_or(0);
        RolloutPlace { index, total: index + 1, started_at: None }
    };
    places.get(&target).copied().unwrap_or_else(last)
}

/// Keeps the place for later passes, where that is new.
fn keep(pass: &mut Pass, key: Key, target: usize, place: RolloutPlace) {
    if pass.rollout_place(pass.targets[target].target.key, key.1) != Some(place) {
        pass.rollouts.placed.insert((target, key.1), place);
    }
    if let Some(rollout) = pass.rollouts.rollouts.get_mut(&key) {
        rollout.places.insert(target, place);
    }
}

/// An order of targets that is the same on every machine and differs between versions, so that the same target is not
/// always the first to try.
fn order(target: TargetKey, version: &Version) -> ([u8; 32], TargetKey) {
    let mut hash = Sha256::new();
    for id in [target.deployment.0, target.environment.0, target.resource.0, version.id.0] {
        hash.update(id.as_bytes());
    }
    (hash.finalize().into(), target)
}
