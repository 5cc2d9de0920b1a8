//! The checker finds what it is there to find: sound plans are broken one by one, and each is reported.

mod reporting;

use std::sync::Arc;

use model::{
    decision::{Decision, Verdict},
    id::{JobAgentId, JobId, ReleaseId, ResourceId, Uuid, WorkspaceId},
    job::Job,
    job_state::{FinalStatus, JobState},
    plan::Step,
    release::{Closed, Release},
    release_target::TargetKey,
    report::TargetReport,
    snapshot::Snapshot,
    version::VersionStatus,
};
use planner::Outcome;

use crate::{
    policies::{Switch, answer, deny, newest_first, retry_after},
    world::{World, rule},
};

/// A snapshot and its plan, to be broken.
struct Case {
    snapshot: Snapshot,
    outcome: Outcome,
}

impl Case {
    fn of(mut world: World) -> Self {
        let snapshot = world.snapshot();
        let outcome = world.converse(snapshot.clone(), 99);
        assert_eq!(planner::check::plan(&snapshot, &outcome), Vec::<String>::new(), "sound before it is broken");
        Self { snapshot, outcome }
    }

    fn steps(&mut self) -> &mut Vec<Step> {
        &mut self.outcome.plan.steps
    }

    fn line(&mut self, index: usize) -> &mut TargetReport {
        &mut self.outcome.report.targets[index]
    }

    fn key(&self, index: usize) -> TargetKey {
        self.outcome.report.targets[index].target.key
    }

    fn decision(&mut self) -> &mut Decision {
        &mut self.line(0).candidates[0].gates[0].decision
    }

    fn release(&mut self) -> &mut Release {
        self.steps()
            .iter_mut()
            .find_map(|step| match step {
                Step::CreateRelease(release) => Some(release),
                _ => None,
            })
            .expect("a release is made")
    }

    fn job(&mut self) -> &mut Job {
        self.steps()
            .iter_mut()
            .find_map(|step| match step {
                Step::CreateJob(job) => Some(job),
                _ => None,
            })
            .expect("a job is made")
    }

    /// The first release of the target that was read, of the version with this tag.
    fn read(&self, tag: &str) -> &Release {
        let version = self.snapshot.versions.iter().find(|version| version.tag == tag).expect("a version").id;
        self.snapshot.releases.iter().find(|release| release.version == version).expect("a release")
    }

    fn set_status(&mut self, tag: &str, status: VersionStatus) {
        let version = self.snapshot.versions.iter_mut().find(|version| version.tag == tag).expect("a version");
        Arc::make_mut(version).status = status;
    }

    fn remove(&mut self, unwanted: impl Fn(&Step) -> bool) {
        self.steps().retain(|step| !unwanted(step));
    }

    fn again(&mut self, wanted: impl Fn(&Step) -> bool) {
        let found = self.steps().iter().find(|step| wanted(step)).expect("such a step").clone();
        self.steps().push(found);
    }
}

fn reports(sentence: &str, world: fn() -> World, break_it: impl FnOnce(&mut Case)) {
    let mut case = Case::of(world());
    break_it(&mut case);
    let found = planner::check::plan(&case.snapshot, &case.outcome);
    assert!(found.iter().any(|line| line.contains(sentence)), "`{sentence}` is not among {found:#?}");
}

/// Two targets, a rule, a version: everything is made.
fn fresh() -> World {
    let mut world = World::with_prod(2);
    world.govern(Switch::default().gate("gate"));
    world.version("v1");
    world
}

/// v1 waits for an agent on both.
fn queued() -> World {
    let mut world = fresh();
    world.settle();
    world
}

/// An agent has v1 on both.
fn running() -> World {
    let mut world = queued();
    world.begin("r1", "v1");
    world.begin("r2", "v1");
    world
}

/// v1 completed on both, which the planner has not seen.
fn completed() -> World {
    let mut world = queued();
    world.finish("r1", "v1", FinalStatus::Completed);
    world.finish("r2", "v1", FinalStatus::Completed);
    world
}

/// v1 runs on one target; v2 has come.
fn second() -> World {
    let mut world = World::with_prod(1);
    world.govern(Switch::default().gate("gate"));
    world.version("v1");
    world.finish_all();
    world.version("v2");
    world
}

/// v1 ran and v2 has just completed.
fn replaced() -> World {
    let mut world = second();
    world.settle();
    world.finish("r1", "v2", FinalStatus::Completed);
    world
}

