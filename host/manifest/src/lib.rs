//! The documents that people write: what should be there, by name, as YAML files or as JSON in a request.
//!
//! [`from_json`] reads one document from JSON and says of every field what is wrong with it; [`parse_yaml`] reads a file
//! of many and keeps the line of every field, so that what the server finds wrong later still leads back to the file.
//! Nothing here looks anything up: whether a system or a plugin exists is for the engine to say.
#![warn(missing_docs)]

mod document;
mod fields;
mod rule;
pub mod scenario;
mod yaml;

pub use document::{TYPES, from_json};
pub use yaml::{Document, DocumentError, parse_yaml};

#[cfg(test)]
mod tests;
