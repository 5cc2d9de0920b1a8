//! What was perhaps meant: the nearest of the names there are.

/// The name among `names` that differs least from `written`, if it is near enough to be a slip.
#[must_use]
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters, at least one: `kind` for `knd`, but not `id` for `name`.
    let allowed = (written.chars().count() / 3).max(1);
    // Long text is no slip of a name, and the comparison takes time in proportion to its square.
    if written.len() > 64 {
        return None;
    }
    names
        .into_iter()
        .map(|name| (distance(&written.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Edits between two words: insert, remove or replace a letter, or swap two neighbours.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let width = right.len() + 1;
    let mut table = vec![0; (left.len() + 1) * width];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(left[i - 1] != right[j - 1]);
                let edited = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + same);
                let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
                if swapped { edited.min(table[(i - 2) * width + j - 2] + 1) } else { edited }
            };
        }
    }
    table[left.len() * width + right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let names = ["id", "identifier", "kind", "metadata", "resourceSelector"];
        for (written, expected) in [
            ("metdata", Some("metadata")),
            ("Kind", Some("kind")),
            ("knid", Some("kind")),
            ("resource_selector", Some("resourceSelector")),
            ("name", None),
            ("", None),
            ("labels", None),
        ] {
            assert_eq!(nearest(written, names), expected, "{written}");
        }
        assert_eq!(nearest(&"é".repeat(100), names), None);
    }
}