/// v1 is held; v2 comes and is not.
fn superseding() -> World {
    let mut world = World::with_prod(1);
    let gate = Switch::default();
    gate.set("v1", deny("no"));
    world.govern(gate.gate("gate"));
    world.version("v1");
    world.settle();
    world.version("v2");
    world
}

/// v1 is held.
fn held() -> World {
    let mut world = World::with_prod(1);
    let gate = Switch::default();
    gate.set("v1", deny("no"));
    world.govern(gate.gate("gate"));
    world.version("v1");
    world
}

/// v1 failed and is tried again.
fn retried() -> World {
    let mut world = fresh();
    world.govern(retry_after(5, 0));
    world.settle();
    world.finish("r1", "v1", FinalStatus::Failed);
    world.finish("r2", "v1", FinalStatus::Failed);
    world
}

/// v1 waits in the queue; the selector leaves it.
fn leaving() -> World {
    let mut world = queued();
    world.deployment.resource_selector = "false".to_owned();
    world
}

/// v1 runs, and v2 has it stopped.
fn stopping() -> World {
    let mut world = World::with_prod(1);
    world.govern(newest_first());
    world.version("v1");
    world.settle();
    world.begin("r1", "v1");
    world.version("v2");
    world
}

const fn is_attach(step: &Step) -> bool {
    matches!(step, Step::AttachTarget(_))
}

const fn is_desired(step: &Step) -> bool {
    matches!(step, Step::SetDesired(..))
}

const fn is_close(step: &Step) -> bool {
    matches!(step, Step::CloseRelease(..))
}

const fn is_decision(step: &Step) -> bool {
    matches!(step, Step::RecordDecision(_))
}

const fn is_job(step: &Step) -> bool {
    matches!(step, Step::CreateJob(_))
}

const fn is_call_off(step: &Step) -> bool {
    matches!(step, Step::CancelJob(..) | Step::WithdrawJob(..))
}

fn nobody() -> Uuid {
    Uuid::from_u128(1)
}

#[test]
fn targets() {
    reports("left in the queue", leaving, |case| case.remove(is_call_off));
    reports("attached or detached twice", fresh, |case| case.again(is_attach));
    reports("attached, but it was before", fresh, |case| {
        let key = case.key(0);
        let state = model::release_target::TargetState { key, attached: true, desired: None, current: None };
        case.snapshot.targets.push(state);
    });
    reports("a part of it was not read", fresh, |case| case.snapshot.resources.clear());
    reports("detached, but it was not attached", fresh, |case| {
        let stranger = TargetKey { resource: ResourceId(nobody()), ..case.key(0) };
        case.steps().insert(0, Step::DetachTarget(stranger));
    });
    reports("does not exist gets a current release", completed, |case| {
        let stranger = TargetKey { resource: ResourceId(nobody()), ..case.key(0) };
        let release = case.read("v1").id;
        case.steps().push(Step::SetCurrent(stranger, release));
    });
    for what in ["gets a release", "gets a desired release", "gets a job"] {
        reports(&format!("it is not attached and {what}"), fresh, |case| case.remove(is_attach));
    }
    reports("a step of releases comes after one of decisions", fresh, |case| case.steps().reverse());
    reports("not made, set and closed in this order", fresh, |case| case.steps().swap(2, 3));
}

#[test]
fn releases_that_are_made() {
    reports("was there before", queued, |case| {
        let release = Release { created_at: case.outcome.now, ..case.read("v1").clone() };
        case.steps().push(Step::CreateRelease(release));
    });
    reports("a second release of one version", queued, |case| {
        let release = Release { id: ReleaseId(nobody()), ..case.read("v1").clone() };
        case.steps().push(Step::CreateRelease(release));
    });
    reports("a release of a version that is not ready", fresh, |case| case.set_status("v1", VersionStatus::Failed));
    reports("a release is made closed", fresh, |case| {
        let now = case.outcome.now;
        case.release().closed = Some((Closed::Superseded, now));
    });
    reports("a release is made at another time than now", fresh, |case| {
        let later = case.outcome.now.plus_seconds(1);
        case.release().created_at = later;
    });
    reports("a release of a stranger", fresh, |case| case.release().workspace = WorkspaceId(nobody()));
    reports("a release is made and closed", fresh, |case| {
        let id = case.release().id;
        case.steps().push(Step::CloseRelease(id, Closed::Superseded));
    });
}

