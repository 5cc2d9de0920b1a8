//! The conversation: gates until every target has its version, then retries, then sequences, then the plan.

use std::{collections::HashMap, sync::Arc};

use model::{
    id::{IdSource, ReleaseId, VersionId},
    plan::Plan,
    question::{Answer, Intent, Question},
    release::Release,
    release_target::{TargetKey, TargetState},
    report::Report,
    snapshot::Snapshot,
    time::Timestamp,
    version::{Version, VersionStatus},
};

use crate::{
    gates::{Gates, OpenGate},
    matching::{self, Places},
    retries::{self, OpenRetry},
    rules::RuleBook,
    sequences::{self, OpenSequence, Sequencing},
    standing, steps,
    target::{Next, Search, Target, attempts, in_hand},
};

/// What comes next in the conversation.
#[must_use]
pub enum Turn {
    /// These must be asked; their answers, in this order, go to [`Pass::answer`].
    Ask(Box<Pass>, Vec<Question>),
    /// The pass is over.
    Done(Box<Outcome>),
}

/// What a pass comes to.
#[derive(Debug)]
#[must_use]
pub struct Outcome {
    /// The instant that the pass took as now.
    pub now: Timestamp,
    /// What is to be done.
    pub plan: Plan,
    /// Why every target is where it is.
    pub report: Report,
}

/// A planning pass over one deployment, between two turns.
pub struct Pass {
    pub(crate) snapshot: Snapshot,
    pub(crate) now: Timestamp,
    pub(crate) ids: IdSource,
    pub(crate) targets: Vec<Target>,
    /// Targets of which a part is no longer there.
    pub(crate) gone: Vec<TargetState>,
    pub(crate) gates: Gates,
    pub(crate) sequencing: Sequencing,
    /// Releases as they were read, by target and version.
    pub(crate) releases: HashMap<(TargetKey, VersionId), Release>,
    /// Ids of releases that this pass makes.
    pub(crate) new_releases: HashMap<(TargetKey, VersionId), ReleaseId>,
    version_index: HashMap<VersionId, usize>,
    pub(crate) warnings: Vec<String>,
    waiting_for: Waiting,
}

enum Waiting {
    Nothing,
    Gates(Vec<OpenGate>),
    Retries(Vec<OpenRetry>),
    Sequences(Vec<OpenSequence>),
}

impl Pass {
    /// Begins a pass. `seed` makes its ids; two passes over one snapshot with one seed and the same answers are equal.
    pub fn start(snapshot: Snapshot, now: Timestamp, seed: u64) -> Turn {
        let mut rules = RuleBook::new(&snapshot);
        let Places { targets, gone, warnings } = matching::resolve(&snapshot, &mut rules);
        let gates = Gates::new(&snapshot, now);
        let releases =
            snapshot.releases.iter().map(|release| ((release.target, release.version), release.clone())).collect();
        let version_index = snapshot.versions.iter().enumerate().map(|(index, version)| (version.id, index)).collect();
        let pass = Self {
            snapshot,
            now,
            ids: IdSource::new(seed),
            targets,
            gone,
            gates,
            sequencing: Sequencing::default(),
            releases,
            new_releases: HashMap::new(),
            version_index,
            warnings,
            waiting_for: Waiting::Nothing,
        };
        pass.search()
    }

    /// Goes on with the answers to the last questions, in their order.
    ///
    /// # Panics
    ///
    /// When the number of answers is not that of the questions: whoever asks must answer each.
    pub fn answer(mut self, answers: Vec<Answer>) -> Turn {
        match std::mem::replace(&mut self.waiting_for, Waiting::Nothing) {
            Waiting::Nothing => {
                assert!(answers.is_empty(), "nothing was asked");
                self.search()
            }
            Waiting::Gates(open) => {
                assert_eq!(open.len(), answers.len(), "one answer for each question");
                for (open, answer) in open.into_iter().zip(answers) {
                    self.gates.record(&mut self.ids, open.key, &open.rule, answer);
                }
                self.search()
            }
            Waiting::Retries(open) => {
                assert_eq!(open.len(), answers.len(), "one answer for each question");
                retries::settle(&mut self, open, answers);
                self.sequence()
            }
            Waiting::Sequences(open) => {
                assert_eq!(open.len(), answers.len(), "one answer for each question");
                sequences::settle(&mut self, open, answers);
                self.finish()
            }
        }
    }

    /// Moves every target's search on as far as the answers go; asks what is missing.
    fn search(mut self) -> Turn {
        let mut open = Vec::new();
        for index in 0..self.targets.len() {
            self.search_target(index, &mut open);
        }
        if !open.is_empty() {
            let questions = open.iter().map(|open| open.question.clone()).collect();
            self.waiting_for = Waiting::Gates(open);
            return Turn::Ask(Box::new(self), questions);
        }
        self.retry()
    }

