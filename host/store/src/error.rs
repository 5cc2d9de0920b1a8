//! What can go wrong in the store: said once, with the statement, row or file it happened at.

use std::path::PathBuf;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address of the database has no known form.
    #[error("`{0}` is no database address (expected sqlite:PATH or postgres://HOST/NAME)")]
    Address(String),
    /// Another process has the database open.
    #[error("the database `{}` is in use by another process (lock file `{}`)", database.display(), lock.display())]
    Locked {
        /// The database file.
        database: PathBuf,
        /// The file that the other process holds locked.
        lock: PathBuf,
    },
    /// A file or folder beside the database.
    #[error("cannot open `{}`", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The database could not be opened.
    #[error("cannot open the database `{address}`")]
    Open {
        /// Its address, without credentials.
        address: String,
        /// Why.
        source: sqlx::Error,
    },
    /// The schema could not be brought up to date.
    #[error("cannot migrate the database `{address}`")]
    Migrate {
        /// Its address, without credentials.
        address: String,
        /// Why.
        source: Box<sqlx::migrate::MigrateError>,
    },
    /// A transaction could not begin or commit.
    #[error("transaction `{name}` failed to {step}")]
    Transaction {
        /// Its name.
        name: &'static str,
        /// `begin` or `commit`.
        step: &'static str,
        /// Why.
        source: sqlx::Error,
    },
    /// A statement failed.
    #[error("statement `{name}` failed")]
    Statement {
        /// Its name, as in the first line of its text.
        name: &'static str,
        /// Why.
        source: sqlx::Error,
    },
    /// A row that is no value of the model.
    #[error("bad row in `{table}`, column `{column}`, id `{id}`: {problem}")]
    BadRow {
        /// The table.
        table: &'static str,
        /// The column that is wrong.
        column: &'static str,
        /// The row.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A row that the caller said is there is not.
    #[error("no row in `{table}` with id `{id}`")]
    Missing {
        /// The table.
        table: &'static str,
        /// The row.
        id: String,
    },
}

impl StoreError {
    pub(crate) fn statement(text: &'static str, source: sqlx::Error) -> Self {
        Self::Statement { name: statement_name(text), source }
    }

    /// Whether the same transaction may succeed when it is run again from its start: another one was in its way
    /// (a lock cycle, a serialization failure, the same key written at the same time), or the connection broke.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        let (Self::Transaction { source, .. } | Self::Statement { source, .. }) = self else { return false };
        match source {
            // 40001 serialization failure, 40P01 deadlock (PostgreSQL); 5 and 517 busy (SQLite).
            sqlx::Error::Database(error) => {
                error.is_unique_violation()
                    || matches!(error.code().as_deref(), Some("40001" | "40P01" | "5" | "517" | "57P01"))
            }
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => true,
            _ => false,
        }
    }

    /// Whether a row with the same key is already there.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        match self {
            Self::Statement { source: sqlx::Error::Database(error), .. } => error.is_unique_violation(),
            _ => false,
        }
    }
}

/// `noun.verb` of a text that begins with `-- noun.verb`.
pub(crate) fn statement_name(text: &'static str) -> &'static str {
    text.lines().next().and_then(|line| line.strip_prefix("-- ")).unwrap_or(text)
}
