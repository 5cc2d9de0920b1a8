//! Gates: nothing goes that an enforced rule holds, every rule was asked, and what changed is on record.

use std::collections::HashMap;

use model::{
    decision::{Decision, DecisionScope, Verdict},
    id::{DecisionId, RuleId, VersionId},
    plan::Step,
    policy::{Policy, RuleKey, RuleMode},
    release_target::ReleaseTarget,
    report::{CandidateReport, TargetReport},
    skip::Skipped,
};
use selectors::{Bindings, NamedView, Place, ResourceView, Selector};

use super::{Broken, look::Look};

type Key = (RuleId, VersionId, DecisionScope);

/// Whether the decision keeps the version where it is.
pub fn holds(decision: &Decision) -> bool {
    decision.mode == RuleMode::Enforce && decision.answer.verdict != Verdict::Allow
}

/// Whether nothing keeps the candidate: no freeze, no rule, and of rules joined by or at least one lets it go.
pub fn is_free(candidate: &CandidateReport) -> bool {
    let enforced = || candidate.gates.iter().filter(|gate| gate.decision.mode == RuleMode::Enforce);
    candidate.blocks.is_empty()
        && enforced().filter(|gate| holds(&gate.decision)).all(|gate| {
            gate.any_of.is_some()
                && enforced()
                    .any(|other| other.any_of == gate.any_of && other.decision.answer.verdict == Verdict::Allow)
        })
}

pub fn check(look: &Look<'_>, broken: &mut Broken) {
    let selectors: Vec<(&Policy, Option<Selector>)> = look
        .snapshot
        .policies
        .iter()
        .filter(|policy| policy.enabled)
        .map(|policy| (policy.as_ref(), Selector::parse(&policy.selector, Place::Policy).ok()))
        .collect();
    for line in &look.report.targets {
        let must_be_asked = rules_of(look, line, &selectors);
        for candidate in &line.candidates {
            let held = look.snapshot.holds.iter().chain(look.holds.values().copied());
            let mut held = held.filter(|hold| hold.target == line.target.key);
            // What a rollback goes back to, and what it keeps away, needs no rule's word.
            if candidate.gates.is_empty() && held.next().is_some() {
                continue;
            }
            asked(line, candidate, &must_be_asked, broken);
        }
    }
    for (key, job) in &look.creating {
        let candidates = look.lines.get(key).into_iter().flat_map(|line| &line.candidates);
        let candidate = candidates.into_iter().find(|candidate| candidate.version.id == job.version);
        let Some(candidate) = candidate else {
            broken.unless(false, || format!("{}: a job starts and no rule was asked", look.name(*key)));
            continue;
        };
        broken
            .unless(is_free(candidate), || format!("{}: a job starts that a rule or a freeze holds", look.name(*key)));
    }
    records(look, broken);
}

/// The rules that must have had their say on the target, and which of them nobody can answer for.
fn rules_of(look: &Look<'_>, line: &TargetReport, policies: &[(&Policy, Option<Selector>)]) -> Vec<(RuleId, bool)> {
    let mut rules = Vec::new();
    let mut last = Vec::new();
    for (policy, selector) in policies {
        let found = selector.as_ref().map(|selector| selector.matches(&bindings(&line.target)));
        let failed = !matches!(found, Some(Ok(_)));
        if let Some(Ok(false)) = found {
            continue;
        }
        for rule in policy.rules.iter().filter(|rule| rule.key != RuleKey::Rollback) {
            let plugin = rule.plugin.resolve(look.snapshot.plugins.iter().map(AsRef::as_ref));
            if failed || plugin.is_none_or(|plugin| plugin.manifest.hooks.gate) {
                let turn = !failed && plugin.is_some_and(|plugin| plugin.manifest.facts.rollout_position);
                if turn { &mut last } else { &mut rules }.push((rule.id, failed || plugin.is_none()));
            }
        }
    }
    rules.append(&mut last);
    rules
}

