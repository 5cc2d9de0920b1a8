//! Broken reports: lines, candidates, standings, times and events.

use std::sync::Arc;

use model::{decision::Verdict, event::Actor, plan::Step, report::Standing, version::VersionStatus};

use super::{Case, completed, fresh, held, is_attach, leaving, queued, reports, second, stopping, superseding};
use crate::{
    policies::{Switch, answer, deny},
    world::World,
};

#[test]
fn lines() {
    reports("it has two lines", fresh, |case| {
        let line = case.line(0).clone();
        case.outcome.report.targets.insert(0, line);
    });
    reports("its line has no reason", fresh, |case| case.line(0).reason.clear());
    reports("a line of a target that does not exist", held, |case| case.remove(is_attach));
    reports("wrong on whether it is attached", fresh, |case| case.line(0).standing = Standing::Detached);
    reports("wrong on whether it is attached", leaving, |case| case.line(0).standing = Standing::NoVersion);
    reports("wrong on what it runs", second, |case| case.line(0).current = None);
    reports("wrong on what it should run", second, |case| case.line(0).desired = None);
    reports("it has no line", fresh, |case| {
        case.outcome.report.targets.pop();
    });
    reports("the lines are not in order", fresh, |case| case.outcome.report.targets.reverse());
}

#[test]
fn candidates() {
    let two_held = || {
        let mut world = World::with_prod(1);
        let gate = Switch::default();
        gate.set("*", deny("no"));
        world.govern(gate.gate("gate"));
        world.version("v1");
        world.version("v2");
        world
    };
    reports("are not newest first", two_held, |case| case.line(0).candidates.reverse());
    reports("a candidate is not ready", held, |case| {
        Arc::make_mut(&mut case.line(0).candidates[0].version).status = VersionStatus::Failed;
    });
    reports("a candidate has no release", held, |case| case.line(0).candidates[0].release = None);
    reports("not newer than what it runs", second, |case| {
        let candidate = Arc::clone(&case.line(0).candidates[0].version);
        case.line(0).current = Some(candidate);
    });
    reports("older versions than needed", two_held, |case| {
        case.decision().answer = answer(Verdict::Allow, "yes");
    });
    reports("should run the first that may go", held, |case| {
        case.decision().answer = answer(Verdict::Allow, "yes");
    });
    reports("should run something else than before", held, |case| {
        let (key, release) = (case.key(0), case.release().id);
        case.steps().push(Step::SetDesired(key, Some(release)));
    });
}

#[test]
fn standings() {
    let all = [
        Standing::NoVersion,
        Standing::UpToDate,
        Standing::Deploying,
        Standing::Blocked,
        Standing::Waiting,
        Standing::Failed,
        Standing::NoAgent,
        Standing::Detached,
    ];
    let up_to_date = || {
        let mut world = World::with_prod(1);
        world.version("v1");
        world.finish_all();
        world
    };
    type Made = fn() -> World;
    let worlds: [(Made, Standing); 6] = [
        (|| World::with_prod(1), Standing::NoVersion),
        (up_to_date, Standing::UpToDate),
        (queued, Standing::Deploying),
        (held, Standing::Blocked),
        (stopping, Standing::Waiting),
        (leaving, Standing::Detached),
    ];
    for (world, right) in worlds {
        for wrong in all.into_iter().filter(|standing| *standing != right) {
            let sentence = match [right, wrong].contains(&Standing::Detached) {
                true => "wrong on whether it is attached".to_owned(),
                false => format!("`{}` is not where it stands", wrong.name()),
            };
            reports(&sentence, world, |case| {
                case.line(0).standing = wrong;
            });
        }
    }
    reports("a job starts unreported", fresh, |case| case.line(0).standing = Standing::Waiting);
    reports("v1 may come and is not there", held, |case| {
        case.line(0).candidates.clear();
        case.line(0).standing = Standing::NoVersion;
    });
}

#[test]
fn times() {
    let now = |case: &Case| case.outcome.now;
    reports("it wakes in the past", held, |case| case.line(0).next_evaluation = Some(now(case)));
    reports("gate names a time that is over", held, |case| {
        let over = now(case);
        case.decision().answer = answer(Verdict::Wait(Some(over)), "until now");
    });
    reports("it sleeps through what gate waits for", held, |case| {
        let later = now(case).plus_seconds(5);
        case.decision().answer = answer(Verdict::Wait(Some(later)), "soon");
    });
    reports("it sleeps through what gate waits for", queued, |case| {
        let later = now(case).plus_seconds(5);
        case.decision().answer.valid_until = Some(later);
        case.line(0).next_evaluation = Some(later.plus_seconds(1));
    });
    reports("does not wake when its first line must", held, |case| {
        case.outcome.plan.next_evaluation = Some(now(case).plus_seconds(5));
    });
}

#[test]
fn events() {
    for kind in ["target_attached", "release_created", "release_desired", "decision_changed", "job_created"] {
        reports(&format!("a step has no {kind} event"), fresh, |case| {
            case.outcome.plan.events.retain(|event| event.kind.name() != kind);
        });
    }
    type Made = fn() -> World;
    let kinds: [(&str, Made); 3] =
        [("target_detached", leaving), ("release_superseded", superseding), ("release_current", completed)];
    for (kind, world) in kinds {
        reports(&format!("a step has no {kind} event"), world, |case| {
            case.outcome.plan.events.retain(|event| event.kind.name() != kind);
        });
    }
    reports("a release_created event about", fresh, |case| {
        let event = case.outcome.plan.events.iter().find(|event| event.kind.name() == "release_created");
        let event = event.expect("a release is made").clone();
        case.outcome.plan.events.push(event);
    });
    reports("a step has no job_created event", fresh, |case| {
        for event in &mut case.outcome.plan.events {
            event.subject.job = None;
        }
    });
    reports("a plan speaks for another", fresh, |case| {
        case.outcome.plan.events[0].actor = Actor::User("eve".to_owned());
    });
}
