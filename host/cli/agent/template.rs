//! The command to run, with places to be filled in: `{{version.tag}}`. Pure.

use serde_json::Value as Json;

/// A command whose words may have places.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    words: Vec<Vec<Part>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(String),
}

impl Template {
    /// Reads the words of a command.
    ///
    /// # Errors
    /// When braces are not closed or name nothing.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        if words.first().is_none_or(String::is_empty) {
            return Err("the command is empty".to_owned());
        }
        Ok(Self { words: words.iter().map(|word| parse_word(word)).collect::<Result<_, _>>()? })
    }

    /// The command for a job: program and arguments.
    ///
    /// # Errors
    /// When a place has no value in the context; names it.
    pub fn fill(&self, context: &Json) -> Result<Vec<String>, String> {
        let fill_word = |parts: &Vec<Part>| {
            parts.iter().try_fold(String::new(), |mut word, part| {
                match part {
                    Part::Text(text) => word.push_str(text),
                    Part::Place(path) => word.push_str(&value(context, path)?),
                }
                Ok(word)
            })
        };
        self.words.iter().map(fill_word).collect()
    }
}

fn parse_word(word: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = word;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start + 2..].find("}}") else {
            return Err(format!("`{word}`: `{{{{` is not closed, expected a place such as {{{{version.tag}}}}"));
        };
        let path = rest[start + 2..start + 2 + length].trim();
        if path.is_empty() || path.split('.').any(str::is_empty) {
            return Err(format!("`{word}`: `{path}` names nothing, expected a path such as version.tag"));
        }
        if start > 0 {
            parts.push(Part::Text(rest[..start].to_owned()));
        }
        parts.push(Part::Place(path.to_owned()));
        rest = &rest[start + length + 4..];
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// The value at a path: text as it is, numbers and booleans as JSON writes them, and anything larger as JSON.
fn value(context: &Json, path: &str) -> Result<String, String> {
    let missing = || format!("the command needs `{path}`, which this job does not have");
    // A label's key may itself have dots: what is left of the path is tried as one key, too.
    fn find<'a>(data: &'a Json, path: &str) -> Option<&'a Json> {
        if let Some(found) = data.get(path) {
            return Some(found);
        }
        path.match_indices('.').find_map(|(dot, _)| find(data.get(&path[..dot])?, &path[dot + 1..]))
    }
    match find(context, path).ok_or_else(missing)? {
        Json::Null => Err(missing()),
        Json::String(text) if text.contains('\0') => Err(format!("`{path}` contains a zero byte")),
        Json::String(text) => Ok(text.clone()),
        other => Ok(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(words: &[&str]) -> Result<Vec<String>, String> {
        let context = json!({
            "version": {"tag": "v1", "config": {"image": {"tag": 7, "arm": true}}},
            "resource": {"config": {"path": "/srv/a b"}, "metadata": {"example.com/zone": "z1"}, "name": ""},
            "evil": "{{version.tag}}; rm -rf /", "nul": "a\0b", "none": null,
        });
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Template::parse(&words)?.fill(&context)
    }

    #[test]
    fn places_are_filled_in_word_by_word() {
        for (words, expected) in [
            (vec!["./deploy.sh"], vec!["./deploy.sh"]),
            (vec!["cp", "{{resource.config.path}}/x", "{{ version.tag }}"], vec!["cp", "/srv/a b/x", "v1"]),
            (vec!["x", "{{version.tag}}{{version.tag}}", ""], vec!["x", "v1v1", ""]),
            (vec!["x", "{{version.config.image.tag}}"], vec!["x", "7"]),
            (vec!["x", "{{version.config.image}}"], vec!["x", r#"{"tag":7,"arm":true}"#]),
            (vec!["x", "{{resource.metadata.example.com/zone}}"], vec!["x", "z1"]),
            (vec!["x", "{{resource.name}}"], vec!["x", ""]),
            (vec!["sh", "-c", "f() { echo; }"], vec!["sh", "-c", "f() { echo; }"]),
            // What is filled in stays one word and is not filled in again.
            (vec!["x", "{{evil}}"], vec!["x", "{{version.tag}}; rm -rf /"]),
        ] {
            assert_eq!(fill(&words).as_deref(), Ok(expected.map_to_owned().as_slice()), "{words:?}");
        }
    }

    trait ToOwnedWords {
        fn map_to_owned(&self) -> Vec<String>;
    }

    impl ToOwnedWords for Vec<&str> {
        fn map_to_owned(&self) -> Vec<String> {
            self.iter().map(|word| (*word).to_owned()).collect()
        }
    }

    #[test]
    fn what_cannot_be_filled_in_says_why() {
        for (words, expected) in [
            (vec![""], "the command is empty"),
            (vec!["x", "{{version.tag"], "is not closed"),
            (vec!["x", "{{}}"], "names nothing"),
            (vec!["x", "{{version..tag}}"], "names nothing"),
            (vec!["x", "{{version.gone}}"], "needs `version.gone`"),
            (vec!["x", "{{none}}"], "needs `none`"),
            (vec!["x", "{{nul}}"], "zero byte"),
        ] {
            let told = fill(&words).expect_err("wrong");
            assert!(told.contains(expected), "{words:?}: {told}");
        }
    }
}
