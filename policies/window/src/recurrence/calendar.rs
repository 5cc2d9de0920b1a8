//! Days and years of the proleptic Gregorian calendar as plain numbers. Knows no zones and reads no clock.
//!
//! A day is its number since 1970-01-01; a local time is seconds since the midnight that began that day.

/// Seconds in a local day, as the calendar counts them.
pub const DAY: i64 = 86_400;
/// The years in which occurrences are looked for.
pub const YEARS: std::ops::RangeInclusive<i64> = 1..=9999;
/// After so many years the same dates fall on the same days of the week again.
pub const CYCLE_YEARS: i64 = 400;

/// Whether a year has 366 days.
pub const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a year has.
pub const fn year_length(year: i64) -> i64 {
    365 + is_leap(year) as i64
}

/// The number of its 1 January.
pub const fn year_start(year: i64) -> i64 {
    let before = year - 1;
    365 * before + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 719_162
}

/// The year that a day belongs to.
pub const fn year_of(day: i64) -> i64 {
    // The mean year is within a day of every year's length, so the guess is off by one at most.
    let guess = ((day + 719_162) * 400).div_euclid(146_097) + 1;
    if year_start(guess) > day {
        guess - 1
    } else if year_start(guess + 1) <= day {
        guess + 1
    } else {
        guess
    }
}

/// Monday is 0.
pub const fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// Days of a year before each of its months, and in all.
pub const fn month_starts(leap: bool) -> [i64; 13] {
    if leap {
        [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366]
    } else {
        [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
    }
}

/// Year, month (1 to 12) and day of the month.
pub fn date(day: i64) -> (i64, i64, i64) {
    let year = year_of(day);
    let within = day - year_start(year);
    let starts = month_starts(is_leap(year));
    let mut month = 1;
    while starts[month] <= within {
        month += 1;
    }
    (year, month as i64, within - starts[month - 1] + 1)
}

/// The number of a date; the day of the month must exist.
pub const fn day_number(year: i64, month: i64, day: i64) -> i64 {
    year_start(year) + month_starts(is_leap(year))[month as usize - 1] + day - 1
}

/// How many days a month has.
pub const fn month_length(year: i64, month: i64) -> i64 {
    let starts = month_starts(is_leap(year));
    starts[month as usize] - starts[month as usize - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_years_has_one_date_and_follows_the_one_before() {
        assert_eq!((year_start(1970), year_start(2000), year_start(1)), (0, 10_957, -719_162));
        let (mut year, mut month, mut day) = (1, 1, 1);
        for number in year_start(1)..year_start(10_000) {
            assert_eq!(date(number), (year, month, day));
            assert_eq!(day_number(year, month, day), number);
            day += 1;
            if day > month_length(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(weekday(0), 3);
    }
}
