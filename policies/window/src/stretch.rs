//! Occurrences that overlap or touch, as one: since when, and until when. Bounded: what goes on for decades is
//! followed for some, and the answer says so.

use crate::{
    recurrence::calendar::{DAY, YEARS, year_start},
    schedule::{Schedule, Start},
};

/// When something ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Then.
    At(i64),
    /// Not before then; nobody looked further.
    NotBefore(i64),
    /// Never.
    Never,
}

/// How often occurrences are joined before the answer is "not before". A step takes a day at least where it can, and
/// a season where every day is alike.
const STEPS: usize = 128;
/// Changes of a zone's clocks, some decades of them, that are checked before something is said to go on for ever.
const CHANGES: usize = 64;
/// What was open before the year 2 was always open.
const LONG_AGO: i64 = year_start(2) * DAY;
/// What is open in the last year is open for ever.
const FAR_AHEAD: i64 = year_start(*YEARS.end()) * DAY;

impl Schedule {
    /// When the stretch ends that some occurrence, open at `at`, is part of. `None` if none is open.
    #[must_use]
    pub fn closes(&self, at: i64) -> Option<Change> {
        let (_, mut end) = self.reach(at).filter(|(_, end)| *end > at)?;
        if self.never_pauses(at) {
            return Some(Change::Never);
        }
        for _ in 0..STEPS {
            // Touching is enough: intervals are half-open.
            let Some((start, further)) = self.reach(end) else { break };
            if further <= end {
                return Some(Change::At(end));
            }
            end = further.max(self.run_on(start));
            if end > FAR_AHEAD {
                return Some(Change::Never);
            }
        }
        Some(Change::NotBefore(end))
    }

    /// When the stretch began that the occurrence of `start` is part of; `None` when that is long ago.
    #[must_use]
    pub fn opened(&self, start: Start) -> Option<i64> {
        let mut first = start;
        for _ in 0..STEPS {
            first = self.run_back(first);
            let before = if self.length.is_exact() {
                self.next(first.at - self.length.seconds)
            } else {
                self.reach(first.at - 1).filter(|(_, end)| *end >= first.at).map(|(start, _)| start)
            };
            match before.filter(|before| before.at < first.at) {
                Some(before) => first = before,
                None => return Some(first.at).filter(|at| *at > LONG_AGO),
            }
        }
        None
    }

    /// Whether it is open from now on, whatever the clocks do.
    fn never_pauses(&self, at: i64) -> bool {
        let Some(gap) = self.recurrence.longest_gap().filter(|gap| *gap <= self.length.least()) else { return false };
        if self.until.is_some() {
            return false;
        }
        if !self.length.is_exact() {
            // A start each day, and each occurrence ends where the next one starts or later, by any clock.
            return gap == DAY;
        }
        let mut from = at;
        for _ in 0..CHANGES {
            let segment = self.zone.segment(from);
            if segment.offset - segment.after > self.length.seconds - gap {
                return false;
            }
            if segment.is_last() {
                return true;
            }
            from = segment.end;
        }
        true
    }

    /// The end of the last occurrence that goes on from `start` by the local clock before the zone's clocks change.
    fn run_on(&self, start: Start) -> i64 {
        let segment = self.zone.segment_of(start.local);
        if start.local >= segment.local_gap() {
            return self.end(start);
        }
        let until = self.until.map_or(i64::MAX, |until| until + segment.offset + 1);
        let end = segment.local_gap().min(until);
        let local = self.recurrence.run_end(start.local, self.length.least(), end);
        self.end(Start { at: local - segment.offset, local })
    }

    /// The first start from which it goes on to `start` by the local clock since the zone's clocks changed.
    fn run_back(&self, start: Start) -> Start {
        let segment = self.zone.segment_of(start.local);
        let local = self.recurrence.run_start(start.local, self.length.least(), segment.local_start());
        Start { at: local - segment.offset, local }
    }
}
