//! The answer of an expression as JSON.

use cel::Value;
use serde_json::{Map, Number, Value as Json};

/// Converts an answer, or says what JSON cannot hold. Recursion is bounded by the depth of expressions and variables.
pub(crate) fn to_json(value: &Value) -> Result<Json, String> {
    match value {
        Value::Null => Ok(Json::Null),
        Value::Bool(value) => Ok(Json::Bool(*value)),
        Value::Int(value) => Ok(Json::from(*value)),
        Value::UInt(value) => Ok(Json::from(*value)),
        Value::Float(value) => {
            Number::from_f64(*value).map(Json::Number).ok_or_else(|| format!("gives `{value}`, which JSON cannot hold"))
        }
        Value::String(value) => Ok(Json::String(value.to_string())),
        Value::List(items) => items.iter().map(to_json).collect::<Result<Vec<_>, _>>().map(Json::Array),
        Value::Map(map) => {
            // A hash map has no order of its own; the same answer must be the same bytes every time.
            let mut entries: Vec<_> = map.map.iter().map(|(key, value)| (key.to_string(), value)).collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            let mut object = Map::new();
            for (key, value) in entries {
                object.insert(key, to_json(value)?);
            }
            Ok(Json::Object(object))
        }
        Value::Timestamp(instant) => Ok(Json::String(instant.to_rfc3339())),
        Value::Duration(_) | Value::Bytes(_) | Value::Opaque(_) | Value::Function(..) | Value::Struct(_) => {
            Err(format!("gives a {}, which JSON cannot hold (convert it with `string()`)", value.type_of()))
        }
    }
}