#[test]
fn releases_that_are_closed() {
    reports("is closed twice", superseding, |case| case.again(is_close));
    reports("is closed and was not read", superseding, |case| {
        case.steps().push(Step::CloseRelease(ReleaseId(nobody()), Closed::Superseded));
    });
    reports("is closed that was closed before", superseding, |case| {
        let now = case.outcome.now;
        case.snapshot.releases[0].closed = Some((Closed::Superseded, now));
    });
    reports("what it runs or should run is closed", queued, |case| {
        let id = case.read("v1").id;
        case.steps().push(Step::CloseRelease(id, Closed::Superseded));
    });
    reports("closed while its job has not ended", running, |case| {
        let id = case.read("v1").id;
        case.steps().push(Step::CloseRelease(id, Closed::Superseded));
    });
    let why = |case: &mut Case, why| {
        case.steps().iter_mut().for_each(|step| {
            if let Step::CloseRelease(_, closed) = step {
                *closed = why;
            }
        });
    };
    reports("replaced, but it never ran", superseding, |case| why(case, Closed::Replaced));
    reports("superseded, but it ran", replaced, |case| why(case, Closed::Superseded));
    reports("only people cancel releases", replaced, |case| why(case, Closed::Cancelled));
    reports("closed, but nothing younger", superseding, |case| case.remove(is_desired));
}

#[test]
fn what_a_target_should_run_and_what_it_runs() {
    let current = |step: &Step| matches!(step, Step::SetCurrent(..));
    reports("made current, but it was before", completed, |case| {
        let release = case.read("v1").clone();
        case.snapshot.targets.iter_mut().find(|state| state.key == release.target).expect("a target").current =
            Some(release.id);
    });
    reports("it is not what completed last", second, |case| {
        let (key, release) = (case.key(0), case.release().id);
        case.steps().push(Step::SetCurrent(key, release));
    });
    reports("what completed last is not what it runs", completed, |case| case.remove(current));
    reports("made desired, but it was before", queued, |case| {
        let release = case.read("v1").clone();
        case.steps().push(Step::SetDesired(release.target, Some(release.id)));
    });
    reports("it runs something and should run nothing", second, |case| {
        let key = case.key(0);
        case.steps().push(Step::SetDesired(key, None));
    });
    reports("a release that is not its own", second, |case| {
        let key = case.key(0);
        case.steps().push(Step::SetDesired(key, Some(ReleaseId(nobody()))));
    });
    reports("v1 is not ready", fresh, |case| case.set_status("v1", VersionStatus::Paused));
    reports("the release of v1 is closed", queued, |case| {
        let release = case.read("v1").clone();
        let now = case.outcome.now;
        for one in &mut case.snapshot.releases {
            one.closed = Some((Closed::Superseded, now));
        }
        for state in &mut case.snapshot.targets {
            state.desired = None;
        }
        case.steps().push(Step::SetDesired(release.target, Some(release.id)));
    });
    let back_to_v1 = |case: &mut Case| {
        let release = case.read("v1").clone();
        case.steps().push(Step::SetDesired(release.target, Some(release.id)));
    };
    let second_settled = || {
        let mut world = second();
        world.settle();
        world
    };
    reports("it should run v2 and goes back to v1", second_settled, back_to_v1);
    reports("it should run less than it runs", replaced, |case| {
        case.remove(is_close);
        back_to_v1(case);
    });
    let second_running = || {
        let mut world = second();
        world.settle();
        world.begin("r1", "v2");
        world
    };
    reports("it should run less than what comes", second_running, back_to_v1);
}

#[test]
fn jobs_that_start() {
    reports("two jobs start", fresh, |case| case.again(is_job));
    reports("was there before", second, |case| {
        let id = case.snapshot.jobs[0].id;
        case.job().id = id;
    });
    reports("a job starts beside another", second, |case| {
        case.snapshot.jobs[0].state = JobState::Queued { offers: 0 };
    });
    reports("a release that is not its own", fresh, |case| case.job().release = ReleaseId(nobody()));
    reports("carries out a closed release", fresh, |case| {
        let id = case.job().release;
        case.steps().push(Step::CloseRelease(id, Closed::Superseded));
    });
    reports("brings what it should not run", fresh, |case| case.remove(is_desired));
    reports("brings what it runs", second, |case| {
        let (key, release) = (case.key(0), case.release().id);
        case.steps().push(Step::SetCurrent(key, release));
    });
    reports("a job brings a version that is not ready", fresh, |case| case.set_status("v1", VersionStatus::Paused));
    reports("a job of another agent", fresh, |case| case.job().agent = JobAgentId(nobody()));
    reports("does not start afresh", fresh, |case| case.job().state = JobState::Queued { offers: 3 });
    reports("a job starts at another time", fresh, |case| {
        let before = case.outcome.now.plus_seconds(-1);
        case.job().available_at = before;
    });
    reports("attempt 2 follows 0", fresh, |case| case.job().attempt = 2);
    reports("attempt 1 follows 1", retried, |case| case.job().attempt = 1);
    reports("a cancelled job is tried again", retried, |case| {
        for job in &mut case.snapshot.jobs {
            if let JobState::Ended { status, .. } = &mut job.state {
                *status = FinalStatus::Cancelled;
            }
        }
    });
    reports("there is no rule that grants it", retried, |case| {
        case.snapshot.policies.retain(|policy| policy.name != "retry");
    });
}

