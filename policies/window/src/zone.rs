//! A time zone from the database that is built in: no environment variable and no file of the machine has a say.
//!
//! The local times of a zone fall into stretches of one offset each, between changes of its clocks. A local time that
//! does not exist is read with the offset before the gap, and so belongs to the stretch before it; one that exists
//! twice happens the first time, and belongs to the stretch before the fold.

use std::cell::Cell;

use jiff::{
    Timestamp,
    tz::{TimeZone, TimeZoneDatabase},
};

use crate::recurrence::calendar::{DAY, date, weekday};

/// A time zone.
#[derive(Debug)]
pub struct Zone {
    zone: TimeZone,
    name: String,
    /// The last one asked for; neighbours are asked for one after another.
    known: Cell<Option<Segment>>,
}

/// The time between two changes of a zone's clocks, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// When it begins.
    pub start: i64,
    /// When the next one does.
    pub end: i64,
    /// From UTC to local time.
    pub offset: i64,
    /// The offset before it.
    pub before: i64,
    /// The offset after it.
    pub after: i64,
}

impl Segment {
    /// The first local time that is read with this offset.
    #[must_use]
    pub const fn local_start(&self) -> i64 {
        self.start + larger(self.offset, self.before)
    }

    /// The first local time that no clock shows before the next segment. Those up to [`Segment::local_end`] are in a
    /// gap, and read with this offset too.
    #[must_use]
    pub const fn local_gap(&self) -> i64 {
        self.end + self.offset
    }

    /// The first local time that is read with the next offset.
    #[must_use]
    pub const fn local_end(&self) -> i64 {
        self.end + larger(self.offset, self.after)
    }

    /// Whether the zone's clocks never change again.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.end == NEVER
    }

    /// How much local time was skipped at its start.
    #[must_use]
    pub const fn skipped(&self) -> i64 {
        larger(self.offset - self.before, 0)
    }
}

const fn larger(a: i64, b: i64) -> i64 {
    if a > b { a } else { b }
}

/// The longest zone name in the database is half as long.
const NAME_MAX: usize = 64;
/// Where a segment without a change at its start or end begins or ends.
const NEVER: i64 = 1 << 50;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

impl Zone {
    /// A zone by its IANA name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let zone = Some(name).filter(|name| name.len() <= NAME_MAX)?;
        let zone = TimeZoneDatabase::bundled().get(zone).ok()?;
        let name = zone.iana_name().unwrap_or(name).to_owned();
        Some(Self { zone, name, known: Cell::new(None) })
    }

    /// Its name as the database writes it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The segment that an instant lies in.
    #[must_use]
    pub fn segment(&self, at: i64) -> Segment {
        if let Some(known) = self.known.get().filter(|known| known.start <= at && at < known.end) {
            return known;
        }
        let instant = timestamp(at);
        let offset = self.offset(instant);
        let begun = self.zone.preceding(timestamp(at + 1)).next().map(|change| change.timestamp());
        let ends = self.zone.following(instant).next();
        let segment = Segment {
            start: begun.map_or(-NEVER, Timestamp::as_second),
            end: ends.as_ref().map_or(NEVER, |change| change.timestamp().as_second()),
            offset,
            before: begun.map_or(offset, |begun| self.offset(timestamp(begun.as_second() - 1))),
            after: ends.map_or(offset, |change| i64::from(change.offset().seconds())),
        };
        self.known.set(Some(segment));
        segment
    }

    /// The segment whose offset a local time is read with.
    #[must_use]
    pub fn segment_of(&self, local: i64) -> Segment {
        let guess = self.known.get().map_or(0, |known| known.offset);
        let mut segment = self.segment(local - guess);
        loop {
            if local < segment.local_start() {
                segment = self.segment(segment.start - 1);
            } else if local >= segment.local_end() {
                segment = self.segment(segment.end);
            } else {
                return segment;
            }
        }
    }

    /// When a local time is.
    #[must_use]
    pub fn instant(&self, local: i64) -> i64 {
        local - self.segment_of(local).offset
    }

    /// `Sun 2023-10-29 09:00 EDT`
    #[must_use]
    pub fn text(&self, at: i64) -> String {
        let instant = timestamp(at);
        let info = self.zone.to_offset_info(instant);
        let local = at + i64::from(info.offset().seconds());
        format!("{} {}", local_text(local), info.abbreviation())
    }

    fn offset(&self, at: Timestamp) -> i64 {
        i64::from(self.zone.to_offset(at).seconds())
    }
}

/// `Sun 2023-10-29 09:00`, with seconds where there are some.
#[must_use]
pub fn local_text(local: i64) -> String {
    let (day, second) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let (year, month, of_month) = date(day);
    let name = WEEKDAYS[weekday(day) as usize];
    let mut text = format!("{name} {year:04}-{month:02}-{of_month:02} {:02}:{:02}", second / 3600, second / 60 % 60);
    if second % 60 != 0 {
        text.push_str(&format!(":{:02}", second % 60));
    }
    text
}

/// The nearest that the zone database knows.
fn timestamp(at: i64) -> Timestamp {
    let at = at.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(at).unwrap_or(Timestamp::MAX)
}
