//! The report: every target has its line, and the line says what the plan does and when to look again.

use std::collections::HashSet;

use model::{
    decision::Verdict,
    job_state::FinalStatus,
    question::Intent,
    release_target::TargetState,
    report::{Standing, TargetReport},
    time::Timestamp,
    version::VersionStatus,
};

use super::{
    Broken,
    gates::is_free,
    look::{Look, ended, in_hand, younger},
};

pub fn check(look: &Look<'_>, broken: &mut Broken) {
    let mut seen = HashSet::new();
    for line in &look.report.targets {
        let path = line.target.path();
        broken.unless(seen.insert(line.target.key), || format!("{path}: it has two lines"));
        broken.unless(!line.reason.trim().is_empty(), || format!("{path}: its line has no reason"));
        let Some(state) = look.after.get(&line.target.key) else {
            broken.unless(false, || format!("{path}: a line of a target that does not exist"));
            continue;
        };
        let detached = line.standing == Standing::Detached;
        broken.unless(detached != state.attached, || format!("{path}: its line is wrong on whether it is attached"));
        versions(look, line, state, broken);
        candidates(look, line, state, broken);
        standing(look, line, broken);
        if state.attached {
            unexplained(look, line, broken);
        }
        when(look, line, broken);
    }
    for state in look.after.values().filter(|state| state.attached) {
        broken.unless(seen.contains(&state.key), || format!("{}: it has no line", state.key));
    }
    let sorted = look
        .report
        .targets
        .is_sorted_by_key(|line| (&line.target.environment.name, &line.target.resource.identifier, line.target.key));
    broken.unless(sorted, || "the lines are not in order".to_owned());
    let first = look.report.targets.iter().filter_map(|line| line.next_evaluation).min();
    broken.unless(look.plan.next_evaluation == first, || "the plan does not wake when its first line must".to_owned());
}

fn versions(look: &Look<'_>, line: &TargetReport, state: &TargetState, broken: &mut Broken) {
    let of = |release| look.version(release).map(|version| version.id);
    let path = line.target.path();
    let current = line.current.as_ref().map(|version| version.id);
    broken.unless(current == state.current.and_then(of), || format!("{path}: its line is wrong on what it runs"));
    let desired = line.desired.as_ref().map(|version| version.id);
    broken.unless(desired == state.desired.and_then(of), || format!("{path}: its line is wrong on what it should run"));
}

/// Candidates are ready, go from young to old, and the first that every rule lets go is the last looked at and what
/// the target should run.
fn candidates(look: &Look<'_>, line: &TargetReport, state: &TargetState, broken: &mut Broken) {
    let path = line.target.path();
    let falling = line.candidates.is_sorted_by(|one, next| younger(&one.version, &next.version));
    broken.unless(falling, || format!("{path}: its candidates are not newest first"));
    for candidate in &line.candidates {
        let held = look.holds.get(&line.target.key).is_some_and(|hold| hold.version == candidate.version.id);
        let ready = candidate.version.status == VersionStatus::Ready;
        broken.unless(held || ready, || format!("{path}: a candidate is not ready"));
        let release = candidate.release.and_then(|release| look.releases.get(&release));
        let its = release.is_some_and(|of| of.target == line.target.key && of.version == candidate.version.id);
        broken.unless(its, || format!("{path}: a candidate has no release"));
        let older = line.current.as_ref().is_some_and(|current| !younger(&candidate.version, current));
        // What runs comes again only where somebody asked for it.
        let mut deploys = look.deploys.get(&line.target.key).into_iter().flatten();
        let again = deploys.any(|job| job.version == candidate.version.id && job.intent == Intent::Redeploy);
        broken.unless(again || look.is_steered(line.target.key) || !older, || {
            format!("{path}: a candidate is not newer than what it runs")
        });
    }
    // What people and rollbacks steer, and queues, have their own order.
    if look.is_steered(line.target.key) || look.is_queue() {
        return;
    }
    match line.candidates.iter().position(is_free) {
        Some(place) => {
            broken.unless(place + 1 == line.candidates.len(), || {
                format!("{path}: older versions than needed are asked about")
            });
            let should = line.candidates[place].release;
            broken.unless(state.desired == should, || format!("{path}: it should run the first that may go"));
        }
        None => {
            let before = look.before.get(&line.target.key).and_then(|state| state.desired);
            let kept = state.desired == before || state.desired == state.current;
            broken.unless(kept, || format!("{path}: nothing may go, and it should run something else than before"));
        }
    }
}