#[test]
fn jobs_that_are_called_off() {
    reports("is called off twice", stopping, |case| case.again(is_call_off));
    reports("for no reason", stopping, |case| {
        let id = case.snapshot.jobs[0].id;
        case.remove(is_call_off);
        case.steps().push(Step::CancelJob(id, " ".to_owned()));
    });
    reports("is called off and was not read", stopping, |case| {
        case.steps().push(Step::CancelJob(JobId(nobody()), "why".to_owned()));
    });
    reports("called off that has ended", second, |case| {
        let id = case.snapshot.jobs[0].id;
        case.steps().push(Step::CancelJob(id, "why".to_owned()));
    });
    reports("withdrawn that somebody has", running, |case| {
        let id = case.snapshot.jobs[0].id;
        case.steps().push(Step::WithdrawJob(id, "why".to_owned()));
    });
    reports("asked to stop again", stopping, |case| {
        let now = case.outcome.now;
        for job in &mut case.snapshot.jobs {
            job.state = job.state.cancel(now).expect("it runs");
        }
    });
    let left = || {
        let mut world = running();
        world.deployment.resource_selector = "false".to_owned();
        world
    };
    reports("its running job is not let end", left, |case| {
        let id = case.snapshot.jobs[0].id;
        case.steps().push(Step::CancelJob(id, "why".to_owned()));
    });
    reports("version that is not ready stays in the queue", queued, |case| {
        case.set_status("v1", VersionStatus::Rejected);
    });
    reports("a rule or a freeze holds a job that stays", queued, |case| {
        let gate = &mut case.line(0).candidates[0].gates[0];
        gate.policy = "all".to_owned();
        gate.decision.answer = answer(Verdict::Deny, "no");
    });
}

#[test]
fn gates() {
    reports("no rule was asked", fresh, |case| case.line(0).candidates.clear());
    reports("a job starts that a rule or a freeze holds", fresh, |case| {
        case.decision().answer = answer(Verdict::Wait(None), "no");
    });
    reports("has not every rule's word", fresh, |case| case.line(0).candidates[0].gates.clear());
    reports("has not every rule's word", second, |case| {
        let again = case.line(0).candidates[0].gates[0].clone();
        case.line(0).candidates[0].gates.push(again);
    });
    reports("a decision of another place", fresh, |case| {
        let other = case.key(1).resource;
        case.decision().scope.resource = Some(other);
    });
    reports("a decision has no reason", fresh, |case| case.decision().answer.reason.clear());
    reports("there is nobody to ask", fresh, |case| case.snapshot.plugins.clear());
    reports("there is nobody to ask", fresh, |case| {
        for policy in &mut case.snapshot.policies {
            Arc::make_mut(policy).selector = "resource.metadata.none == 'x'".to_owned();
        }
    });
    reports("two decisions for one version", fresh, |case| case.again(is_decision));
    reports("a decision of another time", fresh, |case| {
        let before = case.outcome.now.plus_seconds(-1);
        for step in case.steps() {
            if let Step::RecordDecision(decision) = step {
                decision.at = before;
            }
        }
    });
    reports("recorded that is not reported", fresh, |case| case.decision().answer.reason.push('!'));
    reports("recorded that says what the last one said", fresh, |case| {
        let said = case.decision().clone();
        case.snapshot.decisions.push(said);
    });
    reports("reported and not recorded", fresh, |case| case.remove(is_decision));
}

#[test]
fn a_rule_of_a_policy_that_does_not_govern_the_target_is_none_of_its_business() {
    let mut world = fresh();
    world.policy("elsewhere", "environment.name == 'staging'", 3, &[rule("gate")]);
    let _sound = Case::of(world);
}
