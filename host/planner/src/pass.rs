//! The conversation: what verification says, retries, gates until every target has its version and its turn in a
//! rollout, then sequences, then the plan.

use std::{collections::HashMap, sync::Arc};

use model::{
    hold::Hold,
    id::{IdSource, ReleaseId, VersionId},
    plan::Plan,
    question::{Answer, Intent, Question},
    redeploy::Redeploy,
    release::{Closed, Release, RolloutPlace},
    release_target::{TargetKey, TargetState},
    report::Report,
    snapshot::Snapshot,
    time::Timestamp,
    version::Version,
};

use crate::{
    freezes::Freezes,
    gates::{Gates, OpenGate},
    holds,
    matching::{self, Places},
    progress::Progress,
    requests::Shared,
    retries::{self, OpenRetry},
    rollouts::{self, OpenTurn, Rollouts},
    rules::{Governor, RuleBook},
    search,
    sequences::{self, OpenSequence, Sequencing},
    standing, states, steps,
    target::{Next, Target, in_hand},
    verify::{self, OpenVerify, Verdicts, Verifying},
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
    pub(crate) verdicts: Verdicts,
    pub(crate) verification: Verifying,
    pub(crate) gates: Gates,
    pub(crate) freezes: Freezes,
    pub(crate) shared: Shared,
    pub(crate) progress: Progress,
    pub(crate) rollouts: Rollouts,
    pub(crate) sequencing: Sequencing,
    /// Holds and redeploys as they were read.
    pub(crate) holds: HashMap<TargetKey, Hold>,
    pub(crate) redeploys: HashMap<TargetKey, Redeploy>,
    /// Releases as they were read, by target and version.
    pub(crate) releases: HashMap<(TargetKey, VersionId), Release>,
    release_index: HashMap<ReleaseId, usize>,
    /// Ids of releases that this pass makes.
    pub(crate) new_releases: HashMap<(TargetKey, VersionId), ReleaseId>,
    version_index: HashMap<VersionId, usize>,
    pub(crate) warnings: Vec<String>,
    waiting_for: Waiting,
}

enum Waiting {
    Nothing,
    Verifications(Vec<OpenVerify>),
    Retries(Vec<OpenRetry>),
    Gates(Vec<OpenGate>),
    Turns(Vec<OpenTurn>),
    Sequences(Vec<OpenSequence>),
}

impl Pass {
    /// Begins a pass. `seed` makes its ids; two passes over one snapshot with one seed and the same answers are equal.
    pub fn start(snapshot: Snapshot, now: Timestamp, seed: u64) -> Turn {
        let mut rules = RuleBook::new(&snapshot);
        let Places { targets, gone, warnings } = matching::resolve(&snapshot, &mut rules);
        let index = |(index, release): (usize, &Release)| (release.id, index);
        let pass = Self {
            now,
            ids: IdSource::new(seed),
            targets,
            gone,
            verdicts: Verdicts::default(),
            verification: Verifying::default(),
            gates: Gates::new(&snapshot, now),
            freezes: Freezes::new(&snapshot),
            shared: Shared::new(&snapshot),
            progress: Progress::default(),
            rollouts: Rollouts::default(),
            sequencing: Sequencing::default(),
            holds: snapshot.holds.iter().map(|hold| (hold.target, hold.clone())).collect(),
            redeploys: snapshot.redeploys.iter().map(|one| (one.target, one.clone())).collect(),
            releases: snapshot.releases.iter().map(|one| ((one.target, one.version), one.clone())).collect(),
            release_index: snapshot.releases.iter().enumerate().map(index).collect(),
            new_releases: HashMap::new(),
            version_index: snapshot.versions.iter().enumerate().map(|(index, version)| (version.id, index)).collect(),
            warnings,
            waiting_for: Waiting::Nothing,
            snapshot,
        };
        pass.verify()
    }

    /// Goes on with the answers to the last questions, in their order.
    ///
    /// # Panics
    ///
    /// When the number of answers is not that of the questions: whoever asks must answer each.
    pub fn answer(mut self, answers: Vec<Answer>) -> Turn {
        let one_each = |open: usize| assert_eq!(open, answers.len(), "one answer for each question");
        match std::mem::replace(&mut self.waiting_for, Waiting::Nothing) {
            Waiting::Nothing => {
                one_each(0);
                self.search()
            }
            Waiting::Verifications(open) => {
                one_each(open.len());
                verify::settle(&mut self, open, answers);
                self.retry()
            }
            Waiting::Retries(open) => {
                one_each(open.len());
                retries::settle(&mut self, open, answers);
                self.begin_search()
            }
            Waiting::Gates(open) => {
                one_each(open.len());
                for (open, answer) in open.into_iter().zip(answers) {
                    self.gates.record(&mut self.ids, open.key, &open.rule, answer);
                }
                self.search()
            }
            Waiting::Turns(open) => {
                one_each(open.len());
                rollouts::settle(&mut self, open, answers);
                self.search()
            }
            Waiting::Sequences(open) => {
                one_each(open.len());
                sequences::settle(&mut self, open, answers);
                self.finish()
            }
        }
    }

