//! When a rule starts, as local times of no zone in particular: the sets of RFC 5545, found from any point in either
//! direction without walking from the beginning. Knows no zones, no durations and no clock.
//!
//! Local times are seconds since 1970-01-01T00:00:00, as if every day had 86 400 of them. Nothing is found outside the
//! years 1 to 9999.

pub(crate) mod calendar;
mod count;
mod cycle;
mod dates;
mod pattern;
mod positions;
pub mod text;
mod times;

use std::cell::RefCell;

pub use text::{Frequency, RRule, Until};

use count::Counter;
use pattern::Pattern;

/// Where a rule begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its `dtstart`: no start lies before it, and what the rule leaves open (the time of day, the day of the week or
    /// month) is taken from it.
    Given(i64),
    /// Nothing was said. An interval or a count begins here; what the rule leaves open is the beginning of its period.
    Default(i64),
}

/// All starts of a rule.
#[derive(Debug)]
pub struct Recurrence {
    pattern: Pattern,
    /// No start before.
    from: Option<i64>,
    /// No start after.
    until: Option<i64>,
    /// Finds the last of so many.
    counter: Option<RefCell<Counter>>,
}

impl Recurrence {
    /// The starts of `rule`. An `UNTIL` in UTC is for whoever knows the zone.
    #[must_use]
    pub fn new(rule: &RRule, anchor: Anchor) -> Self {
        let from = match anchor {
            Anchor::Given(at) => Some(at),
            Anchor::Default(at) => (rule.interval > 1 || rule.count.is_some()).then_some(at),
        };
        let until = match rule.until {
            Some(Until::Local(at)) => Some(at),
            Some(Until::Instant(_)) | None => None,
        };
        let counter = rule.count.zip(from).map(|(count, from)| RefCell::new(Counter::new(count, from)));
        Self { pattern: Pattern::new(rule, anchor), from, until, counter }
    }

    /// The first start at `local` or after.
    #[must_use]
    pub fn next(&self, local: i64) -> Option<i64> {
        let found = self.pattern.next(local.max(self.from.unwrap_or(i64::MIN)))?;
        (self.until.is_none_or(|until| found <= until) && found <= self.last_counted(found)).then_some(found)
    }

    /// The last start at `local` or before.
    #[must_use]
    pub fn previous(&self, local: i64) -> Option<i64> {
        let local = local.min(self.until.unwrap_or(i64::MAX));
        let found = self.pattern.previous(local.min(self.last_counted(local)))?;
        self.from.is_none_or(|from| found >= from).then_some(found)
    }

    /// The last start that is reached from `start`, one of them, without a gap of more than `gap` between two, or one
    /// on the way there; at most the last one before `end`.
    #[must_use]
    pub fn run_end(&self, start: i64, gap: i64, end: i64) -> i64 {
        let end = end.min(self.until.map_or(i64::MAX, |until| until + 1));
        let reached = self.pattern.run_end(start, gap, end).unwrap_or(start).max(start);
        reached.min(self.last_counted(reached))
    }

    /// The first start from which `start`, one of them, is reached without a gap of more than `gap` between two, or
    /// one on the way; at least the first one from `from` on.
    #[must_use]
    pub fn run_start(&self, start: i64, gap: i64, from: i64) -> i64 {
        let from = from.max(self.from.unwrap_or(i64::MIN));
        self.pattern.run_start(start, gap, from).unwrap_or(start).min(start)
    }

    /// The longest time between two starts, of a rule that has some every day and never ends.
    #[must_use]
    pub fn longest_gap(&self) -> Option<i64> {
        let endless = self.until.is_none() && self.counter.is_none() && self.pattern.days.dates.unrestricted();
        Some(self.pattern.longest_gap()).filter(|gap| endless && *gap < i64::MAX)
    }

    /// The last start that the count allows, if it lies before `local`; else some time from `local` on.
    fn last_counted(&self, local: i64) -> i64 {
        self.counter.as_ref().map_or(i64::MAX, |counter| counter.borrow_mut().last(&self.pattern, local))
    }
}
