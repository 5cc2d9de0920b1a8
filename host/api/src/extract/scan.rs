//! A look at JSON text before it is parsed: how deep it is nested, and whether a string in it holds a NUL. One pass,
//! no memory, no recursion; whether the text is JSON at all is for the parser to say.

use std::fmt::Write as _;

use model::Json;

/// Why text is not parsed at all.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Nested deeper than the limit, at this byte.
    TooDeep(usize),
    /// A string or a key holds a NUL, which PostgreSQL's text cannot.
    Nul,
}

pub(super) fn scan(text: &[u8], depth_max: usize) -> Result<(), Refused> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match (in_string, byte) {
            (true, b'\\') => {
                if text[at..].starts_with(b"\\u0000") {
                    return Err(Refused::Nul);
                }
                at += 1;
            }
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => {
                depth += 1;
                if depth > depth_max {
                    return Err(Refused::TooDeep(at));
                }
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Where the first NUL is, as a JSON Pointer. A key that holds one is named by the object that it is in.
pub(super) fn nul_pointer(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => text.contains('\0').then(String::new),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| nul_pointer(item).map(|pointer| format!("/{index}{pointer}"))),
        Json::Object(members) => members.iter().find_map(|(key, item)| {
            if key.contains('\0') {
                return Some(String::new());
            }
            nul_pointer(item).map(|pointer| {
                let mut whole = String::new();
                push_token(&mut whole, key);
                whole + &pointer
            })
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// Adds one reference token to a JSON Pointer, escaped as RFC 6901 says.
pub(super) fn push_token(pointer: &mut String, token: impl std::fmt::Display) {
    let token = token.to_string().replace('~', "~0").replace('/', "~1");
    write!(pointer, "/{token}").expect("a string takes all that is written");
}

/// serde names a member that is missing or comes twice in its message alone: its pointer then leads to the object.
/// Gives the member's name, and the message in words that go with a pointer to it.
pub(super) fn named_member(message: &str) -> Option<(&str, &'static str)> {
    [("missing field `", "is required"), ("duplicate field `", "is a duplicate: it may be given once")]
        .into_iter()
        .find_map(|(start, words)| Some((message.strip_prefix(start)?.strip_suffix('`')?, words)))
}

/// serde names what it expected as Rust does; a client knows JSON.
pub(super) fn in_json_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        "i64" | "u64" | "i32" | "u32" | "u16" | "u8" | "usize" => "a whole number",
        "f64" => "a number",
        "a map" => "an object",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        other => other,
    };
    format!("{found}expected {expected}")
        .replace("invalid type: map", "invalid type: object")
        .replace("invalid type: sequence", "invalid type: list")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(scan(br#"{"a":"[[[[\"[[","b":[1]}"#, 2), Ok(()));
        assert_eq!(scan(br#"{"a":[[1]]}"#, 2), Err(Refused::TooDeep(6)));
        assert_eq!(scan(b"[[]]", 2), Ok(()));
        assert_eq!(scan(b"]]]][[", 2), Ok(()));
        assert_eq!(scan(b"\"open [[[", 2), Ok(()));
    }

    #[test]
    fn a_nul_is_found_but_an_escaped_backslash_is_none() {
        assert_eq!(scan(br#"{"a":"x\u0000"}"#, 9), Err(Refused::Nul));
        assert_eq!(scan(br#"{"a":"x\\u0000"}"#, 9), Ok(()));
        assert_eq!(nul_pointer(&json!({"a/b": [1, {"c": "x\0"}]})), Some("/a~1b/1/c".into()));
        assert_eq!(nul_pointer(&json!({"a": {"\0": 1}})), Some("/a".into()));
        assert_eq!(nul_pointer(&json!({"a": "x"})), None);
    }

    #[test]
    fn what_was_expected_is_said_in_words_of_json() {
        let check = |message: &str, expect: &str| assert_eq!(in_json_words(message), expect);
        check("invalid type: string \"7\", expected i64", "invalid type: string \"7\", expected a whole number");
        check("invalid type: map, expected a sequence", "invalid type: object, expected a list");
        check("`x` is not an instant (expected RFC 3339)", "`x` is not an instant (expected RFC 3339)");
        check("unknown field `a`, expected `b` or `c`", "unknown field `a`, expected `b` or `c`");
    }
}
