//! The configuration of `deploymentWindow`. Reads nothing but its shape; [`crate::window::Window`] is what it means.

use schemars::JsonSchema;
use serde::Deserialize;

/// When releases may start, or (with `allowWindow: false`) when they may not. Either occurrences that come again
/// (`rrule` with `durationMinutes` or `duration`) or one that does not (`start`, `end`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// When occurrences start: a recurrence rule of RFC 5545, such as `FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=9`. What it does
    /// not say is taken from `dtstart`; without one, it is the beginning of the day, week, month or year.
    #[serde(default)]
    pub rrule: Option<String>,
    /// How long each lasts, in minutes.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub duration_minutes: Option<u32>,
    /// How long each lasts, in ISO 8601: days and more (`P1D`) follow the local calendar, hours and less (`PT8H`) are
    /// exact.
    #[serde(default)]
    pub duration: Option<String>,
    /// The time zone of all that is said here, by its IANA name.
    #[serde(default = "utc")]
    pub timezone: String,
    /// Whether releases may start within the occurrences (true) or outside them (false).
    #[serde(default = "yes")]
    pub allow_window: bool,
    /// From when on the recurrence counts: a local time such as `2026-01-05T09:00:00`, or one with an offset. Without
    /// it, an `INTERVAL` or a `COUNT` counts from when the rule was created.
    #[serde(default)]
    pub dtstart: Option<String>,
    /// When the one occurrence starts, written like `dtstart`. Without it, it is open from the beginning.
    #[serde(default)]
    pub start: Option<String>,
    /// When the one occurrence ends, written like `dtstart`. Without it, it has no end.
    #[serde(default)]
    pub end: Option<String>,
}

fn utc() -> String {
    "UTC".to_owned()
}

const fn yes() -> bool {
    true
}
