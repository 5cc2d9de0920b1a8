//! Reads the fields of one JSON object and collects everything that is wrong, each with its pointer. Whatever was never
//! asked for is an unknown field.

use model::{
    Json, Labels,
    limits::NAME_BYTES_MAX,
    names::{check_label_count, check_label_value, check_name, check_text},
    time::{ParseTimestampError, Timestamp},
    wanted::FieldError,
};
use selectors::{Place, Selector, suggest::nearest};
use serde_json::Map;

/// The fields of one object.
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Json>,
    pointer: String,
    known: Vec<&'static str>,
    errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(object: &'a Map<String, Json>, pointer: &str) -> Self {
        Self { object, pointer: pointer.to_owned(), known: Vec::new(), errors: Vec::new() }
    }

    /// The value, when it is there and not null. A null is the same as nothing, as in Ctrlplane's documents.
    pub(crate) fn take(&mut self, field: &'static str) -> Option<&'a Json> {
        self.known.push(field);
        self.object.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn error(&mut self, field: &str, message: impl Into<String>) {
        self.errors.push(FieldError { pointer: self.pointer_to(field), message: message.into() });
    }

    pub(crate) fn pointer_to(&self, field: &str) -> String {
        format!("{}/{}", self.pointer, escape(field))
    }

    pub(crate) fn extend(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    /// A name that must be there. What is returned after an error is never used.
    pub(crate) fn name(&mut self, field: &'static str, check: fn(&str) -> Result<(), String>) -> String {
        match self.string(field) {
            Some(name) => {
                if let Err(message) = check(name) {
                    self.error(field, message);
                }
                name.to_owned()
            }
            None => {
                if self.object.get(field).is_none_or(Json::is_null) {
                    self.error(field, format!("is missing, expected a string of 1 to {NAME_BYTES_MAX} bytes"));
                }
                String::new()
            }
        }
    }

    pub(crate) fn optional_name(&mut self, field: &'static str) -> Option<String> {
        let name = self.string(field)?;
        if let Err(message) = check_name(name) {
            self.error(field, message);
        }
        Some(name.to_owned())
    }

    /// A name, or null where that says something else than nothing.
    pub(crate) fn nullable_name(&mut self, field: &'static str) -> Option<Option<String>> {
        let null = self.object.get(field).is_some_and(Json::is_null);
        let name = self.optional_name(field);
        if null { Some(None) } else { name.map(Some) }
    }

    /// Text for people that must be there and say something.
    pub(crate) fn required_text(&mut self, field: &'static str, what: &str) -> String {
        let missing = self.take(field).is_none();
        let text = self.text(field);
        if missing || (self.string_is(field) && text.trim().is_empty()) {
            self.error(field, format!("is {}, expected {what}", if missing { "missing" } else { "empty" }));
        }
        text
    }

    fn string_is(&self, field: &str) -> bool {
        self.object.get(field).is_some_and(Json::is_string)
    }

    /// An instant in RFC 3339.
    pub(crate) fn instant(&mut self, field: &'static str) -> Option<Timestamp> {
        let text = self.string(field)?;
        let instant: Result<Timestamp, ParseTimestampError> = text.parse();
        instant.map_err(|error| self.error(field, error.to_string())).ok()
    }

    /// Text for people; empty when absent.
    pub(crate) fn text(&mut self, field: &'static str) -> String {
        let text = self.string(field).unwrap_or_default();
        if let Err(message) = check_text(text) {
            self.error(field, message);
        }
        text.to_owned()
    }

    pub(crate) fn string(&mut self, field: &'static str) -> Option<&'a str> {
        let value = self.take(field)?;
        let text = value.as_str();
        if text.is_none() {
            self.error(field, expected("a string", value));
        }
        text
    }

    pub(crate) fn boolean(&mut self, field: &'static str) -> Option<bool> {
        let value = self.take(field)?;
        let boolean = value.as_bool();
        if boolean.is_none() {
            self.error(field, expected("true or false", value));
        }
        boolean
    }

    pub(crate) fn integer(&mut self, field: &'static str, min: i64, max: i64) -> Option<i64> {
        let value = self.take(field)?;
        let integer = value.as_i64().filter(|integer| (min..=max).contains(integer));
        if integer.is_none() {
            let range = match (min, max) {
                (i64::MIN, i64::MAX) => "a whole number".to_owned(),
                (min, max) => format!("a whole number from {min} to {max}"),
            };
            self.error(field, expected(&range, value));
        }
        integer
    }

    /// One of a closed set of words.
    pub(crate) fn word<T>(
        &mut self,
        field: &'static str,
        parse: fn(&str) -> Option<T>,
        words: &[&'static str],
    ) -> Option<T> {
        let word = self.string(field)?;
        let parsed = parse(word);
        if parsed.is_none() {
            let message = unknown("value", word, words);
            self.error(field, message);
        }
        parsed
    }

    /// A JSON object that is carried but not interpreted; empty when absent.
    pub(crate) fn config(&mut self, field: &'static str) -> Json {
        match self.take(field) {
            None => Json::Object(Map::new()),
            Some(value) => {
                if !value.is_object() {
                    self.error(field, expected("an object", value));
                }
                value.clone()
            }
        }
    }

    pub(crate) fn labels(&mut self, field: &'static str) -> Labels {
        let mut labels = Labels::new();
        let Some(value) = self.take(field) else { return labels };
        let Some(object) = value.as_object() else {
            self.error(field, expected("an object of strings", value));
            return labels;
        };
        if let Err(message) = check_label_count(object.len()) {
            self.error(field, message);
        }
        let pointer = self.pointer_to(field);
        for (key, value) in object {
            let found = match value.as_str() {
                Some(text) => check_name(key).map_err(|message| format!("key {message}")).and_then(|()| {
                    check_label_value(text)?;
                    labels.insert(key.clone(), text.to_owned());
                    Ok(())
                }),
                None => Err(expected("a string", value)),
            };
            if let Err(message) = found {
                self.errors.push(FieldError { pointer: format!("{pointer}/{}", escape(key)), message });
            }
        }
        labels
    }

    /// A list of names without repetition.
    pub(crate) fn names(&mut self, field: &'static str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let Some(value) = self.take(field) else { return names };
        let Some(items) = value.as_array() else {
            self.error(field, expected("a list of names", value));
            return names;
        };
        let pointer = self.pointer_to(field);
        for (index, item) in items.iter().enumerate() {
            let found = match item.as_str() {
                None => Err(expected("a name", item)),
                Some(name) if names.iter().any(|other| other == name) => Err(format!("`{name}` is named twice")),
                Some(name) => check_name(name).map(|()| names.push(name.to_owned())),
            };
            if let Err(message) = found {
                self.errors.push(FieldError { pointer: format!("{pointer}/{index}"), message });
            }
        }
        names
    }

    /// A selector; `true` when absent or empty. The text is kept as it was written.
    pub(crate) fn selector(&mut self, field: &'static str, place: Place) -> String {
        let text = match self.string(field) {
            Some(text) if !text.trim().is_empty() => text,
            _ => return "true".to_owned(),
        };
        if let Err(error) = Selector::parse(text, place) {
            self.error(field, format!("`{}`: {error}", clipped(text)));
        }
        text.to_owned()
    }

    /// Everything that is wrong, unknown fields included.
    pub(crate) fn finish(mut self) -> Vec<FieldError> {
        for field in self.object.keys() {
            if !self.known.contains(&field.as_str()) {
                let message = unknown("field", field, &self.known);
                self.errors.push(FieldError { pointer: format!("{}/{}", self.pointer, escape(field)), message });
            }
        }
        self.errors
    }
}

/// `unknown field `nmae` (did you mean `name`?), expected one of ...`
pub(crate) fn unknown(what: &str, written: &str, expected: &[&str]) -> String {
    let suggestion = nearest(written, expected.iter().copied());
    let hint = suggestion.map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"));
    format!("unknown {what} `{}`{hint}, expected one of {}", clipped(written), list(expected))
}

pub(crate) fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `expected a string, found the number 1 (write it in quotes: "1")`
pub(crate) fn expected(what: &str, found: &Json) -> String {
    let quoted = what.starts_with("a string") || what.starts_with("a name");
    match found {
        Json::Null => format!("expected {what}, found nothing"),
        Json::Bool(value) if quoted => format!("expected {what}, found {value} (write it in quotes: \"{value}\")"),
        Json::Bool(value) => format!("expected {what}, found {value}"),
        Json::Number(value) if quoted => {
            format!("expected {what}, found the number {value} (write it in quotes: \"{value}\")")
        }
        Json::Number(value) => format!("expected {what}, found {value}"),
        Json::String(value) => format!("expected {what}, found the string `{}`", clipped(value)),
        Json::Array(_) => format!("expected {what}, found a list"),
        Json::Object(_) => format!("expected {what}, found an object"),
    }
}

/// One token of a JSON Pointer.
pub(crate) fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