    fn search_target(&mut self, index: usize, open: &mut Vec<OpenGate>) {
        while let Search::At(candidate) = self.targets[index].search {
            let target = &self.targets[index];
            // What the target runs, or what an agent brings, is the floor: nothing older is looked at.
            let floor = [target.current, target.in_progress].into_iter().flatten().min();
            // What once was to come here is not left for anything older either, only for something newer.
            let below_desired = target.desired.is_some_and(|desired| candidate > desired);
            if below_desired || candidate >= floor.unwrap_or(self.snapshot.versions.len()) {
                self.targets[index].search = Search::Settled(None);
                return;
            }
            if !self.may_be_candidate(index, candidate) {
                self.targets[index].search = Search::At(candidate + 1);
                continue;
            }
            if target.considered.last() != Some(&candidate) {
                self.consider(index, candidate);
            }
            match self.ask_gates(index, candidate, open) {
                None => return,
                Some(true) => self.targets[index].search = Search::Settled(Some(candidate)),
                Some(false) => self.targets[index].search = Search::At(candidate + 1),
            }
        }
    }

    /// A candidate gets its release, so that people can see, approve and cancel what is pending.
    fn consider(&mut self, index: usize, candidate: usize) {
        self.targets[index].considered.push(candidate);
        let key = (self.targets[index].target.key, self.snapshot.versions[candidate].id);
        if !self.releases.contains_key(&key) {
            self.new_releases.insert(key, ReleaseId(self.ids.next(self.now)));
        }
    }

    /// A ready version whose release on the target nobody closed.
    fn may_be_candidate(&self, index: usize, candidate: usize) -> bool {
        let version = &self.snapshot.versions[candidate];
        let release = self.releases.get(&(self.targets[index].target.key, version.id));
        version.status == VersionStatus::Ready && release.is_none_or(|release| release.closed.is_none())
    }

    /// Whether every rule lets the candidate go; `None` while an answer is missing. Every rule is asked, also after
    /// one said no, so that a person sees all that is missing.
    fn ask_gates(&mut self, index: usize, candidate: usize, open: &mut Vec<OpenGate>) -> Option<bool> {
        let target = &self.targets[index];
        let version = self.snapshot.versions[candidate].id;
        let attempts = attempts(&self.snapshot.jobs, &target.jobs, version);
        let intent = match attempts.iter().any(|attempt| attempt.status.is_final()) {
            true => Intent::Retry,
            false => Intent::Automatic,
        };
        let mut complete = true;
        let mut all_let_go = true;
        for rule in target.rules.gates() {
            let question = self.gates.open(&self.snapshot, &mut self.ids, target, rule, candidate, intent);
            open.extend(question);
            match self.gates.decision(rule, version, target.target.key) {
                Some(decision) => all_let_go &= decision.lets_go(),
                None => complete = false,
            }
        }
        complete.then_some(all_let_go)
    }

    fn retry(mut self) -> Turn {
        let open = retries::open(&mut self);
        if open.is_empty() {
            return self.sequence();
        }
        let questions = open.iter().map(|open| open.question.clone()).collect();
        self.waiting_for = Waiting::Retries(open);
        Turn::Ask(Box::new(self), questions)
    }

    fn sequence(mut self) -> Turn {
        let open = sequences::open(&mut self);
        if open.is_empty() {
            return self.finish();
        }
        let questions = open.iter().map(|open| open.question.clone()).collect();
        self.waiting_for = Waiting::Sequences(open);
        Turn::Ask(Box::new(self), questions)
    }

    fn finish(mut self) -> Turn {
        let mut report = standing::report(&self);
        let mut plan = steps::plan(&mut self);
        plan.next_evaluation =
            report.targets.iter().filter_map(|target| target.next_evaluation).filter(|at| *at > self.now).min();
        report.warnings.append(&mut self.warnings);
        Turn::Done(Box::new(Outcome { now: self.now, plan, report }))
    }

    /// The job on a target that has not ended and that somebody has in hand.
    pub(crate) fn job_in_hand(&self, target: &Target) -> Option<usize> {
        target.active_job.filter(|job| in_hand(&self.snapshot.jobs[*job]))
    }

    /// The release of a version on a target, made before or in this pass.
    pub(crate) fn release_id(&self, target: TargetKey, version: usize) -> Option<ReleaseId> {
        let key = (target, self.snapshot.versions[version].id);
        self.releases.get(&key).map(|release| release.id).or_else(|| self.new_releases.get(&key).copied())
    }

    /// The version that a job brings.
    pub(crate) fn version_of(&self, job: usize) -> Option<&Arc<Version>> {
        self.version_index.get(&self.snapshot.jobs[job].version).map(|index| &self.snapshot.versions[*index])
    }

    /// Where a version stands among all, newest first.
    pub(crate) fn version_index(&self, version: VersionId) -> Option<usize> {
        self.version_index.get(&version).copied()
    }

    /// Targets that could start, as far as they alone are concerned.
    pub(crate) fn ready(&self) -> impl Iterator<Item = usize> {
        (0..self.targets.len()).filter(|index| matches!(self.targets[*index].next, Next::Ready { .. }))
    }
}