fn standing(look: &Look<'_>, line: &TargetReport, broken: &mut Broken) {
    let (path, key) = (line.target.path(), line.target.key);
    let starts = look.creating.contains_key(&key);
    let job = look.unfinished(key).filter(|job| in_hand(job) || !look.called_off.contains(&job.id));
    let first_is_held = line.candidates.first().is_some_and(|first| !is_free(first));
    let one_is_free = line.candidates.iter().any(is_free);
    let desired = look.after.get(&key).and_then(|state| state.desired);
    let served = job.is_some_and(|job| Some(job.release) == desired);
    let tried = || {
        let jobs = look.deploys.get(&key).into_iter().flatten();
        jobs.filter(|job| Some(job.release) == desired).any(|job| ended(job).is_some())
    };
    let true_of_it = match line.standing {
        Standing::NoVersion => line.current.is_none() && line.candidates.is_empty() && job.is_none(),
        Standing::UpToDate => line.current.is_some() && line.candidates.is_empty() && job.is_none(),
        Standing::Deploying => starts || served || (job.is_some() && !one_is_free),
        Standing::Blocked => first_is_held && !one_is_free && job.is_none(),
        Standing::Waiting => one_is_free && !served,
        Standing::Failed => one_is_free && tried() && job.is_none(),
        Standing::NoAgent => one_is_free && look.snapshot.job_agent.is_none(),
        Standing::Detached => line.candidates.is_empty(),
        Standing::Verifying => {
            let mut deploys = look.deploys.get(&key).into_iter().flatten();
            deploys.any(|job| ended(job) == Some(FinalStatus::Completed) && !look.verified.contains_key(&job.id))
        }
        Standing::Held => look.holds.contains_key(&key),
    };
    broken.unless(true_of_it, || format!("{path}: `{}` is not where it stands", line.standing.name()));
    broken.unless(!starts || line.standing == Standing::Deploying, || format!("{path}: a job starts unreported"));
}

/// A ready version that is newer than what the target runs and whose release stands is a candidate, or in its way
/// stands one that is; so a target that could move never says that it is where it should be.
fn unexplained(look: &Look<'_>, line: &TargetReport, broken: &mut Broken) {
    match line.standing {
        Standing::UpToDate | Standing::NoVersion => {}
        Standing::Deploying
        | Standing::Verifying
        | Standing::Held
        | Standing::Blocked
        | Standing::Waiting
        | Standing::Failed
        | Standing::NoAgent
        | Standing::Detached => return,
    }
    let open = look.snapshot.versions.iter().find(|version| {
        version.status == VersionStatus::Ready
            && !look.closed_before.contains(&(line.target.key, version.id))
            && line.current.as_ref().is_none_or(|current| younger(version, current))
    });
    if let Some(version) = open {
        broken.unless(false, || {
            format!(
                "{}: {} may come and is not there, and the line says nothing of it",
                line.target.path(),
                version.tag
            )
        });
    }
}

/// Whatever a rule waits for, and the end of what it allows, wakes the planner; nothing wakes it in the past.
fn when(look: &Look<'_>, line: &TargetReport, broken: &mut Broken) {
    let path = line.target.path();
    let late = |at: &Timestamp| *at <= look.now;
    broken.unless(!line.next_evaluation.as_ref().is_some_and(late), || format!("{path}: it wakes in the past"));
    let gates = line.candidates.iter().flat_map(|candidate| &candidate.gates);
    for decision in gates.map(|gate| &gate.decision) {
        let until = match decision.answer.verdict {
            Verdict::Wait(until) => until,
            Verdict::Allow => decision.answer.valid_until,
            Verdict::Deny => None,
        };
        let Some(until) = until else { continue };
        let rule = &decision.rule_label;
        broken.unless(!late(&until), || format!("{path}: {rule} names a time that is over"));
        let wakes = line.next_evaluation.is_some_and(|at| at <= until);
        broken.unless(wakes || late(&until), || format!("{path}: it sleeps through what {rule} waits for"));
    }
}
