//! What may surprise in the coming year about a window that is as it should be. Pure: now is an argument.
//!
//! The interface's `validate` can only refuse; whoever saves a rule may show these beside it.

use tidegate_policy::Timestamp;

use crate::{
    Config, reason,
    recurrence::{
        Frequency, RRule,
        calendar::{DAY, date, day_number, month_length},
    },
    schedule::Schedule,
    stretch::Change,
    window::{Kind, Window},
    zone::local_text,
};

/// Something that may surprise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What.
    pub surprise: Surprise,
    /// When.
    pub at: Timestamp,
    /// One sentence for a person.
    pub message: String,
}

/// Kinds of surprise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surprise {
    /// Clocks skip the time at which an occurrence starts; it starts later by the clock.
    SkippedStart,
    /// Clocks show the time twice at which an occurrence starts; it starts the first time.
    RepeatedStart,
    /// Occurrences follow each other without a break by the calendar, but clocks change in between.
    Hole,
    /// Clocks change during an occurrence; it ends earlier or later by the clock.
    MovedEnd,
    /// Months that lack the day.
    MissingMonths,
    /// Nothing starts within the year, or never again.
    LongClosed,
}

const YEAR: i64 = 366 * DAY;
const WARNINGS_MAX: usize = 20;

/// What may surprise within a year of `now`, in order; nothing if the configuration is refused.
#[must_use]
pub fn warnings(config: &Config, now: Timestamp) -> Vec<Warning> {
    let now = now.div_euclid(1000);
    let Ok(Window { kind: Kind::Recurring(schedule), .. }) = Window::new(config, now) else { return Vec::new() };
    let mut found: Vec<Warning> = Vec::new();
    found.extend(long_closed(&schedule, now));
    if let Some(rule) = config.rrule.as_deref().map(RRule::parse).and_then(Result::ok) {
        found.extend(missing_months(&schedule, &rule, now));
    }
    let mut segment = schedule.zone.segment(now);
    while segment.end < now + YEAR && found.len() < WARNINGS_MAX {
        let change = segment.end;
        found.extend(skipped_start(&schedule, change));
        found.extend(repeated_start(&schedule, change));
        found.extend(hole(&schedule, change).or_else(|| moved_end(&schedule, change)));
        segment = schedule.zone.segment(change);
    }
    found.dedup();
    found
}

fn long_closed(schedule: &Schedule, now: i64) -> Option<Warning> {
    let open = schedule.closes(now).is_some();
    let message = match schedule.next(now) {
        _ if open => return None,
        Some(start) if start.at < now + YEAR => return None,
        Some(start) => format!("it does not open before {}", reason::both(&schedule.zone, start.at)),
        None => "it never opens again".to_owned(),
    };
    Some(warning(Surprise::LongClosed, now, message))
}

fn missing_months(schedule: &Schedule, rule: &RRule, now: i64) -> Option<Warning> {
    if rule.frequency != Frequency::Monthly || rule.interval != 1 || !rule.months.is_empty() {
        return None;
    }
    let (year, month, _) = date((now + schedule.zone.segment(now).offset).div_euclid(DAY));
    let mut missing = Vec::new();
    for ahead in 1..=12 {
        let (year, month) = (year + (month - 1 + ahead) / 12, (month - 1 + ahead) % 12 + 1);
        let first = day_number(year, month, 1);
        // After the last start of all no month is missing.
        let next = schedule.recurrence.next(first * DAY)?;
        if next >= (first + month_length(year, month)) * DAY {
            missing.push(format!("{year:04}-{month:02}"));
        }
    }
    let message = format!("it does not open in {}, which lack the day", missing.join(", "));
    (!missing.is_empty()).then(|| warning(Surprise::MissingMonths, now, message))
}

fn skipped_start(schedule: &Schedule, change: i64) -> Option<Warning> {
    let zone = &schedule.zone;
    let before = zone.segment(change - 1);
    let local = schedule.recurrence.next(before.local_gap()).filter(|local| *local < before.local_end())?;
    let at = local - before.offset;
    let message = format!(
        "clocks in {} skip the start at {}; it opens {}",
        zone.name(),
        local_text(local),
        reason::both(zone, at)
    );
    Some(warning(Surprise::SkippedStart, at, message))
}

fn repeated_start(schedule: &Schedule, change: i64) -> Option<Warning> {
    let zone = &schedule.zone;
    let before = zone.segment(change - 1);
    let local = schedule.recurrence.next(change + before.after).filter(|local| *local < before.local_gap())?;
    let at = local - before.offset;
    let message = format!(
        "clocks in {} show the start at {} twice; it opens the first time, {}",
        zone.name(),
        local_text(local),
        reason::both(zone, at)
    );
    Some(warning(Surprise::RepeatedStart, at, message))
}

fn hole(schedule: &Schedule, change: i64) -> Option<Warning> {
    let Change::At(end) = schedule.closes(change - 1)? else { return None };
    let next = schedule.next(end)?;
    let last = schedule.recurrence.previous(next.local - 1)?;
    let contiguous = schedule.length.local_end(last) + schedule.length.seconds >= next.local;
    let message = format!(
        "there is a hole from {} until {}, since clocks change",
        reason::both(&schedule.zone, end),
        reason::both(&schedule.zone, next.at)
    );
    (contiguous && next.at > end).then(|| warning(Surprise::Hole, end, message))
}

fn moved_end(schedule: &Schedule, change: i64) -> Option<Warning> {
    let (start, end) = schedule.reach(change - 1).filter(|(_, end)| *end > change)?;
    let last = schedule.closes(change - 1) == Some(Change::At(end));
    let by_clock = end + schedule.zone.segment(end).offset;
    let expected = schedule.length.local_end(start.local) + schedule.length.seconds;
    let message = format!(
        "clocks change during the occurrence of {}; it ends {} rather than at {}",
        schedule.zone.text(start.at),
        reason::both(&schedule.zone, end),
        local_text(expected)
    );
    (last && by_clock != expected).then(|| warning(Surprise::MovedEnd, end, message))
}

fn warning(surprise: Surprise, at: i64, message: String) -> Warning {
    Warning { surprise, at: at.saturating_mul(1000), message }
}

#[cfg(test)]
mod tests;
