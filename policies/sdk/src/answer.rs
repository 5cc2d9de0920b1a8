//! Short ways to write a gate's answer.

use crate::{
    Timestamp,
    gate::{Decision, Verdict},
};

impl Decision {
    /// It may go.
    #[must_use]
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Allow, reason.into())
    }

    /// Not now: ask again at that time, which must be after `now`.
    #[must_use]
    pub fn wait_until(at: Timestamp, reason: impl Into<String>) -> Self {
        Self::new(Verdict::Wait(Some(at)), reason.into())
    }

    /// Not now: ask again when a fact changes.
    #[must_use]
    pub fn wait(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Wait(None), reason.into())
    }

    /// No passing of time changes this.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Deny, reason.into())
    }

    /// When the condition came true.
    #[must_use]
    pub fn satisfied_at(mut self, at: Timestamp) -> Self {
        self.satisfied_at = Some(at);
        self
    }

    /// When time alone ends it.
    #[must_use]
    pub fn valid_until(mut self, at: Timestamp) -> Self {
        self.valid_until = Some(at);
        self
    }

    /// A figure behind the reason. Kept sorted; the last value of a name wins.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl ToString) -> Self {
        let value = value.to_string();
        match self.details.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
            Ok(index) => self.details[index].1 = value,
            Err(index) => self.details.insert(index, (name.to_owned(), value)),
        }
        self
    }

    fn new(verdict: Verdict, reason: String) -> Self {
        Self { verdict, reason, satisfied_at: None, valid_until: None, details: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_sorted_and_unique() {
        let decision = Decision::allow("yes").detail("b", 1).detail("a", 2).detail("b", 3);
        assert_eq!(decision.details, [("a".to_owned(), "2".to_owned()), ("b".to_owned(), "3".to_owned())]);
    }
}
