//! Records to domain types: what a guest answered, checked against the interface's rules. Nothing of an answer that
//! breaks one is used.

use std::collections::BTreeSet;

use model::{
    Labels,
    decision::{GateAnswer, Verdict},
    id::{JobId, ReleaseId},
    limits::NAME_BYTES_MAX,
    plugin::{Fault, FaultCode},
    question::{RetryAnswer, SequenceRequest, SequenceStep},
    time::Timestamp,
};

use super::bindings::exports::tidegate::policy::{gate, retry, sequence};
use crate::{Limits, fault::fault};

/// The last millisecond of the year 9999; later ones have no RFC 3339 text.
const LAST_INSTANT_MILLIS: i64 = 253_402_300_799_999;

/// Reads answers of one policy.
pub(crate) struct Reader<'a> {
    /// Which policy, as people call it.
    pub(crate) policy: &'a str,
    /// The request's now.
    pub(crate) now: Timestamp,
    /// How large an answer may be.
    pub(crate) limits: &'a Limits,
}

impl Reader<'_> {
    /// A gate's answer.
    pub(crate) fn gate(&self, decision: gate::Decision) -> Result<GateAnswer, Fault> {
        let verdict = match decision.verdict {
            gate::Verdict::Allow => Verdict::Allow,
            gate::Verdict::Wait(None) => Verdict::Wait(None),
            gate::Verdict::Wait(Some(at)) => Verdict::Wait(Some(self.later("wait", at)?)),
            gate::Verdict::Deny => Verdict::Deny,
        };
        if decision.reason.trim().is_empty() && verdict != Verdict::Allow {
            return Err(self.invalid(&format!("answered {} without a reason", verdict.name())));
        }
        let details = self.details(decision.details)?;
        let bytes = decision.reason.len() + details.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        self.size("an answer", bytes, self.limits.answer_bytes)?;
        Ok(GateAnswer {
            verdict,
            reason: self.text("a reason", decision.reason)?,
            satisfied_at: decision.satisfied_at.map(|at| self.instant("satisfied-at", at)).transpose()?,
            valid_until: decision.valid_until.map(|at| self.later("valid-until", at)).transpose()?,
            details,
        })
    }

    /// A retry's answer. A time that is over means at once.
    pub(crate) fn retry(&self, decision: retry::Decision) -> Result<RetryAnswer, Fault> {
        Ok(match decision {
            retry::Decision::RetryAt(at) => RetryAnswer::RetryAt(self.instant("retry-at", at)?),
            retry::Decision::GiveUp(reason) => RetryAnswer::GiveUp(self.text("a reason", reason)?),
        })
    }

    /// A sequence's answer: exactly one start or hold for each ready release, and no job cancelled that was not shown.
    pub(crate) fn sequence(
        &self,
        ask: &SequenceRequest,
        steps: Vec<sequence::Step>,
    ) -> Result<Vec<SequenceStep>, Fault> {
        let mut ready: BTreeSet<ReleaseId> = ask.ready.iter().map(|release| release.id).collect();
        let mut running: BTreeSet<JobId> = ask.running.iter().map(|running| running.job.id).collect();
        let mut release = |id: &str| {
            let known = id.parse().ok().filter(|id| ready.remove(id));
            known.ok_or_else(|| {
                self.invalid(&format!("answered for release `{}`, which was not asked or is answered", short(id)))
            })
        };
        let mut answer = Vec::with_capacity(steps.len());
        for step in steps {
            answer.push(match step {
                sequence::Step::Start(id) => SequenceStep::Start(release(&id)?),
                sequence::Step::Hold((id, why)) => {
                    SequenceStep::Hold(release(&id)?, self.text("a reason to hold", why)?)
                }
                sequence::Step::Cancel((id, why)) => {
                    let job = id.parse().ok().filter(|job| running.remove(job)).ok_or_else(|| {
                        self.invalid(&format!("cancels job `{}`, which does not run or is cancelled", short(&id)))
                    })?;
                    SequenceStep::Cancel(job, self.text("a reason to cancel", why)?)
                }
            });
        }
        match ready.first() {
            Some(id) => Err(self.invalid(&format!("said neither start nor hold for release {id}"))),
            None => Ok(answer),
        }
    }

    /// A policy's own error, as far as it fits.
    pub(crate) fn error(&self, message: &str) -> Fault {
        let end = message.floor_char_boundary(self.limits.reason_bytes);
        let text: String = message[..end].chars().filter(|c| !c.is_control() || *c == '\n').collect();
        fault(FaultCode::PolicyError, format!("policy `{}` could not answer: {}", self.policy, text.trim()))
    }

    /// Labels with short unique keys. Their order is the map's.
    fn details(&self, pairs: Vec<(String, String)>) -> Result<Labels, Fault> {
        let mut labels = Labels::new();
        for (key, value) in pairs {
            if key.is_empty() || key.len() > NAME_BYTES_MAX {
                let message =
                    format!("gave a detail whose name has {} bytes and may have 1 to {NAME_BYTES_MAX}", key.len());
                return Err(self.invalid(&message));
            }
            let (key, value) = (self.text("a detail's name", key)?, self.text("a detail", value)?);
            if labels.contains_key(&key) {
                return Err(self.invalid(&format!("gave the detail `{key}` twice")));
            }
            labels.insert(key, value);
        }
        Ok(labels)
    }

    /// Text that fits and that a store and a terminal can take.
    fn text(&self, what: &str, text: String) -> Result<String, Fault> {
        self.size(what, text.len(), self.limits.reason_bytes)?;
        match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            Some(control) => Err(self.invalid(&format!("gave {what} with the control character {control:?}"))),
            None => Ok(text),
        }
    }

    fn instant(&self, what: &str, millis: i64) -> Result<Timestamp, Fault> {
        if (-LAST_INSTANT_MILLIS..=LAST_INSTANT_MILLIS).contains(&millis) {
            Ok(Timestamp::from_millis(millis))
        } else {
            Err(self.invalid(&format!("gave {what} {millis}, which is after the year 9999")))
        }
    }

    fn later(&self, what: &str, millis: i64) -> Result<Timestamp, Fault> {
        let at = self.instant(what, millis)?;
        if at > self.now {
            Ok(at)
        } else {
            Err(self.invalid(&format!("gave {what} {at}, which is not after now ({})", self.now)))
        }
    }

    fn size(&self, what: &str, seen: usize, max: usize) -> Result<(), Fault> {
        if seen <= max {
            return Ok(());
        }
        let message = format!("policy `{}` gave {what} of {seen} bytes; it may have {max}", self.policy);
        Err(fault(FaultCode::OutputTooLarge, message))
    }

    fn invalid(&self, what: &str) -> Fault {
        fault(FaultCode::InvalidOutput, format!("policy `{}` {what}", self.policy))
    }
}

/// An id that is none, cut to what a person can read.
fn short(id: &str) -> String {
    id.chars().filter(|c| !c.is_control()).take(80).collect()
}
