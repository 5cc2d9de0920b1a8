//! An outage of ours expires nobody's work: when the server starts, gets its database back or sees its clock jump,
//! every lease gets one lease length more.

use std::time::Duration;

use model::time::Timestamp;

/// Wall and steady clock may drift apart this much between two looks before it counts as a jump.
const JUMP_MILLIS: i64 = 5_000;

/// Since when heartbeats could reach us without a break.
#[derive(Debug, Default)]
pub(crate) struct Grace {
    since: Option<Timestamp>,
    seen: Option<(Timestamp, Duration)>,
    /// When jobs that became available were last told of.
    pub woken_until: Option<Timestamp>,
}

impl Grace {
    /// Looks at both clocks; gives the instant since when agents could reach us.
    pub fn observe(&mut self, now: Timestamp, steady: Duration) -> Timestamp {
        let jumped = self.seen.is_some_and(|(seen, seen_steady)| {
            let passed = i64::try_from(steady.saturating_sub(seen_steady).as_millis()).unwrap_or(i64::MAX);
            now.millis_since(seen).saturating_sub(passed).abs() > JUMP_MILLIS
        });
        if jumped {
            tracing::warn!("the clock jumped: every lease gets one lease length more");
        }
        // Two transactions may look in the other order than they began.
        if jumped || self.seen.is_none_or(|(seen, _)| seen < now) {
            self.seen = Some((now, steady));
        }
        match self.since {
            Some(since) if !jumped => since,
            Some(_) | None => {
                self.since = Some(now);
                now
            }
        }
    }

    /// The database was away: grace begins anew with the next look.
    pub fn lost(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_begins_with_the_first_look_after_an_outage_and_after_a_jump() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        let mut grace = Grace::default();
        assert_eq!(grace.observe(at(100), Duration::from_secs(0)), at(100));
        assert_eq!(grace.observe(at(700), Duration::from_secs(600)), at(100), "ten minutes passed on both clocks");
        assert_eq!(grace.observe(at(4300), Duration::from_secs(601)), at(4300), "an hour passed on one only");
        assert_eq!(grace.observe(at(4310), Duration::from_secs(611)), at(4300));
        assert_eq!(grace.observe(at(710), Duration::from_secs(612)), at(710), "and was taken back");
        grace.lost();
        assert_eq!(grace.observe(at(720), Duration::from_secs(622)), at(720));
    }
}