fn bindings(target: &ReleaseTarget) -> Bindings<'_> {
    let ReleaseTarget { deployment, environment, resource, .. } = target;
    Bindings::of_target(
        NamedView { id: deployment.id.0, name: &deployment.name, metadata: &deployment.metadata },
        NamedView { id: environment.id.0, name: &environment.name, metadata: &environment.metadata },
        ResourceView {
            id: resource.id.0,
            identifier: &resource.identifier,
            name: &resource.name,
            kind: &resource.kind,
            version: &resource.version,
            metadata: &resource.metadata,
            config: &resource.config,
        },
    )
}

/// Every rule was asked, also after another said no, in order, and each said something that holds for this target.
fn asked(line: &TargetReport, candidate: &CandidateReport, rules: &[(RuleId, bool)], broken: &mut Broken) {
    let what = || format!("{}: {}", line.target.path(), candidate.version.tag);
    let said: Vec<RuleId> = candidate.gates.iter().map(|gate| gate.decision.rule).collect();
    let wanted: Vec<RuleId> = rules.iter().map(|(rule, _)| *rule).collect();
    broken.unless(said == wanted, || format!("{} has not every rule's word, in order", what()));
    for gate in &candidate.gates {
        let decision = &gate.decision;
        let key = line.target.key;
        let here = decision.version == candidate.version.id
            && decision.scope.deployment == key.deployment
            && decision.scope.environment.is_none_or(|environment| environment == key.environment)
            && decision.scope.resource.is_none_or(|resource| resource == key.resource);
        broken.unless(here, || format!("{}: a decision of another place", what()));
        broken.unless(!decision.answer.reason.trim().is_empty(), || format!("{}: a decision has no reason", what()));
        let nobody = rules.iter().any(|(rule, nobody)| *rule == decision.rule && *nobody);
        let skipped =
            candidate.skips.iter().any(|skip| matches!(skip.skipped, Skipped::Rule(_, rule) if rule == decision.rule));
        broken.unless(!nobody || skipped || decision.fault.is_some(), || {
            format!("{}: {} was answered, and there is nobody to ask", what(), decision.rule_label)
        });
    }
}

/// Decisions are recorded when they say something new, and only then.
fn records(look: &Look<'_>, broken: &mut Broken) {
    let key = |decision: &Decision| -> Key { (decision.rule, decision.version, decision.scope) };
    let last: HashMap<Key, &Decision> =
        look.snapshot.decisions.iter().map(|decision| (key(decision), decision)).collect();
    let candidates = look.report.targets.iter().flat_map(|line| &line.candidates);
    let reported: HashMap<Key, &Decision> =
        candidates.flat_map(|of| &of.gates).map(|gate| (key(&gate.decision), &gate.decision)).collect();
    let mut recorded: HashMap<Key, DecisionId> = HashMap::new();
    for step in &look.plan.steps {
        let Step::RecordDecision(decision) = step else { continue };
        let label = &decision.rule_label;
        let once = recorded.insert(key(decision), decision.id).is_none();
        broken.unless(once, || format!("{label}: two decisions for one version and place"));
        broken.unless(decision.at == look.now, || format!("{label}: a decision of another time than now"));
        broken.unless(reported.get(&key(decision)) == Some(&decision), || {
            format!("{label}: a decision is recorded that is not reported")
        });
        let same = last.get(&key(decision)).is_some_and(|last| {
            last.answer == decision.answer
                && last.fault == decision.fault
                && last.mode == decision.mode
                && last.digest == decision.digest
                && last.rule_label == decision.rule_label
        });
        broken.unless(!same, || format!("{label}: a decision is recorded that says what the last one said"));
    }
    for (key, decision) in reported {
        let known = last.get(&key).is_some_and(|last| last.id == decision.id);
        broken.unless(known || recorded.get(&key) == Some(&decision.id), || {
            format!("{}: a decision is reported and not recorded", decision.rule_label)
        });
    }
}
