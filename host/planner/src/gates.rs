//! Gates: which questions are open, and what an answer or a failure to answer means. Fails closed.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use model::{
    decision::{Decision, DecisionScope, GateAnswer, Verdict},
    id::{DecisionId, IdSource, RuleId, VersionId},
    limits::{ASK_AGAIN_SECONDS_MAX, ASK_AGAIN_SECONDS_MIN},
    plugin::{Digest, Fault, FaultCode, Scope},
    policy::{OnError, RuleMode},
    question::{Answer, Ask, GateRequest, Question},
    release_target::TargetKey,
    skip::{Skip, Skipped},
    snapshot::Snapshot,
    time::Timestamp,
    version::Version,
};

use crate::{
    rules::{GoverningRule, Governor},
    target::Target,
};

/// One answer's key: the rule, the version, and where the answer holds.
pub type GateKey = (RuleId, VersionId, DecisionScope);

/// All gate answers of a pass.
pub struct Gates {
    now: Timestamp,
    decisions: HashMap<GateKey, Decision>,
    asked: HashSet<GateKey>,
    last: HashMap<GateKey, Decision>,
    /// In force, by rule, oldest first.
    skips: HashMap<RuleId, Vec<Skip>>,
    changed: Vec<GateKey>,
}

/// A gate question and where its answer goes.
pub struct OpenGate {
    pub key: GateKey,
    pub rule: GoverningRule,
    pub question: Question,
}

impl Gates {
    pub fn new(snapshot: &Snapshot, now: Timestamp) -> Self {
        let last = snapshot
            .decisions
            .iter()
            .map(|decision| ((decision.rule, decision.version, decision.scope), decision.clone()))
            .collect();
        let mut skips: HashMap<RuleId, Vec<Skip>> = HashMap::new();
        for skip in &snapshot.skips {
            if let (Skipped::Rule(_, rule), true) = (skip.skipped, skip.expires_at.is_none_or(|end| now < end)) {
                skips.entry(rule).or_default().push(skip.clone());
            }
        }
        Self { now, decisions: HashMap::new(), asked: HashSet::new(), last, skips, changed: Vec::new() }
    }

    /// What `rule` says of the version at `target`, if it has said anything yet.
    pub fn decision(&self, rule: &GoverningRule, version: VersionId, target: &Target) -> Option<&Decision> {
        self.decisions.get(&self.key(rule, version, target))
    }

    /// Where the rule's answer holds: as far as the rule reaches, or as far as what stands in its place does.
    pub fn key(&self, rule: &GoverningRule, version: VersionId, target: &Target) -> GateKey {
        let key = target.target.key;
        let scope = match self.skip(rule, version, key) {
            Some(skip) => skip.scope,
            None if is_exempt(rule, target) => decision_scope(Scope::Target, key),
            None => decision_scope(rule.scope(), key),
        };
        (rule.rule.id, version, scope)
    }

    /// The skip that stands in the rule's place there: the one that reaches furthest.
    fn skip(&self, rule: &GoverningRule, version: VersionId, target: TargetKey) -> Option<&Skip> {
        let skips = self.skips.get(&rule.rule.id)?.iter().filter(|skip| skip.covers(version, target, self.now));
        skips.min_by_key(|skip| (skip.scope.resource.is_some(), skip.scope.environment.is_some()))
    }

    /// What needs no question: nobody can answer, a person skipped the rule, or it does not hold a first deployment.
    pub fn answer_at_once(&mut self, ids: &mut IdSource, target: &Target, rule: &GoverningRule, version: &Version) {
        let key = self.key(rule, version.id, target);
        if self.decisions.contains_key(&key) {
            return;
        }
        if let Some(skip) = self.skip(rule, version.id, target.target.key) {
            let answer = skipped(skip);
            self.record_answer(ids, key, rule, None, answer, None);
        } else if let Governor::Nobody(fault) = &rule.by {
            self.record(ids, key, rule, Answer::Fault(fault.clone()));
        } else if is_exempt(rule, target) {
            let reason = "the target runs nothing yet, and this rule does not hold a first deployment \
                          (`appliesToFirst: true` turns that round)";
            let answer = GateAnswer {
                verdict: Verdict::Allow,
                reason: reason.to_owned(),
                satisfied_at: None,
                valid_until: None,
                details: BTreeMap::from([("firstDeployment".to_owned(), "true".to_owned())]),
            };
            self.record_answer(ids, key, rule, None, answer, None);
        }
    }

