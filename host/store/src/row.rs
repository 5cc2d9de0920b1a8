//! From cells to values and back: every conversion that can fail names table, column and row.

use std::{borrow::Cow, fmt::Display};

use model::{Json, Labels, time::Timestamp};
use sqlx::FromRow;
use uuid::Uuid;

use crate::StoreError;

/// A row that is being read, for errors.
pub(crate) struct Place<'a> {
    pub table: &'static str,
    pub id: &'a dyn Display,
}

impl Place<'_> {
    pub fn bad(&self, column: &'static str, problem: impl Into<String>) -> StoreError {
        StoreError::BadRow { table: self.table, column, id: self.id.to_string(), problem: problem.into() }
    }

    pub fn json(&self, column: &'static str, text: &str) -> Result<Json, StoreError> {
        serde_json::from_str(text).map_err(|error| self.bad(column, format!("no JSON: {error}")))
    }

    pub fn labels(&self, column: &'static str, text: &str) -> Result<Labels, StoreError> {
        serde_json::from_str(text).map_err(|error| self.bad(column, format!("no map of labels: {error}")))
    }

    pub fn names(&self, column: &'static str, text: &str) -> Result<Vec<String>, StoreError> {
        serde_json::from_str(text).map_err(|error| self.bad(column, format!("no list of names: {error}")))
    }

    /// A word of a closed set.
    pub fn word<T>(
        &self,
        column: &'static str,
        word: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        parse(word).ok_or_else(|| self.bad(column, format!("`{word}` is not known here")))
    }

    pub fn count(&self, column: &'static str, count: i64) -> Result<u32, StoreError> {
        u32::try_from(count).map_err(|_| self.bad(column, format!("{count} is no count")))
    }

    /// What must be set in this row's status.
    pub fn needed<T>(&self, column: &'static str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.bad(column, "is null, and must not be in this status"))
    }
}

/// A single number.
#[derive(FromRow)]
pub(crate) struct Count {
    pub count: i64,
}

/// A single id.
#[derive(FromRow)]
pub(crate) struct Id {
    pub id: Uuid,
}

/// Which of two things are linked.
#[derive(FromRow)]
pub(crate) struct Link {
    pub id: Uuid,
    pub linked: Uuid,
}

/// Text for a cell. PostgreSQL has no NUL in text, so that neither engine gets one.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// JSON for a cell; its NULs are escaped by JSON itself.
pub(crate) fn json(value: &Json) -> String {
    value.to_string()
}

pub(crate) fn labels(labels: &Labels) -> String {
    serde_json::to_string(labels).expect("a map of strings is JSON")
}

pub(crate) fn names(names: &[String]) -> String {
    serde_json::to_string(names).expect("a list of strings is JSON")
}

pub(crate) fn millis(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_millis)
}

pub(crate) fn instant(millis: Option<i64>) -> Option<Timestamp> {
    millis.map(Timestamp::from_millis)
}

/// An update of a row by its id must have met it.
pub(crate) fn expect_one(changed: u64, table: &'static str, id: &dyn Display) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(StoreError::Missing { table, id: id.to_string() }) }
}
