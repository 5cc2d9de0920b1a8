//! Occurrences as instants: a recurrence read in a zone. Knows of no verdict.
//!
//! Starts do not keep the order of their local times where clocks skip ahead: with 02:00 to 03:00 skipped, 02:30 is
//! read as 03:30, after the start at 03:10. So there are two lanes for as long as was skipped, and both are looked at.

use crate::{
    length::Length,
    recurrence::Recurrence,
    zone::{Segment, Zone},
};

/// When occurrences start and end.
#[derive(Debug)]
pub struct Schedule {
    /// Where its local times are.
    pub zone: Zone,
    /// The local times at which they start.
    pub recurrence: Recurrence,
    /// How long each lasts.
    pub length: Length,
    /// None starts after this instant.
    pub until: Option<i64>,
}

/// The start of an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    /// When, in seconds since the epoch.
    pub at: i64,
    /// The local time that the rule says. Where clocks changed, they may show another.
    pub local: i64,
}

impl Schedule {
    /// The first start at an instant or after.
    #[must_use]
    pub fn next(&self, at: i64) -> Option<Start> {
        let here = self.zone.segment(at);
        let skipped = (at < here.start + here.skipped())
            .then(|| self.recurrence.next(at + here.before))
            .flatten()
            .filter(|local| *local < here.local_start())
            .map(|local| Start { at: local - here.before, local });
        let ahead = self.recurrence.next((at + here.offset).max(here.local_start()));
        let (ahead, beside) = ahead.map_or((None, None), |local| self.and_those_before(local));
        let starts = [skipped, ahead, beside].into_iter().flatten();
        // Of two local times that are the same instant the later one counts: it ends no sooner.
        starts
            .filter(|start| self.until.is_none_or(|until| start.at <= until))
            .min_by_key(|start| (start.at, -start.local))
    }

    /// The last start at an instant or before.
    #[must_use]
    pub fn latest(&self, at: i64) -> Option<Start> {
        self.lanes(at).into_iter().flatten().max()
    }

    /// The start at an instant or before whose occurrence ends last, and when it ends.
    #[must_use]
    pub fn reach(&self, at: i64) -> Option<(Start, i64)> {
        let starts = self.lanes(at).into_iter().chain([self.ends_in_gap(at)]).flatten();
        starts.map(|start| (start, self.end(start))).max_by_key(|(start, end)| (*end, *start))
    }

    /// When an occurrence ends.
    #[must_use]
    pub fn end(&self, start: Start) -> i64 {
        self.length.end(&self.zone, start)
    }

    /// The last start of each lane at an instant or before.
    fn lanes(&self, at: i64) -> [Option<Start>; 2] {
        let at = at.min(self.until.unwrap_or(i64::MAX));
        let here = self.zone.segment(at);
        let local = at + here.offset;
        let ours = (local >= here.local_start())
            .then(|| self.recurrence.previous(local))
            .flatten()
            .filter(|local| *local >= here.local_start());
        let before = (here.local_start() - 1).min(at + here.before);
        match ours {
            Some(local) => self.and_skipped(local, &here, before),
            None => match self.recurrence.previous(before) {
                Some(local) => {
                    let segment = self.zone.segment_of(local);
                    self.and_skipped(local, &segment, segment.local_start() - 1)
                }
                None => [None, None],
            },
        }
    }

    /// Ends that were skipped come after those that follow them by the clock, as starts do: the last start whose
    /// local days end in the gap that was just over.
    fn ends_in_gap(&self, at: i64) -> Option<Start> {
        if self.length.is_exact() {
            return None;
        }
        let end = at - self.length.seconds;
        let segment = self.zone.segment(end);
        if end >= segment.start + segment.skipped() {
            return None;
        }
        let last = self.length.local_start(segment.local_start() - 1);
        let local = self.recurrence.previous(last)?;
        let start = Start { at: self.zone.instant(local), local };
        Some(start).filter(|start| start.at <= at.min(self.until.unwrap_or(i64::MAX)))
    }

    /// A start, and the last that was skipped (up to the local time `before`) where its segment begins.
    fn and_skipped(&self, local: i64, segment: &Segment, before: i64) -> [Option<Start>; 2] {
        let start = Start { at: local - segment.offset, local };
        let skipped = segment.skipped();
        let beside = (skipped > 0 && start.at < segment.start + skipped)
            .then(|| self.recurrence.previous(before))
            .flatten()
            .filter(|local| *local >= segment.local_start() - skipped)
            .map(|local| Start { at: local - segment.before, local });
        [Some(start), beside]
    }

    /// A start, and the first after the gap that it may lie in.
    fn and_those_before(&self, local: i64) -> (Option<Start>, Option<Start>) {
        let segment = self.zone.segment_of(local);
        let start = Start { at: local - segment.offset, local };
        let end = segment.local_end();
        let beside = (local >= segment.local_gap())
            .then(|| self.recurrence.next(end))
            .flatten()
            .filter(|local| *local < 2 * end - segment.local_gap())
            .map(|local| Start { at: local - segment.after, local });
        (Some(start), beside)
    }
}