    /// A rollout that cannot begin yet is not asked: its clock does not run.
    pub fn wait_for_others(&mut self, ids: &mut IdSource, target: &Target, rule: &GoverningRule, version: &Version) {
        let key = self.key(rule, version.id, target);
        let answer = GateAnswer {
            verdict: Verdict::Wait(None),
            reason: "the rollout begins when every other rule lets the version go here".to_owned(),
            satisfied_at: None,
            valid_until: None,
            details: BTreeMap::new(),
        };
        self.record_answer(ids, key, rule, None, answer, None);
    }

    /// Asks what `rule` says, unless that is known or asked already.
    pub fn open(
        &mut self,
        target: &Target,
        rule: &GoverningRule,
        version: &Version,
        request: impl FnOnce(DecisionScope) -> GateRequest,
    ) -> Option<OpenGate> {
        let key = self.key(rule, version.id, target);
        let Governor::Plugin(plugin) = &rule.by else { return None };
        if self.decisions.contains_key(&key) || !self.asked.insert(key) {
            return None;
        }
        let question = Question {
            digest: plugin.digest,
            now: self.now,
            rule: Arc::clone(&rule.rule),
            ask: Ask::Gate(Box::new(request(key.2))),
        };
        Some(OpenGate { key, rule: rule.clone(), question })
    }

    /// Whether the question is on its way.
    pub fn is_asked(&self, rule: &GoverningRule, version: VersionId, target: &Target) -> bool {
        self.asked.contains(&self.key(rule, version, target))
    }

    /// Forgets that a question was asked, since what it was asked with no longer holds.
    pub fn ask_anew(&mut self, key: &GateKey) {
        self.asked.remove(key);
    }

    /// Takes an answer in.
    pub fn record(&mut self, ids: &mut IdSource, key: GateKey, rule: &GoverningRule, answer: Answer) {
        let (answer, fault) = self.understand(rule, answer);
        let digest = match &rule.by {
            Governor::Plugin(plugin) => Some(plugin.digest),
            Governor::Planner(_) | Governor::Nobody(_) => None,
        };
        self.record_answer(ids, key, rule, digest, answer, fault);
    }

    fn record_answer(
        &mut self,
        ids: &mut IdSource,
        key: GateKey,
        rule: &GoverningRule,
        digest: Option<Digest>,
        answer: GateAnswer,
        fault: Option<FaultCode>,
    ) {
        let decision = Decision {
            id: DecisionId(ids.next(self.now)),
            workspace: rule.policy.workspace,
            policy: rule.policy.id,
            rule: rule.rule.id,
            rule_label: rule.rule.label().to_owned(),
            digest,
            version: key.1,
            scope: key.2,
            mode: rule.rule.mode,
            answer,
            fault,
            at: self.now,
        };
        match self.last.get(&key) {
            Some(last) if !decision.differs_from(last) => {
                self.decisions.insert(key, last.clone());
            }
            _ => {
                self.changed.push(key);
                self.decisions.insert(key, decision);
            }
        }
    }

    /// Decisions that say something else than the last of their key did, in the order in which they were made.
    pub fn changed(&self) -> impl Iterator<Item = &Decision> {
        self.changed.iter().filter_map(|key| self.decisions.get(key))
    }

