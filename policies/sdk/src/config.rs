//! Reads a rule's configuration and says where it is wrong.

use serde::de::DeserializeOwned;

use crate::ConfigError;

/// The configuration in `json`, or what is wrong with it and where.
pub(crate) fn parse<C: DeserializeOwned>(json: &str) -> Result<C, ConfigError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let config = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let message = without_position(&error.inner().to_string());
        ConfigError { path: pointer(error.path(), &message), message }
    })?;
    reader.end().map_err(|error| ConfigError { path: String::new(), message: error.to_string() })?;
    Ok(config)
}

/// A JSON Pointer (RFC 6901). An unknown field is reported by serde at the object that holds it; people look for the
/// field itself.
fn pointer(path: &serde_path_to_error::Path, message: &str) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => push_key(&mut pointer, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    if let Some((field, _)) = unknown
        && !pointer.ends_with(&format!("/{}", escaped(field)))
    {
        push_key(&mut pointer, field);
    }
    pointer
}

fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&escaped(key));
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// serde_json ends its messages with a position in a text that the user never wrote.
fn without_position(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Config {
        #[serde(rename = "minApprovals")]
        _min_approvals: u32,
        #[serde(default, rename = "nested")]
        _nested: Vec<Nested>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nested {
        #[serde(rename = "a/b")]
        _slash: bool,
    }

    fn check(json: &str, path: &str, message: &str) {
        let error = parse::<Config>(json).expect_err("wrong on purpose");
        assert_eq!((error.path.as_str(), error.message.as_str()), (path, message), "{json}");
    }

    #[test]
    fn errors_point_at_what_is_wrong() {
        check(r#"{"minApprovals": "2"}"#, "/minApprovals", "invalid type: string \"2\", expected u32");
        check(r#"{"minApprovals": -1}"#, "/minApprovals", "invalid value: integer `-1`, expected u32");
        check(
            r#"{"minApprovals": 1, "minimum": 2}"#,
            "/minimum",
            "unknown field `minimum`, expected `minApprovals` or `nested`",
        );
        check(
            r#"{"minApprovals": 1, "nested": [{"a/b": true}, {"a/b": 1}]}"#,
            "/nested/1/a~1b",
            "invalid type: integer `1`, expected a boolean",
        );
        check(r#"{"minApprovals": 1, "nested": [{"x": 1}]}"#, "/nested/0/x", "unknown field `x`, expected `a/b`");
        check("{}", "", "missing field `minApprovals`");
        check("[", "", "EOF while parsing a list");
    }
}
