//! YAML files of many documents, with the line of every field.

use std::{collections::BTreeMap, fmt};

use model::{
    Json,
    limits::{DOCUMENTS_MAX, JSON_DEPTH_MAX, LARGE_BODY_BYTES_MAX},
    wanted::{FieldError, Wanted},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number};
use serde_saphyr::{Budget, Location, Options, Spanned};

use crate::{document::from_json, fields::escape};

/// Most values of one file, references written out: fifty for each of the documents it may have.
const NODES_MAX: usize = 50 * DOCUMENTS_MAX;

/// Most values of one file that references bring.
const REPLAYED_MAX: usize = 100_000;

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it says.
    pub wanted: Wanted,
    /// The same as it was written, for the server.
    pub json: Json,
    /// The file it is from.
    pub file: String,
    /// Where it begins.
    pub line: u64,
    positions: Positions,
}

impl Document {
    /// Line and column of the field that a pointer (relative to the document) names, or of what it would be in.
    #[must_use]
    pub fn position(&self, pointer: &str) -> (u64, u64) {
        nearest_position(&self.positions, pointer)
    }
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DocumentError {
    /// The file.
    pub file: String,
    /// Where, from 1.
    pub line: u64,
    /// Where, from 1.
    pub column: u64,
    /// Which field, as a pointer relative to the document; empty for the document or the file as a whole.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

/// Reads all documents of a file.
///
/// # Errors
/// Everything that is wrong with any of them; or the first thing that makes the file no YAML.
pub fn parse_yaml(file: &str, text: &str) -> Result<Vec<Document>, Vec<DocumentError>> {
    let trees = read(file, text)?;
    let mut documents = Vec::with_capacity(trees.len());
    let mut errors = Vec::new();
    for Tree { json, positions } in trees {
        match from_json(&json) {
            Ok(wanted) => {
                let line = nearest_position(&positions, "").0;
                documents.push(Document { wanted, json, file: file.to_owned(), line, positions });
            }
            Err(found) => errors.extend(found.into_iter().map(|error| located(file, &positions, error))),
        }
    }
    if errors.is_empty() { Ok(documents) } else { Err(errors) }
}

/// A document as JSON, with the place of every field by its pointer.
pub(crate) struct Tree {
    pub json: Json,
    pub positions: Positions,
}

/// Line and column by pointer.
pub(crate) type Positions = BTreeMap<String, (u64, u64)>;

/// All documents of a file as JSON.
pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Tree>, Vec<DocumentError>> {
    let nodes = serde_saphyr::from_multiple_with_options::<Spanned<Node>>(text, options()).map_err(|error| {
        let location = error.location().unwrap_or(Location::UNKNOWN);
        vec![DocumentError {
            file: file.to_owned(),
            line: location.line().max(1),
            column: location.column().max(1),
            pointer: String::new(),
            message: plain(&error.without_snippet().to_string()),
        }]
    })?;
    let trees = nodes.into_iter().map(|node| {
        let mut positions = Positions::new();
        positions.insert(String::new(), (node.referenced.line(), node.referenced.column()));
        let json = node.value.into_json(&mut String::new(), &mut positions);
        Tree { json, positions }
    });
    Ok(trees.collect())
}

/// What is wrong with a field, with its place.
pub(crate) fn located(file: &str, positions: &Positions, error: FieldError) -> DocumentError {
    let (line, column) = nearest_position(positions, &error.pointer);
    DocumentError { file: file.to_owned(), line, column, pointer: error.pointer, message: error.message }
}

/// YAML 1.2: `no` and `on` are strings, keys do not repeat, and nothing multiplies without bound.
fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_depth = JSON_DEPTH_MAX;
    budget.max_nodes = NODES_MAX;
    budget.max_events = 4 * NODES_MAX;
    budget.max_documents = DOCUMENTS_MAX;
    budget.max_total_scalar_bytes = LARGE_BODY_BYTES_MAX;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.strict_booleans = true;
    // References that refer to references double with every line of a file.
    options.alias_limits.max_total_replayed_events = REPLAYED_MAX;
    options
}

pub(crate) fn nearest_position(positions: &Positions, pointer: &str) -> (u64, u64) {
    let mut pointer = pointer;
    loop {
        if let Some(position) = positions.get(pointer) {
            return *position;
        }
        match pointer.rfind('/') {
            Some(end) => pointer = &pointer[..end],
            None => return (1, 1),
        }
    }
}

/// The parser's message without the place, which is told separately, and without the names of its own types.
fn plain(message: &str) -> String {
    let message = message.trim();
    let message = message.find(" at line ").map_or(message, |end| &message[..end]);
    let message = message.find(", set DuplicateKeyPolicy").map_or(message, |end| &message[..end]);
    match message.strip_prefix("budget breached: ") {
        Some(limit) if limit.starts_with("Depth") => format!("is nested more than {JSON_DEPTH_MAX} deep"),
        Some(limit) if limit.starts_with("Documents") => format!("has more than {DOCUMENTS_MAX} documents"),
        Some(limit) if limit.starts_with("Nodes") || limit.starts_with("Events") => {
            format!("has more than {NODES_MAX} values in all")
        }
        Some(_) => "is larger than what is read at once; split it into several files".to_owned(),
        None => message.to_owned(),
    }
}

/// Any YAML value, with the places of what is in it.
enum Node {
    Scalar(Json),
    List(Vec<Spanned<Node>>),
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

impl Node {
    fn into_json(self, pointer: &mut String, positions: &mut Positions) -> Json {
        let length = pointer.len();
        match self {
            Self::Scalar(json) => json,
            Self::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    positions.insert(pointer.clone(), (item.referenced.line(), item.referenced.column()));
                    list.push(item.value.into_json(pointer, positions));
                    pointer.truncate(length);
                }
                Json::Array(list)
            }
            Self::Map(entries) => {
                let mut object = Map::new();
                for (key, value) in entries {
                    pointer.push('/');
                    pointer.push_str(&escape(&key.value));
                    // The key's place: it is where a person looks for the field.
                    positions.insert(pointer.clone(), (key.referenced.line(), key.referenced.column()));
                    let json = value.value.into_json(pointer, positions);
                    object.insert(key.value, json);
                    pointer.truncate(length);
                }
                Json::Object(object)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has as well")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Json::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Json::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Json::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Json::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Json::from(value)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        Number::from_f64(value)
            .map(|number| Node::Scalar(Json::Number(number)))
            .ok_or_else(|| E::custom(format!("`{value}` is not a number that JSON has")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Json::String(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Scalar(Json::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map: Vec<(Spanned<String>, Spanned<Node>)> = Vec::new();
        // Repeated keys are refused by the parser.
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}
