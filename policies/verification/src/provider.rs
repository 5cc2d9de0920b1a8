//! Where a metric is measured: one of the host's providers, with that provider's own configuration.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

/// What the host can measure with.
pub const NAMES: [&str; 6] = ["http", "prometheus", "datadog", "sleep", "terraform-cloud-run", "job"];

/// A provider and its configuration: `{type: http, url: ...}`, or its name alone where it needs none.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// Its name, one of [`NAMES`].
    pub name: &'static str,
    /// What it is configured with. The host knows what each provider takes, and refuses the rest.
    pub config: Map<String, Value>,
}

impl Provider {
    /// The host measures nothing by itself; the agent reports while its job runs, or afterwards.
    #[must_use]
    pub fn is_job(&self) -> bool {
        self.name == "job"
    }

    /// Nothing is looked at: waiting was all.
    #[must_use]
    pub fn is_sleep(&self) -> bool {
        self.name == "sleep"
    }

    fn named(name: &str) -> Option<&'static str> {
        // As Ctrlplane writes it.
        let name = if name == "terraformCloudRun" { "terraform-cloud-run" } else { name };
        NAMES.into_iter().find(|known| *known == name)
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Provider;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "one of {}, or an object with it as `type`", NAMES.join(", "))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Provider, E> {
                let known = Provider::named(name).ok_or_else(|| E::invalid_value(de::Unexpected::Str(name), &self))?;
                Ok(Provider { name: known, config: Map::new() })
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<Provider, A::Error> {
                let mut config = Map::new();
                while let Some((key, value)) = entries.next_entry::<String, Value>()? {
                    if config.insert(key.clone(), value).is_some() {
                        return Err(de::Error::custom(format!("`{key}` is there twice")));
                    }
                }
                match config.remove("type") {
                    Some(Value::String(name)) => Ok(Provider { config, ..self.visit_str(&name)? }),
                    Some(_) => {
                        Err(de::Error::custom(format!("`type` is no text (expected one of {})", NAMES.join(", "))))
                    }
                    None => Err(de::Error::missing_field("type")),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Provider {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Provider".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut names: Vec<&str> = NAMES.to_vec();
        names.push("terraformCloudRun");
        schemars::json_schema!({
            "anyOf": [
                {"type": "string", "enum": names},
                {"type": "object", "required": ["type"], "properties": {"type": {"type": "string", "enum": names}}}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expect: Result<(&str, &str), &str>) {
        let found = serde_json::from_str::<Provider>(json).map_err(|error| error.to_string());
        match (found, expect) {
            (Ok(provider), Ok((name, config))) => {
                assert_eq!((provider.name, Value::Object(provider.config).to_string().as_str()), (name, config));
            }
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, expect) => panic!("{json}: found {found:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn names_and_objects() {
        check(r#""job""#, Ok(("job", "{}")));
        check(r#"{"type": "sleep"}"#, Ok(("sleep", "{}")));
        check(r#"{"url": "http://x", "type": "http"}"#, Ok(("http", r#"{"url":"http://x"}"#)));
        check(r#"{"type": "terraformCloudRun", "runUrl": "u"}"#, Ok(("terraform-cloud-run", r#"{"runUrl":"u"}"#)));
        check(r#""htp""#, Err("expected one of http, prometheus"));
        check(r#"{"type": "newrelic"}"#, Err("expected one of http, prometheus"));
        check(r#"{"url": "http://x"}"#, Err("missing field `type`"));
        check(r#"{"type": 7}"#, Err("`type` is no text"));
        check(r#"{"type": "http", "url": 1, "url": 2}"#, Err("`url` is there twice"));
        check("7", Err("expected one of http"));
    }
}
