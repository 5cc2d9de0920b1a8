//! What is refused when a rule is saved: what cannot be read, and what never opens.

use tidegate_policy::ConfigError;

use crate::{
    Config,
    recurrence::{
        Anchor, Frequency, RRule, Recurrence,
        calendar::{CYCLE_YEARS, DAY, YEARS, day_number, year_start},
    },
    window::{Kind, Window, error},
};

/// Days after which the calendar repeats, days of the week and all.
const CYCLE_DAYS: i64 = 146_097;
/// So many places of an interval are looked at; one that has more must say where it begins.
const PLACES_MAX: i64 = 2000;

/// Checks a configuration.
///
/// # Errors
/// All that is wrong with it.
pub fn validate(config: &Config) -> Result<(), Vec<ConfigError>> {
    let window = Window::new(config, 0)?;
    let Kind::Recurring(schedule) = &window.kind else { return Ok(()) };
    let rule = config.rrule.as_deref().map(RRule::parse).and_then(Result::ok);
    let opens = match rule {
        // Where its interval begins is known only when it has been created.
        Some(rule) if config.dtstart.is_none() && rule.interval > 1 => opens_wherever_it_begins(rule),
        Some(_) | None if schedule.next(year_start(*YEARS.start()) * DAY).is_some() => Ok(()),
        Some(_) | None => Err("never opens: no date and time is all that it says".to_owned()),
    };
    opens.map_err(|message| vec![error("/rrule", message)])
}

/// Whether there are starts for every instant at which the rule may be created.
fn opens_wherever_it_begins(mut rule: RRule) -> Result<(), String> {
    // The calendar repeats after a cycle, so only the place within what interval and cycle share makes a difference.
    let (unit, cycle) = match rule.frequency {
        Frequency::Minutely => (60, CYCLE_DAYS * 1440),
        Frequency::Hourly => (3600, CYCLE_DAYS * 24),
        Frequency::Daily => (DAY, CYCLE_DAYS),
        Frequency::Weekly => (7 * DAY, CYCLE_DAYS / 7),
        Frequency::Monthly => (0, CYCLE_YEARS * 12),
        Frequency::Yearly => (0, CYCLE_YEARS),
    };
    let interval = rule.interval;
    rule.interval = gcd(interval, cycle);
    rule.count = None;
    rule.until = None;
    let places = if limits(&rule) { rule.interval } else { 1 };
    if places > PLACES_MAX {
        return Err(format!("`INTERVAL={interval}` with parts that limit it may never open (expected `dtstart` too)"));
    }
    for place in 0..places {
        let begins = match rule.frequency {
            Frequency::Yearly => day_number(2000 + place, 1, 1) * DAY,
            Frequency::Monthly => day_number(2000 + place / 12, place % 12 + 1, 1) * DAY,
            Frequency::Weekly | Frequency::Daily | Frequency::Hourly | Frequency::Minutely => {
                day_number(2000, 1, 1) * DAY + place * unit
            }
        };
        // An interval of one begins nowhere in particular.
        if Recurrence::new(&rule, Anchor::Default(begins)).next(begins).is_none() {
            return Err(if places == 1 {
                "never opens: no date and time is all that it says".to_owned()
            } else {
                format!(
                    "never opens if `INTERVAL={interval}` begins at the wrong place, which is when the rule happens \
                     to be created (expected `dtstart` too)"
                )
            });
        }
    }
    Ok(())
}

/// Whether some periods have no start.
fn limits(rule: &RRule) -> bool {
    let dates = !(rule.months.is_empty()
        && rule.week_numbers.is_empty()
        && rule.year_days.is_empty()
        && rule.month_days.is_empty()
        && rule.weekdays.is_empty()
        && rule.positions.is_empty());
    match rule.frequency {
        Frequency::Minutely => dates || !rule.hours.is_empty() || !rule.minutes.is_empty(),
        Frequency::Hourly => dates || !rule.hours.is_empty(),
        Frequency::Daily | Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => dates,
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
