//! What can be wrong with an expression, when it is saved and when it is evaluated.

use std::fmt;

/// Where in an expression, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The position of a byte of `text`; behind the end it is the end.
    #[must_use]
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let mut end = byte.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why an expression cannot be saved: what, where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// Where; absent for what concerns the whole text.
    pub position: Option<Position>,
    /// What.
    pub problem: Problem,
}

impl SelectorError {
    pub(crate) fn new(position: Option<Position>, problem: Problem) -> Self {
        Self { position, problem }
    }
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{} ({position})", self.problem),
            None => self.problem.fmt(f),
        }
    }
}

impl std::error::Error for SelectorError {}

/// What is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Longer than [`crate::bounds::LENGTH_BYTES_MAX`].
    #[error("is {bytes} bytes long, at most {} are allowed", crate::bounds::LENGTH_BYTES_MAX)]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Brackets and conditionals deeper than [`crate::bounds::NESTING_MAX`].
    #[error("brackets and conditionals are nested more than {} deep", crate::bounds::NESTING_MAX)]
    TooDeep,
    /// More than [`crate::bounds::CHAIN_MAX`] `.name` and `[index]` in a row.
    #[error("more than {} fields and indices in a row", crate::bounds::CHAIN_MAX)]
    ChainTooLong,
    /// More than [`crate::bounds::OPERATORS_IN_A_ROW_MAX`] operators in a row.
    #[error("more than {} arithmetic or comparison operators in a row", crate::bounds::OPERATORS_IN_A_ROW_MAX)]
    TooManyOperators,
    /// A tree deeper than [`crate::bounds::DEPTH_MAX`].
    #[error("is too deeply nested in all, at most {} levels are allowed", crate::bounds::DEPTH_MAX)]
    TreeTooDeep,
    /// More than [`crate::bounds::COMPREHENSIONS_NESTED_MAX`] comprehensions inside one another.
    #[error(
        "`all`, `exists`, `map` and `filter` are nested more than {} deep",
        crate::bounds::COMPREHENSIONS_NESTED_MAX
    )]
    ComprehensionsTooDeep,
    /// A list or map with more than [`crate::bounds::LITERAL_ENTRIES_MAX`] entries.
    #[error("a list or map has {entries} entries, at most {} are allowed", crate::bounds::LITERAL_ENTRIES_MAX)]
    LiteralTooLong {
        /// How many it has.
        entries: usize,
    },
    /// It is not CEL.
    #[error("{0}")]
    Syntax(String),
    /// A variable that is not there in this place.
    #[error("unknown variable `{name}`{}, expected one of {}", hint(.suggestion.as_deref()), list(.expected))]
    UnknownVariable {
        /// What was written.
        name: String,
        /// What there is.
        expected: Vec<&'static str>,
        /// What was perhaps meant.
        suggestion: Option<String>,
    },
    /// A field that a variable does not have.
    #[error("`{variable}` has no field `{name}`{}, expected one of {}", hint(.suggestion.as_deref()), list(.expected))]
    UnknownField {
        /// Of which variable.
        variable: String,
        /// What was written.
        name: String,
        /// What there is.
        expected: Vec<&'static str>,
        /// What was perhaps meant.
        suggestion: Option<String>,
    },
    /// A function that CEL does not have.
    #[error("unknown function `{name}`{}", hint(.suggestion.as_deref()))]
    UnknownFunction {
        /// What was written.
        name: String,
        /// What was perhaps meant.
        suggestion: Option<String>,
    },
    /// `Name{field: value}`: there are no messages here.
    #[error("messages such as `{name}{{}}` cannot be made here")]
    Message {
        /// What was written.
        name: String,
    },
    /// A constant that is neither true nor false.
    #[error("is always {found}, expected a condition that is true or false")]
    NotACondition {
        /// The type of the constant.
        found: &'static str,
    },
    /// The host could not start the thread that parses.
    #[error("cannot be read at the moment: {0}")]
    Host(String),
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Why an expression has no answer for what it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// It needs a key or an element that is not there. In the selector of a resource or an environment that is no
    /// match; in a policy's it is a failure.
    #[error("`{expression}`: there is no `{key}`")]
    Absent {
        /// Which expression, shortened.
        expression: String,
        /// What is not there.
        key: String,
    },
    /// It gives something else than true or false.
    #[error("`{expression}` gives {found}, expected true or false")]
    NotACondition {
        /// Which expression, shortened.
        expression: String,
        /// The type of what it gives.
        found: String,
    },
    /// It failed.
    #[error("`{expression}`: {message}")]
    Failed {
        /// Which expression, shortened.
        expression: String,
        /// Why.
        message: String,
    },
}
