//! Sentences that say why: which occurrence, in which zone, and what changes when.
//!
//! They name instants, never how long something is from now: the same standing is the same sentence all the time.

use tidegate_policy::instant_text;

use crate::{stretch::Change, window::Standing, zone::Zone};

/// Why releases may or may not start.
pub(crate) fn sentence(allow: bool, zone: &Zone, standing: Standing) -> String {
    let name = zone.name();
    let kind = if allow { "the window" } else { "the closed period" };
    match standing {
        Standing::Inside { since, until } => {
            let now = if allow { "is open" } else { "lasts" };
            let from = since.map_or(String::new(), |since| format!(" from {}", zone.text(since)));
            match until {
                Change::At(at) => format!("{kind} {now}{from} until {}, zone {name}", both(zone, at)),
                Change::NotBefore(at) => format!("{kind} {now}{from} until {} at least, zone {name}", both(zone, at)),
                Change::Never if allow => format!("{kind} {now}{from} with no next change, zone {name}"),
                Change::Never => {
                    format!("{kind} {now}{from} and never ends, zone {name}; someone must change the rule")
                }
            }
        }
        Standing::Outside { next: Some((at, until)), .. } => {
            let verb = if allow { "is closed; it next opens" } else { "is not now; it next begins" };
            let until = match until {
                Change::At(at) => format!(" until {}", zone.text(at)),
                Change::NotBefore(at) => format!(" until {} at least", zone.text(at)),
                Change::Never => " for good".to_owned(),
            };
            format!("{kind} {verb} {}{until}, zone {name}", both(zone, at))
        }
        Standing::Outside { ended, next: None } => {
            let last = ended.map_or(String::new(), |at| format!("; it last ended {}", both(zone, at)));
            match (allow, ended) {
                (true, Some(_)) => {
                    format!("{kind} never opens again{last}, zone {name}; someone must change the rule")
                }
                (true, None) => format!("{kind} never opens, zone {name}; someone must change the rule"),
                (false, _) => format!("{kind} never comes again{last}, zone {name}"),
            }
        }
    }
}

/// By the clocks of the zone, and in UTC.
pub(crate) fn both(zone: &Zone, at: i64) -> String {
    let local = zone.text(at);
    if zone.name() == "UTC" { local } else { format!("{local} ({})", instant_text(at.saturating_mul(1000))) }
}
