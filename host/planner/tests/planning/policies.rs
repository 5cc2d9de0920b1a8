//! Policies as native functions: what the tests ask in place of plugins.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use model::{
    Labels,
    approval::ApprovalDecision,
    decision::{GateAnswer, Verdict},
    plugin::{FactKinds, Fault, FaultCode, Hooks, Scope},
    question::{
        Answer, Ask, GateRequest, Question, RetryAnswer, RetryRequest, SequenceRequest, SequenceStep, VerifyRequest,
    },
    time::Timestamp,
};

/// What answers in place of a plugin.
pub type Brain = Rc<dyn Fn(&Question) -> Answer>;

pub const GATE: Hooks = Hooks { gate: true, retry: false, sequence: false, verify: false };
pub const RETRY: Hooks = Hooks { gate: false, retry: true, sequence: false, verify: false };
pub const SEQUENCE: Hooks = Hooks { gate: false, retry: false, sequence: true, verify: false };

/// A policy to upload: its name, hooks and scope, and what it says.
pub struct Native {
    pub name: &'static str,
    pub hooks: Hooks,
    pub scope: Scope,
    pub facts: FactKinds,
    pub brain: Brain,
}

const FACTS: FactKinds = FactKinds {
    approvals: true,
    target_jobs: true,
    version_history: false,
    environment_progress: false,
    dependencies: false,
    rollout_position: false,
};
pub const VERIFY: Hooks = Hooks { gate: false, retry: false, sequence: false, verify: true };

pub fn gate(name: &'static str, brain: impl Fn(&GateRequest) -> Answer + 'static) -> Native {
    let brain = move |question: &Question| match &question.ask {
        Ask::Gate(request) => brain(request),
        Ask::Retry(_) | Ask::Sequence(_) | Ask::Verify(_) => panic!("a gate is asked something else"),
    };
    Native { name, hooks: GATE, scope: Scope::Target, facts: FACTS, brain: Rc::new(brain) }
}

pub fn retry(name: &'static str, brain: impl Fn(&RetryRequest, Timestamp) -> Answer + 'static) -> Native {
    let brain = move |question: &Question| match &question.ask {
        Ask::Retry(request) => brain(request, question.now),
        Ask::Gate(_) | Ask::Sequence(_) | Ask::Verify(_) => panic!("a retry is asked something else"),
    };
    Native { name, hooks: RETRY, scope: Scope::Target, facts: FACTS, brain: Rc::new(brain) }
}

pub fn sequence(name: &'static str, scope: Scope, brain: impl Fn(&SequenceRequest) -> Answer + 'static) -> Native {
    let brain = move |question: &Question| match &question.ask {
        Ask::Sequence(request) => brain(request),
        Ask::Gate(_) | Ask::Retry(_) | Ask::Verify(_) => panic!("a sequence is asked something else"),
    };
    Native { name, hooks: SEQUENCE, scope, facts: FACTS, brain: Rc::new(brain) }
}

pub fn verify(name: &'static str, brain: impl Fn(&VerifyRequest, Timestamp) -> Answer + 'static) -> Native {
    let brain = move |question: &Question| match &question.ask {
        Ask::Verify(request) => brain(request, question.now),
        Ask::Gate(_) | Ask::Retry(_) | Ask::Sequence(_) => panic!("a verification is asked something else"),
    };
    Native { name, hooks: VERIFY, scope: Scope::Target, facts: FACTS, brain: Rc::new(brain) }
}

pub fn answer(verdict: Verdict, reason: &str) -> GateAnswer {
    GateAnswer { verdict, reason: reason.to_owned(), satisfied_at: None, valid_until: None, details: Labels::new() }
}

pub fn allow(reason: &str) -> Answer {
    Answer::Gate(answer(Verdict::Allow, reason))
}

pub fn deny(reason: &str) -> Answer {
    Answer::Gate(answer(Verdict::Deny, reason))
}

pub fn wait(until: Option<Timestamp>, reason: &str) -> Answer {
    Answer::Gate(answer(Verdict::Wait(until), reason))
}

pub fn trap() -> Answer {
    Answer::Fault(Fault { code: FaultCode::EvalTrap, message: "it ran into unreachable code".to_owned() })
}

/// A gate that says what the switch is set to, for each version; it lets go what nothing is said of.
#[derive(Clone, Default)]
pub struct Switch(Rc<RefCell<BTreeMap<String, Answer>>>);

impl Switch {
    /// From now on says that of the version with this tag, or of every one (`*`).
    pub fn set(&self, tag: &str, answer: Answer) {
        self.0.borrow_mut().insert(tag.to_owned(), answer);
    }

    pub fn gate(&self, name: &'static str) -> Native {
        let switch = self.clone();
        gate(name, move |request| {
            let set = switch.0.borrow();
            let said = set.get(&request.candidate.tag).or_else(|| set.get("*"));
            said.cloned().unwrap_or_else(|| allow("nothing is in its way"))
        })
    }
}

/// The approval rule in small: so many people must have said yes, and none no.
pub fn approval(needed: usize) -> Native {
    let native = gate("approval", move |request| {
        let given = request.approvals.as_ref().expect("an environment's approvals are shown");
        let (yes, no): (Vec<_>, Vec<_>) =
            given.iter().partition(|approval| approval.decision == ApprovalDecision::Approved);
        if let Some(no) = no.first() {
            return deny(&format!("{} rejected it", no.user));
        }
        if yes.len() < needed {
            return wait(None, &format!("{} of {needed} approvals", yes.len()));
        }
        let mut answer = answer(Verdict::Allow, "approved");
        answer.satisfied_at = yes.last().map(|approval| approval.at);
        Answer::Gate(answer)
    });
    Native { scope: Scope::Environment, ..native }
}

/// Another attempt `seconds` after the last ended, at most `retries` of them.
pub fn retry_after(retries: usize, seconds: i64) -> Native {
    retry("retry", move |request, _| {
        let last = request.attempts.last().expect("something was tried");
        if request.attempts.len() > retries {
            return Answer::Retry(RetryAnswer::GiveUp(format!("{retries} retries were made")));
        }
        let ended = last.completed_at.expect("the last attempt has ended");
        Answer::Retry(RetryAnswer::RetryAt(ended.plus_seconds(seconds)))
    })
}

/// At most `limit` jobs at once in each group; the others are held.
pub fn at_most(limit: usize, scope: Scope) -> Native {
    sequence("sequence", scope, move |request| {
        let free = limit.saturating_sub(request.running.len());
        let step = |(place, ready): (usize, &model::question::ReadyRelease)| match place < free {
            true => SequenceStep::Start(ready.id),
            false => SequenceStep::Hold(ready.id, format!("{limit} at once")),
        };
        Answer::Sequence(request.ready.iter().enumerate().map(step).collect())
    })
}

/// A newer version stops whatever runs on its target.
pub fn newest_first() -> Native {
    sequence("sequence", Scope::Target, |request| {
        let cancels = request.running.iter().map(|running| {
            SequenceStep::Cancel(running.job.id, format!("{} takes its place", request.ready[0].version.tag))
        });
        let starts = request.ready.iter().map(|ready| SequenceStep::Start(ready.id));
        Answer::Sequence(starts.chain(cancels).collect())
    })
}
