//! Durations as scenario files write them: `90s`, `5m`, `2h`, `1d`, `250ms`, and several in a row (`1h30m`).

/// Milliseconds; nothing when the text is no duration, or one of more than 100 years.
#[must_use]
pub fn parse_duration(text: &str) -> Option<i64> {
    const MAX: i64 = 100 * 366 * 86_400_000;
    let mut rest = text;
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit())?;
        let amount: i64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, millis) = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
            .into_iter()
            .find(|(unit, _)| rest.starts_with(unit))?;
        rest = &rest[unit.len()..];
        total = total.checked_add(amount.checked_mul(millis)?).filter(|total| *total <= MAX)?;
    }
    if text.is_empty() { None } else { Some(total) }
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn what_is_a_duration() {
        let table = [
            ("0s", Some(0)),
            ("90s", Some(90_000)),
            ("5m", Some(300_000)),
            ("2h", Some(7_200_000)),
            ("1d", Some(86_400_000)),
            ("1h30m", Some(5_400_000)),
            ("250ms", Some(250)),
            ("", None),
            ("5", None),
            ("m", None),
            ("-5m", None),
            ("5 m", None),
            ("1y", None),
            ("9223372036854775807d", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_duration(text), expected, "{text}");
        }
    }
}