    /// Whether rules, all of which have spoken, let the version go: every one of them, and of those that are joined by
    /// or one.
    pub fn let_go<'a>(
        &self,
        rules: impl Iterator<Item = &'a GoverningRule>,
        version: VersionId,
        target: &Target,
    ) -> bool {
        let mut groups: BTreeMap<&str, bool> = BTreeMap::new();
        let mut all = true;
        for rule in rules.filter(|rule| rule.rule.mode == RuleMode::Enforce) {
            let goes = self.decision(rule, version, target).is_some_and(Decision::lets_go);
            match &rule.rule.any_of {
                None => all &= goes,
                Some(name) => *groups.entry(name).or_default() |= goes,
            }
        }
        all && groups.into_values().all(|one| one)
    }

    /// When the last of the target's rules came to let the version go, but for those that want to know the target's
    /// place in a rollout; when the version became ready, if none says. Of rules joined by or the first counts.
    pub fn satisfied_at(&self, target: &Target, version: &Version) -> Timestamp {
        let mut groups: BTreeMap<&str, Option<Timestamp>> = BTreeMap::new();
        let mut latest: Option<Timestamp> = None;
        let others = target.rules.gates().filter(|rule| !rule.is_rollout() && rule.rule.mode == RuleMode::Enforce);
        for rule in others {
            let decision = self.decision(rule, version.id, target).filter(|decision| decision.lets_go());
            let Some(satisfied) = decision.and_then(|decision| decision.answer.satisfied_at) else { continue };
            match &rule.rule.any_of {
                None => latest = latest.max(Some(satisfied)),
                Some(name) => {
                    let first = groups.entry(name).or_default();
                    *first = Some(first.map_or(satisfied, |first| first.min(satisfied)));
                }
            }
        }
        let latest = groups.into_values().fold(latest, Option::max);
        let ready_at = version.ready_at.unwrap_or(version.received_at);
        latest.map_or(ready_at, |latest| latest.max(ready_at)).min(self.now)
    }

    /// What an answer means. A rule that did not answer, or not in the terms of the interface, blocks, unless the
    /// rule says `onError: allow`.
    fn understand(&self, rule: &GoverningRule, answer: Answer) -> (GateAnswer, Option<FaultCode>) {
        let fault = match answer {
            Answer::Gate(answer) => match (answer.verdict, answer.valid_until) {
                (Verdict::Wait(Some(until)), _) if until <= self.now => Fault {
                    code: FaultCode::InvalidOutput,
                    message: format!("it waits for {until}, which is not after now ({})", self.now),
                },
                (Verdict::Allow, Some(until)) if until <= self.now => Fault {
                    code: FaultCode::InvalidOutput,
                    message: format!("it allows until {until}, which is not after now ({})", self.now),
                },
                (Verdict::Allow | Verdict::Wait(_) | Verdict::Deny, _) => return (answer, None),
            },
            Answer::Fault(fault) => fault,
            Answer::Retry(_) | Answer::Sequence(_) | Answer::Verify(_) => {
                Fault { code: FaultCode::InvalidOutput, message: "it answered another hook's question".to_owned() }
            }
        };
        let (verdict, effect) = match rule.rule.on_error {
            OnError::Block => (Verdict::Deny, "it blocks"),
            OnError::Allow => (Verdict::Allow, "`onError: allow` lets the version go"),
        };
        let reason = format!("the rule could not answer, so {effect}: {}", fault.message);
        let details = BTreeMap::from([("fault".to_owned(), fault.code.name().to_owned())]);
        (GateAnswer { verdict, reason, satisfied_at: None, valid_until: None, details }, Some(fault.code))
    }
}

/// Whether the rule leaves the target alone until something runs there.
fn is_exempt(rule: &GoverningRule, target: &Target) -> bool {
    !rule.rule.applies_to_first && target.current.is_none() && matches!(rule.by, Governor::Plugin(_))
}

fn skipped(skip: &Skip) -> GateAnswer {
    let until = skip.expires_at.map_or_else(String::new, |end| format!(" until {end}"));
    GateAnswer {
        verdict: Verdict::Allow,
        reason: format!("skipped by {}{until}: {}", skip.user, skip.reason),
        satisfied_at: Some(skip.created_at),
        valid_until: skip.expires_at,
        details: BTreeMap::from([("skippedBy".to_owned(), skip.user.clone())]),
    }
}

/// Whether the machine was at fault rather than the rule, so that asking again may bring an answer.
pub fn is_transient(code: FaultCode) -> bool {
    matches!(code, FaultCode::EvalTimeout | FaultCode::Overloaded)
}

/// When to ask again what could not be answered since some time: soon at first, then ever more rarely.
pub fn ask_again_at(since: Timestamp, now: Timestamp) -> Timestamp {
    let seconds = (now.millis_since(since) / 1000).clamp(ASK_AGAIN_SECONDS_MIN, ASK_AGAIN_SECONDS_MAX);
    now.plus_seconds(seconds)
}

/// Where an answer of that scope holds, for a target in it.
pub fn decision_scope(scope: Scope, target: TargetKey) -> DecisionScope {
    let (environment, resource) = match scope {
        Scope::Target => (Some(target.environment), Some(target.resource)),
        Scope::Environment => (Some(target.environment), None),
        Scope::Deployment | Scope::System | Scope::Workspace => (None, None),
    };
    DecisionScope { deployment: target.deployment, environment, resource }
}
