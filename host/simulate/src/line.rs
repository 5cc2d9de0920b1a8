//! What a play prints: one line for each event and expectation, and a last one that sums up.

use model::{Json, time::Timestamp};
use serde_json::{Map, Value, json};

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Something happened.
    Event {
        /// When.
        at: Timestamp,
        /// Its place among all events, from 1.
        seq: i64,
        /// What.
        kind: &'static str,
        /// Who did it.
        actor: String,
        /// What it is about, by name: deployment/environment/identifier or a part of it.
        target: Option<String>,
        /// The tag of the version that it is about.
        version: Option<String>,
        /// What else there is to know.
        data: Json,
    },
    /// Something had to be true.
    Expectation {
        /// When.
        at: Timestamp,
        /// Where in the file.
        line: u64,
        /// Of which target.
        target: String,
        /// What was not so: which key, what was expected, what was found. Empty when all was.
        faults: Vec<Fault>,
    },
    /// The play is over.
    Summary(Summary),
}

/// One thing that was not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key of the expectation.
    pub key: &'static str,
    /// What it says.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// What a play came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Expectations that were looked at.
    pub expectations: u64,
    /// Those of them that did not hold.
    pub failed: u64,
    /// Decisions that were recorded.
    pub decisions: u64,
    /// Questions that policies were asked.
    pub evaluations: u64,
    /// Jobs that were made.
    pub jobs: u64,
}

impl Line {
    /// As one JSON object; its keys stand in a fixed order.
    #[must_use]
    pub fn json(&self) -> Json {
        match self {
            Self::Event { at, seq, kind, actor, target, version, data } => {
                let mut object = Map::new();
                object.insert("at".to_owned(), json!(at.to_string()));
                object.insert("seq".to_owned(), json!(seq));
                object.insert("kind".to_owned(), json!(kind));
                object.insert("actor".to_owned(), json!(actor));
                object.insert("target".to_owned(), json!(target));
                object.insert("version".to_owned(), json!(version));
                for (key, value) in data.as_object().into_iter().flatten() {
                    object.entry(key.clone()).or_insert_with(|| value.clone());
                }
                Value::Object(object)
            }
            Self::Expectation { at, line, target, faults } => {
                let faults: Vec<Json> = faults
                    .iter()
                    .map(|fault| json!({"key": fault.key, "expected": fault.expected, "found": fault.found}))
                    .collect();
                json!({
                    "at": at.to_string(),
                    "kind": "expectation",
                    "ok": faults.is_empty(),
                    "line": line,
                    "target": target,
                    "faults": faults,
                })
            }
            Self::Summary(summary) => json!({
                "kind": "summary",
                "expectations": summary.expectations,
                "failed": summary.failed,
                "decisions": summary.decisions,
                "evaluations": summary.evaluations,
                "jobs": summary.jobs,
            }),
        }
    }
}