    fn verify(mut self) -> Turn {
        let open = verify::open(&mut self);
        if open.is_empty() {
            return self.retry();
        }
        let questions = open.iter().map(|open| open.question.clone()).collect();
        self.waiting_for = Waiting::Verifications(open);
        Turn::Ask(Box::new(self), questions)
    }

    fn retry(mut self) -> Turn {
        states::take(&mut self);
        let open = retries::open(&mut self);
        if open.is_empty() {
            return self.begin_search();
        }
        let questions = open.iter().map(|open| open.question.clone()).collect();
        self.waiting_for = Waiting::Retries(open);
        Turn::Ask(Box::new(self), questions)
    }

    fn begin_search(mut self) -> Turn {
        holds::take(&mut self);
        search::begin(&mut self);
        self.search()
    }

    /// Moves every target's search on as far as the answers go; asks what is missing. Turns in rollouts come last.
    fn search(mut self) -> Turn {
        let open = search::go_on(&mut self);
        if !open.is_empty() {
            let questions = open.iter().map(|open| open.question.clone()).collect();
            self.waiting_for = Waiting::Gates(open);
            return Turn::Ask(Box::new(self), questions);
        }
        let open = rollouts::open(&mut self);
        if !open.is_empty() {
            let questions = open.iter().map(OpenTurn::question).collect();
            self.waiting_for = Waiting::Turns(open);
            return Turn::Ask(Box::new(self), questions);
        }
        retries::decide(&mut self);
        self.sequence()
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
        plan.looks_at_dependencies = self.targets.iter().any(|target| {
            target.rules.rules.iter().any(|rule| match &rule.by {
                Governor::Plugin(plugin) => plugin.manifest.facts.dependencies,
                Governor::Planner(_) | Governor::Nobody(_) => false,
            })
        });
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

    /// A release that was read.
    pub(crate) fn release(&self, release: ReleaseId) -> Option<&Release> {
        self.release_index.get(&release).map(|index| &self.snapshot.releases[*index])
    }

    /// The place that a release was given in a rollout, in this pass or before.
    pub(crate) fn rollout_place(&self, target: TargetKey, version: usize) -> Option<RolloutPlace> {
        self.releases.get(&(target, self.snapshot.versions[version].id)).and_then(|release| release.rollout)
    }

    /// Whether a rule went back from the version on the target.
    pub(crate) fn closed_as_rolled_back(&self, target: TargetKey, version: usize) -> bool {
        let release = self.releases.get(&(target, self.snapshot.versions[version].id));
        release.and_then(|release| release.closed).is_some_and(|(why, _)| why == Closed::RolledBack)
    }

    /// Whether a job serves what a person or a rollback wants started on the target.
    pub(crate) fn served(&self, target: &Target, chosen: usize) -> bool {
        if target.intent == Intent::Redeploy && target.redeploy == Some(chosen) {
            return false;
        }
        target.hold.as_ref().is_none_or(|hold| holds::is_served(self, target, hold))
    }

    /// Whether the target is held on the version, and it came there since.
    pub(crate) fn held_and_done(&self, target: &Target, version: usize) -> bool {
        let on_it = |hold: &&Hold| self.version_index(hold.version) == Some(version);
        target.hold.as_ref().filter(on_it).is_some_and(|hold| holds::is_done(self, target, hold))
    }

    /// When to ask again a verification rule of the target that did not answer in time.
    pub(crate) fn ask_again_at(&self, target: &Target) -> Option<Timestamp> {
        let index = self.targets.iter().position(|other| other.target.key == target.target.key)?;
        self.verification.ask_again_at.get(&index).copied()
    }

    /// What was seen when a job was verified.
    pub(crate) fn seen(&self, job: usize) -> String {
        let settled = self.verification.settled.iter().find(|(settled, ..)| *settled == job);
        settled.map_or_else(|| self.snapshot.jobs[job].message.clone(), |(_, _, seen)| seen.clone())
    }

    /// Why a version would go to a target.
    pub(crate) fn intent(&self, target: usize, version: usize) -> Intent {
        search::intent(self, &self.targets[target], version)
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
