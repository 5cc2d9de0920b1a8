//! Gates: which questions are open, and what an answer or a failure to answer means. Fails closed.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use model::{
    approval::Approval,
    decision::{Decision, DecisionScope, GateAnswer, Verdict},
    id::{DecisionId, EnvironmentId, IdSource, RuleId, VersionId},
    plugin::{Fault, FaultCode, Plugin, Scope},
    policy::OnError,
    question::{Answer, Ask, GateRequest, Intent, JobFacts, Question, TargetFacts},
    release_target::TargetKey,
    snapshot::Snapshot,
    time::Timestamp,
};

use crate::{
    rules::{GoverningRule, Governor},
    target::{Target, job_facts},
};

/// One answer's key: the rule, the version, and where the answer holds.
pub type GateKey = (RuleId, VersionId, DecisionScope);

/// All gate answers of a pass.
pub struct Gates {
    now: Timestamp,
    decisions: HashMap<GateKey, Decision>,
    asked: HashSet<GateKey>,
    last: HashMap<GateKey, Decision>,
    approvals: HashMap<(VersionId, EnvironmentId), Arc<[Approval]>>,
    no_approvals: Arc<[Approval]>,
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
        let mut approvals: HashMap<(VersionId, EnvironmentId), Vec<Approval>> = HashMap::new();
        for approval in &snapshot.approvals {
            approvals.entry((approval.version, approval.environment)).or_default().push(approval.clone());
        }
        let last = snapshot
            .decisions
            .iter()
            .map(|decision| ((decision.rule, decision.version, decision.scope), decision.clone()))
            .collect();
        Self {
            now,
            decisions: HashMap::new(),
            asked: HashSet::new(),
            last,
            approvals: approvals.into_iter().map(|(key, list)| (key, list.into())).collect(),
            no_approvals: Arc::from([]),
            changed: Vec::new(),
        }
    }

    /// What `rule` says of the version at `target`, if it has said anything yet.
    pub fn decision(&self, rule: &GoverningRule, version: VersionId, target: TargetKey) -> Option<&Decision> {
        self.decisions.get(&gate_key(rule, version, target))
    }

    /// Asks what `rule` says, unless that is known or asked already. What nobody can answer is answered at once.
    pub fn open(
        &mut self,
        snapshot: &Snapshot,
        ids: &mut IdSource,
        target: &Target,
        rule: &GoverningRule,
        candidate: usize,
        intent: Intent,
    ) -> Option<OpenGate> {
        let version = &snapshot.versions[candidate];
        let key = gate_key(rule, version.id, target.target.key);
        if self.decisions.contains_key(&key) || !self.asked.insert(key) {
            return None;
        }
        let plugin = match &rule.by {
            Governor::Plugin(plugin) => plugin,
            Governor::Nobody(fault) => {
                self.record(ids, key, rule, Answer::Fault(fault.clone()));
                return None;
            }
        };
        let request = self.request(snapshot, target, plugin, key.2, candidate, intent);
        let question = Question {
            digest: plugin.digest,
            now: self.now,
            rule: Arc::clone(&rule.rule),
            ask: Ask::Gate(Box::new(request)),
        };
        Some(OpenGate { key, rule: rule.clone(), question })
    }

    /// Takes an answer in.
    pub fn record(&mut self, ids: &mut IdSource, key: GateKey, rule: &GoverningRule, answer: Answer) {
        let (answer, fault) = self.understand(rule, answer);
        let decision = Decision {
            id: DecisionId(ids.next(self.now)),
            workspace: rule.policy.workspace,
            policy: rule.policy.id,
            rule: rule.rule.id,
            rule_label: rule.rule.label().to_owned(),
            digest: match &rule.by {
                Governor::Plugin(plugin) => Some(plugin.digest),
                Governor::Nobody(_) => None,
            },
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

    fn request(
        &self,
        snapshot: &Snapshot,
        target: &Target,
        plugin: &Plugin,
        scope: DecisionScope,
        candidate: usize,
        intent: Intent,
    ) -> GateRequest {
        let version = &snapshot.versions[candidate];
        let at = |index: Option<usize>| index.map(|index| Arc::clone(&snapshot.versions[index]));
        let facts = plugin.manifest.facts;
        let environment = target.target.environment.id;
        GateRequest {
            // One answer for many targets is not about any one target's attempt.
            intent: if scope.resource.is_some() { intent } else { Intent::Automatic },
            candidate: Arc::clone(version),
            deployment: Arc::clone(&snapshot.deployment),
            environment: scope.environment.map(|_| Arc::clone(&target.target.environment)),
            target: scope.resource.map(|_| TargetFacts {
                target: Arc::clone(&target.target),
                current: at(target.current),
                in_progress: at(target.in_progress),
            }),
            approvals: (facts.approvals && scope.environment.is_some())
                .then(|| Arc::clone(self.approvals.get(&(version.id, environment)).unwrap_or(&self.no_approvals))),
            target_jobs: (facts.target_jobs && scope.resource.is_some()).then(|| {
                target.jobs.iter().rev().map(|job| job_facts(&snapshot.jobs[*job])).collect::<Vec<JobFacts>>().into()
            }),
            version_history: facts.version_history.then(|| snapshot.versions.clone().into()),
        }
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
            Answer::Retry(_) | Answer::Sequence(_) => {
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

fn gate_key(rule: &GoverningRule, version: VersionId, target: TargetKey) -> GateKey {
    (rule.rule.id, version, decision_scope(rule.scope(), target))
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
