//! What a configuration means: the occurrences, their zone, and whether they let releases start. Pure: the instant
//! that is asked about is an argument.

use tidegate_policy::ConfigError;

use crate::{
    Config,
    length::Length,
    moment::{self, Moment},
    recurrence::{Anchor, RRule, Recurrence, Until},
    schedule::Schedule,
    stretch::Change,
    zone::Zone,
};

/// A window.
#[derive(Debug)]
pub struct Window {
    /// Releases start inside (true) or outside.
    pub allow: bool,
    /// When it is open.
    pub kind: Kind,
}

/// When a window is open.
#[derive(Debug)]
pub enum Kind {
    /// Again and again.
    Recurring(Box<Schedule>),
    /// Once.
    Once {
        /// Where its times are shown.
        zone: Zone,
        /// From then, if not always.
        start: Option<i64>,
        /// Until then, if not for ever.
        end: Option<i64>,
    },
}

/// How a window stands at an instant. All in seconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Within an occurrence, or several that overlap or touch.
    Inside {
        /// Since when; `None` when that is long ago.
        since: Option<i64>,
        /// Until when.
        until: Change,
    },
    /// Between two.
    Outside {
        /// When the last one ended.
        ended: Option<i64>,
        /// When the next one starts and ends.
        next: Option<(i64, Change)>,
    },
}

impl Window {
    /// Reads a configuration. An interval or a count without `dtstart` begins at `created`, in seconds since the epoch.
    ///
    /// # Errors
    /// All that is wrong with it, and where.
    pub fn new(config: &Config, created: i64) -> Result<Self, Vec<ConfigError>> {
        let mut errors = Vec::new();
        let zone = Zone::find(&config.timezone).ok_or_else(|| {
            let expected = "expected an IANA name such as `Europe/Berlin`";
            error("/timezone", format!("`{}` is no known time zone ({expected})", config.timezone))
        });
        let zone = zone.map_err(|error| errors.push(error)).ok();
        let kind = match &config.rrule {
            Some(text) => recurring(config, text, zone, created, &mut errors),
            None => once(config, zone, &mut errors),
        };
        match kind {
            Some(kind) if errors.is_empty() => Ok(Self { allow: config.allow_window, kind }),
            Some(_) | None => Err(errors),
        }
    }

    /// The zone that its times are in.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        match &self.kind {
            Kind::Recurring(schedule) => &schedule.zone,
            Kind::Once { zone, .. } => zone,
        }
    }

    /// How it stands at an instant.
    #[must_use]
    pub fn standing(&self, now: i64) -> Standing {
        match &self.kind {
            Kind::Recurring(schedule) => recurring_standing(schedule, now),
            Kind::Once { start, end, .. } => match (*start, *end) {
                (Some(start), end) if now < start => {
                    Standing::Outside { ended: None, next: Some((start, end.map_or(Change::Never, Change::At))) }
                }
                (_, Some(end)) if now >= end => Standing::Outside { ended: Some(end), next: None },
                (since, end) => Standing::Inside { since, until: end.map_or(Change::Never, Change::At) },
            },
        }
    }
}

fn recurring_standing(schedule: &Schedule, now: i64) -> Standing {
    if let (Some((start, _)), Some(until)) = (schedule.reach(now), schedule.closes(now)) {
        return Standing::Inside { since: schedule.opened(start), until };
    }
    let next = schedule.next(now + 1).and_then(|start| Some((start.at, schedule.closes(start.at)?)));
    Standing::Outside { ended: schedule.reach(now).map(|(_, end)| end), next }
}

fn recurring(
    config: &Config,
    text: &str,
    zone: Option<Zone>,
    created: i64,
    errors: &mut Vec<ConfigError>,
) -> Option<Kind> {
    for (key, value) in [("start", &config.start), ("end", &config.end)] {
        if value.is_some() {
            errors.push(error(&format!("/{key}"), "is for a window that comes once (expected no `rrule` then)"));
        }
    }
    let rule = RRule::parse(text).map_err(|message| errors.push(error("/rrule", message))).ok();
    let length = length(config).map_err(|error| errors.push(error)).ok();
    let dtstart = moment(config.dtstart.as_deref(), "/dtstart", errors);
    let (zone, rule, length) = (zone?, rule?, length?);
    let anchor = match dtstart {
        Some(at) => Anchor::Given(at.local(&zone)),
        None => Anchor::Default(created + zone.segment(created).offset),
    };
    let until = match rule.until {
        Some(Until::Instant(at)) => Some(at),
        Some(Until::Local(_)) | None => None,
    };
    let recurrence = Recurrence::new(&rule, anchor);
    Some(Kind::Recurring(Box::new(Schedule { zone, recurrence, length, until })))
}

fn once(config: &Config, zone: Option<Zone>, errors: &mut Vec<ConfigError>) -> Option<Kind> {
    if config.start.is_none() && config.end.is_none() {
        let expected = "expected `rrule` with `durationMinutes` or `duration`, or `start` or `end`";
        errors.push(error("", format!("says no time ({expected})")));
    }
    let recurring = [
        ("durationMinutes", config.duration_minutes.is_some()),
        ("duration", config.duration.is_some()),
        ("dtstart", config.dtstart.is_some()),
    ];
    for (key, given) in recurring {
        if given {
            errors.push(error(&format!("/{key}"), "goes with `rrule` (expected `start` and `end` without one)"));
        }
    }
    let start = moment(config.start.as_deref(), "/start", errors);
    let end = moment(config.end.as_deref(), "/end", errors);
    let zone = zone?;
    let (start, end) = (start.map(|at| at.instant(&zone)), end.map(|at| at.instant(&zone)));
    if let (Some(start), Some(end)) = (start, end)
        && end <= start
    {
        errors.push(error("/end", format!("is not after `start` ({})", zone.text(start))));
    }
    Some(Kind::Once { zone, start, end })
}

fn length(config: &Config) -> Result<Length, ConfigError> {
    match (config.duration_minutes, config.duration.as_deref()) {
        (Some(minutes), None) => Length::minutes(minutes).ok_or_else(|| {
            error("/durationMinutes", format!("`{minutes}` is wrong (expected 1 or more, up to a century)"))
        }),
        (None, Some(text)) => Length::parse(text).ok_or_else(|| {
            let expected =
                "expected ISO 8601 of more than nothing, up to a century, such as `PT8H`, `P1D` or `P1DT12H`";
            error("/duration", format!("`{text}` is wrong ({expected})"))
        }),
        (Some(_), Some(_)) => Err(error("/duration", "is given besides `durationMinutes` (expected one of them)")),
        (None, None) => Err(error("", "says not how long it lasts (expected `durationMinutes` or `duration`)")),
    }
}

fn moment(text: Option<&str>, path: &str, errors: &mut Vec<ConfigError>) -> Option<Moment> {
    let text = text?;
    let found = Moment::parse(text);
    if found.is_none() {
        errors.push(error(path, format!("`{text}` is wrong (expected {})", moment::EXPECTED)));
    }
    found
}

pub(crate) fn error(path: &str, message: impl Into<String>) -> ConfigError {
    ConfigError { path: path.to_owned(), message: message.into() }
}
