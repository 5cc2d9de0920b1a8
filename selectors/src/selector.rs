//! A selector: a condition, parsed once and evaluated many times.

use std::sync::Arc;

use crate::{
    check::Names,
    error::{EvalError, SelectorError},
    eval,
    parse::{Tree, parse},
    view::{Bindings, NAMED_FIELDS, RESOURCE_FIELDS, VERSION_FIELDS},
};

/// Where a selector stands, which says what it may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Of a deployment or an environment: `resource`.
    Resource,
    /// Of a policy: `deployment`, `environment`, `resource`.
    Policy,
    /// Of versions: those and `version`.
    Version,
}

impl Place {
    fn variables(self) -> &'static [(&'static str, &'static [&'static str])] {
        const ALL: &[(&str, &[&str])] = &[
            ("resource", RESOURCE_FIELDS),
            ("environment", NAMED_FIELDS),
            ("deployment", NAMED_FIELDS),
            ("version", VERSION_FIELDS),
        ];
        match self {
            Self::Resource => &ALL[..1],
            Self::Policy => &ALL[..3],
            Self::Version => ALL,
        }
    }
}

/// Whether a selector matches, where what is absent is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The answer.
    pub matched: bool,
    /// The key that was asked for and is not there, when that is why nothing matched.
    pub absent: Option<String>,
}

/// A condition over the variables of a place. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Selector {
    text: Arc<str>,
    tree: Arc<Tree>,
    /// The answer of `true` and `false`, which are most selectors of small set-ups.
    constant: Option<bool>,
}

impl Selector {
    /// Parses and checks `text` as a selector of that place.
    ///
    /// # Errors
    /// When it exceeds a bound, is no CEL, or names what is not there; with the position.
    pub fn parse(text: &str, place: Place) -> Result<Self, SelectorError> {
        let tree = parse(text, &Names { variables: Some(place.variables()), condition: true })?;
        let constant = match text.trim() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        Ok(Self { text: text.into(), tree: Arc::new(tree), constant })
    }

    /// The text, as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches. What is absent is an error here: for policies, whose failure must block.
    ///
    /// # Errors
    /// When it has no answer, or one that is neither true nor false.
    pub fn matches(&self, bindings: &Bindings<'_>) -> Result<bool, EvalError> {
        match self.constant {
            Some(constant) => Ok(constant),
            None => eval::condition(&self.tree, &self.text, bindings),
        }
    }

    /// Whether it matches. What is absent is no match here, and is named: for deployments and environments.
    ///
    /// # Errors
    /// When it has no answer for another reason.
    pub fn matches_or_absent(&self, bindings: &Bindings<'_>) -> Result<Match, EvalError> {
        match self.matches(bindings) {
            Ok(matched) => Ok(Match { matched, absent: None }),
            Err(EvalError::Absent { key, .. }) => Ok(Match { matched: false, absent: Some(key) }),
            Err(error) => Err(error),
        }
    }
}
