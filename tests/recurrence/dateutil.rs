//! What python-dateutil says of the same rules. `dateutil_oracle.py` wrote the file, and can show one rule in full.

use window::recurrence::{Anchor, RRule, Recurrence};

/// As in the script.
const OCCURRENCES: usize = 50;

/// Local times without a zone, as texts.
fn seconds(text: &str) -> i64 {
    let at: jiff::civil::DateTime = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let zoned = at.to_zoned_datetime(jiff::tz::TimeZone::UTC).expect("a year that is known");
    zoned.timestamp().as_second()
}

fn text(local: i64) -> String {
    let at = jiff::Timestamp::from_second(local).expect("a year that is known");
    jiff::tz::TimeZone::UTC.to_datetime(at).strftime("%Y%m%dT%H%M%S").to_string()
}

fn checksum(found: &[i64]) -> String {
    let bytes = found.iter().flat_map(|at| text(*at).into_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

#[test]
fn the_same_starts_as_dateutil() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for line in include_str!("dateutil.tsv").lines() {
        let [rule, dtstart, year, count, first, last, expected] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"));
        let parsed = RRule::parse(rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let from = seconds(dtstart);
        let recurrence = Recurrence::new(&parsed, Anchor::Given(from));
        let end = seconds(&format!("{year}-12-31T23:59:59"));
        let mut found: Vec<i64> = Vec::new();
        let mut next = recurrence.next(i64::MIN);
        while let Some(at) = next.filter(|at| *at <= end && found.len() < OCCURRENCES) {
            assert!(at >= from && found.last().is_none_or(|last| *last < at), "{line}: {at} after {found:?}");
            found.push(at);
            next = recurrence.next(at + 1);
        }
        let mut back: Vec<i64> = Vec::new();
        let mut previous = found.last().and_then(|last| recurrence.previous(*last));
        while let Some(at) = previous {
            back.push(at);
            previous = recurrence.previous(at - 1);
        }
        back.reverse();
        assert_eq!(back, found, "{line}: found backward");
        if checksum(&found) != expected || found.len().to_string() != count {
            let show = |at: Option<&i64>| at.map_or("-".to_owned(), |at| text(*at));
            wrong.push(format!(
                "{rule} from {dtstart}: {} starts from {} to {}, expected {count} from {first} to {last}",
                found.len(),
                show(found.first()),
                show(found.last()),
            ));
        }
        checked += 1;
    }
    assert_eq!(wrong, [""; 0], "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked >= 3000, "only {checked} rules");
}
