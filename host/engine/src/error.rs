//! What a command may answer besides yes. The API turns these into problems in one place.

use model::{plugin::Fault, wanted::FieldError};
use store::StoreError;

/// Why a command changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It is not there, or not for this caller.
    #[error("there is no {what} here")]
    NotFound {
        /// Which thing, such as "deployment `api`".
        what: String,
    },
    /// It does not fit what is there.
    #[error("{detail}")]
    Conflict {
        /// What is there, and what to do.
        detail: String,
    },
    /// What was sent is wrong.
    #[error("{} field(s) are wrong: {}", .0.len(), summary(.0))]
    Invalid(Vec<FieldError>),
    /// A component is not fit to be a plugin.
    #[error("{0}")]
    Plugin(Fault),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CommandError {
    /// One wrong field.
    #[must_use]
    pub fn field(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError { pointer: pointer.into(), message: message.into() }])
    }
}

fn summary(errors: &[FieldError]) -> String {
    let texts: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.pointer, error.message)).collect();
    texts.join("; ")
}
