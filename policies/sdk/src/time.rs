//! Instants and spans as people read them. Nothing here reads a clock.

use crate::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// `2026-03-02 08:00:00 UTC`. Years outside 0 to 9999 are written with as many digits as they have.
#[must_use]
pub fn instant_text(at: Timestamp) -> String {
    let (days, millis) = (at.div_euclid(DAY_MILLIS), at.rem_euclid(DAY_MILLIS));
    let (year, month, day) = civil_from_days(days);
    let seconds = millis / 1000;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `1 h 30 min`, the two largest units that are not zero.
#[must_use]
pub fn duration_text(seconds: u64) -> String {
    let units = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let parts: Vec<String> = units
        .iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}

/// Days since the epoch to year, month, day in the proleptic Gregorian calendar (Howard Hinnant's algorithm).
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants() {
        for (at, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (1_772_438_400_000, "2026-03-02 08:00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (i64::MAX, "292278994-08-17 07:12:55 UTC"),
            (i64::MIN, "-292275055-05-16 16:47:04 UTC"),
        ] {
            assert_eq!(instant_text(at), text);
        }
    }

    #[test]
    fn spans() {
        for (seconds, text) in
            [(0, "0 s"), (59, "59 s"), (60, "1 min"), (5400, "1 h 30 min"), (86_401, "1 d"), (90_000, "1 d 1 h")]
        {
            assert_eq!(duration_text(seconds), text);
        }
    }
}
