//! The configuration of `anyApproval`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use tidegate_policy::ConfigError;

/// Who must approve a version before it goes to an environment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// How many different people must approve.
    #[serde(default = "one")]
    pub min_approvals: u32,
    /// Teams whose members count. With neither `roles` nor `users`, everybody counts.
    #[serde(default)]
    pub roles: Vec<String>,
    /// People who count, besides the members of `roles`.
    #[serde(default)]
    pub users: Vec<String>,
    /// The version's creator does not count.
    #[serde(default)]
    pub prevent_self_approval: bool,
    /// How long an approval holds: seconds, `90s`, `5m`, `2h`, `1d`, or ISO 8601 such as `PT12H` or `P7D`.
    #[serde(default)]
    pub expires_after: Option<Expiry>,
}

const fn one() -> u32 {
    1
}

impl Config {
    /// Checks what the schema cannot.
    ///
    /// # Errors
    /// Names that are empty, and rules that nobody could ever satisfy.
    pub fn validate(&self) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        for (key, names) in [("roles", &self.roles), ("users", &self.users)] {
            for (index, name) in names.iter().enumerate() {
                if name.trim().is_empty() {
                    errors.push(error(&format!("/{key}/{index}"), "is empty (expected a name)"));
                } else if names[..index].contains(name) {
                    errors.push(error(&format!("/{key}/{index}"), &format!("`{name}` is listed twice")));
                }
            }
        }
        let users = u32::try_from(self.users.len()).unwrap_or(u32::MAX);
        if self.roles.is_empty() && users > 0 && self.min_approvals > users {
            let message = format!("{} can never be reached: only {users} may approve", self.min_approvals);
            errors.push(error("/minApprovals", &message));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

fn error(path: &str, message: &str) -> ConfigError {
    ConfigError { path: path.to_owned(), message: message.to_owned() }
}

/// A span of more than nothing, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry {
    /// How long.
    pub seconds: u32,
}

impl Expiry {
    /// In milliseconds.
    #[must_use]
    pub fn millis(self) -> i64 {
        i64::from(self.seconds) * 1000
    }

    fn parse(text: &str) -> Option<Self> {
        let seconds = match text.strip_prefix('P') {
            Some(iso) => {
                let (days, time) = match iso.split_once('T') {
                    Some((days, time)) if !time.is_empty() => (days, time),
                    Some(_) => return None,
                    None => (iso, ""),
                };
                let days = units(days, &[('W', 604_800), ('D', 86_400)])?;
                days.checked_add(units(time, &[('H', 3600), ('M', 60), ('S', 1)])?)?
            }
            None => units(text, &[('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)])?,
        };
        Self::from_seconds(seconds)
    }

    fn from_seconds(seconds: u64) -> Option<Self> {
        u32::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(|seconds| Self { seconds })
    }
}

/// The sum of numbers with units, each unit at most once and in the given order.
fn units(mut text: &str, units: &[(char, u64)]) -> Option<u64> {
    let mut sum = 0_u64;
    let mut left = units.iter();
    while !text.is_empty() {
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let count: u64 = text[..end].parse().ok()?;
        let unit = text[end..].chars().next()?;
        let (_, seconds) = left.find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(count.checked_mul(*seconds)?)?;
        text = &text[end + unit.len_utf8()..];
    }
    Some(sum)
}

impl<'de> Deserialize<'de> for Expiry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Expiry;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("more than zero seconds, or a span such as 90s, 2h, 1d, PT12H or P7D")
            }
            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Expiry, E> {
                Expiry::from_seconds(seconds).ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(seconds), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Expiry, E> {
                Expiry::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Expiry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Expiry".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": u32::MAX},
                {"type": "string", "pattern": "^(P|[0-9])[0-9A-Za-z]+$"}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Config, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn spans() {
        for (text, seconds) in [
            ("60", Some(60)),
            ("\"90s\"", Some(90)),
            ("\"1d2h\"", Some(93_600)),
            ("\"PT12H\"", Some(43_200)),
            ("\"P1W\"", Some(604_800)),
            ("\"P1DT1M1S\"", Some(86_461)),
            ("0", None),
            ("-1", None),
            ("\"\"", None),
            ("\"P\"", None),
            ("\"PT\"", None),
            ("\"P1M\"", None),
            ("\"2h1d\"", None),
            ("\"99999999999999999999s\"", None),
            ("\"200000d\"", None),
        ] {
            let config = parse(&format!("{{\"expiresAfter\": {text}}}"));
            assert_eq!(config.ok().and_then(|c| c.expires_after).map(|e| e.seconds), seconds, "{text}");
        }
    }

    #[test]
    fn unknown_keys_and_rules_that_nobody_can_satisfy_are_refused() {
        assert!(parse(r#"{"minApproval": 1}"#).expect_err("misspelt").contains("unknown field `minApproval`"));
        let errors = |json| parse(json).expect("parses").validate().expect_err("wrong").remove(0);
        assert_eq!(errors(r#"{"minApprovals": 2, "users": ["a"]}"#).path, "/minApprovals");
        assert_eq!(errors(r#"{"roles": ["sre", " "]}"#).path, "/roles/1");
        assert_eq!(errors(r#"{"users": ["a", "b", "a"]}"#).path, "/users/2");
        assert_eq!(
            parse(r#"{"minApprovals": 2, "users": ["a"], "roles": ["sre"]}"#).expect("parses").validate(),
            Ok(())
        );
    }
}
