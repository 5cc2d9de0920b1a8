//! Records to domain types: what a guest answered, checked against the interface's rules. Nothing of an answer that
//! breaks one is used.

use std::collections::BTreeSet;

use model::{
    Json, Labels,
    decision::{GateAnswer, Verdict},
    id::{JobId, ReleaseId},
    limits::{METRICS_MAX, NAME_BYTES_MAX},
    plugin::{Fault, FaultCode},
    question::{Assessment, Probe, RetryAnswer, SequenceRequest, SequenceStep},
    time::Timestamp,
};

use super::bindings::exports::tidegate::policy::{gate, retry, sequence, verify};
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

    /// A verification's answer. A time that is over means at once.
    pub(crate) fn verify(&self, assessment: verify::Assessment) -> Result<Assessment, Fault> {
        Ok(match assessment {
            verify::Assessment::Healthy => Assessment::Healthy,
            verify::Assessment::Unhealthy(reason) if reason.trim().is_empty() => {
                return Err(self.invalid("answered unhealthy without a reason"));
            }
            verify::Assessment::Unhealthy(reason) => Assessment::Unhealthy(self.text("a reason", reason)?),
            verify::Assessment::Measure(wanted) => {
                self.count("metrics to measure", wanted.len())?;
                let mut metrics = BTreeSet::new();
                let mut answer = Vec::with_capacity(wanted.len());
                for (metric, at) in wanted {
                    let metric = self.metric(metric, &mut metrics)?;
                    answer.push((metric, self.instant("a time to measure", at)?));
                }
                Assessment::Measure(answer)
            }
        })
    }

    /// What is to be measured for a rule, each metric once.
    pub(crate) fn probes(&self, probes: Vec<verify::Probe>) -> Result<Vec<Probe>, Fault> {
        self.count("probes", probes.len())?;
        let bytes = probes.iter().map(|probe| probe.metric.len() + probe.provider.len() + probe.config.len()).sum();
        self.size("probes", bytes, self.limits.answer_bytes)?;
        let mut metrics = BTreeSet::new();
        let mut answer = Vec::with_capacity(probes.len());
        for probe in probes {
            let metric = self.metric(probe.metric, &mut metrics)?;
            let provider = self.name("a provider", probe.provider)?;
            let config: Json = serde_json::from_str(&probe.config).map_err(|error| {
                self.invalid(&format!(
                    "gave the provider of metric `{metric}` a configuration that is no JSON: {error}"
                ))
            })?;
            answer.push(Probe { metric, provider, config });
        }
        Ok(answer)
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
            let (key, value) = (self.name("a detail", key)?, self.text("a detail", value)?);
            if labels.contains_key(&key) {
                return Err(self.invalid(&format!("gave the detail `{key}` twice")));
            }
            labels.insert(key, value);
        }
        Ok(labels)
    }

    /// A metric's name that is not among `seen` yet.
    fn metric(&self, name: String, seen: &mut BTreeSet<String>) -> Result<String, Fault> {
        let name = self.name("a metric", name)?;
        if seen.insert(name.clone()) { Ok(name) } else { Err(self.invalid(&format!("gave the metric `{name}` twice"))) }
    }

    /// A short name of something.
    fn name(&self, of: &str, name: String) -> Result<String, Fault> {
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let message = format!("gave {of} whose name has {} bytes and may have 1 to {NAME_BYTES_MAX}", name.len());
            return Err(self.invalid(&message));
        }
        self.text(&format!("{of}'s name"), name)
    }

    fn count(&self, what: &str, seen: usize) -> Result<(), Fault> {
        if seen <= METRICS_MAX {
            return Ok(());
        }
        Err(self.invalid(&format!("gave {seen} {what}; there may be {METRICS_MAX}")))
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
