//! A transaction: its instant, its ids, and what it fires once it is committed. Dropped without a commit it is
//! rolled back and fires nothing.

use std::sync::Arc;

use model::{id::JobAgentId, time::Timestamp};
use sqlx::{Postgres, Sqlite, Transaction};
use uuid::Uuid;

use crate::{StoreError, event, pool::Shared, wake::Pending};

/// An open transaction of either engine.
pub struct Tx {
    pub(crate) inner: Inner,
    pub(crate) statements: u32,
    pub(crate) pending: Pending,
    /// Whether events wait in the outbox for their positions.
    pub(crate) unsequenced: bool,
    name: &'static str,
    now: Timestamp,
    shared: Arc<Shared>,
}

pub(crate) enum Inner {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Tx {
    pub(crate) fn new(inner: Inner, name: &'static str, now: Timestamp, shared: Arc<Shared>) -> Self {
        Self { inner, statements: 0, pending: Pending::default(), unsequenced: false, name, now, shared }
    }

    /// The instant of this transaction, the same throughout.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// A new id.
    #[must_use]
    pub fn new_id(&self) -> Uuid {
        self.shared.new_id(self.now)
    }

    /// How many statements were run so far.
    #[must_use]
    pub const fn statements(&self) -> u32 {
        self.statements
    }

    /// Makes the changes last and wakes who waits for them.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        let name = self.name;
        let on_postgres = matches!(self.inner, Inner::Postgres(_));
        // SQLite has one writer: positions are given in the transaction itself.
        if self.unsequenced && !on_postgres {
            event::sequence(&mut self).await?;
        }
        match self.inner {
            Inner::Sqlite(open) => open.commit().await,
            Inner::Postgres(open) => open.commit().await,
        }
        .map_err(|source| StoreError::Transaction { name, step: "commit", source })?;
        tracing::trace!(transaction = name, statements = self.statements, "committed");
        self.shared.signals.fire(&self.pending);
        if self.unsequenced {
            if on_postgres {
                self.shared.sequence_events().await;
            } else {
                self.shared.signals.fire_events();
            }
        }
        Ok(())
    }

    /// Once this is committed, one waiter of the agent is woken for each call.
    pub fn wake_for_job(&mut self, agent: JobAgentId) {
        *self.pending.jobs.entry(agent).or_default() += 1;
    }
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("name", &self.name).field("now", &self.now).finish_non_exhaustive()
    }
}

/// One body for both engines; the text is for errors.
macro_rules! on {
    ($tx:expr, $sql:expr, |$conn:ident| $body:expr) => {{
        $tx.statements += 1;
        match &mut $tx.inner {
            $crate::tx::Inner::Sqlite(open) => {
                let $conn = &mut **open;
                $body
            }
            $crate::tx::Inner::Postgres(open) => {
                let $conn = &mut **open;
                $body
            }
        }
        .map_err(|source| $crate::StoreError::statement($sql, source))
    }};
}

/// All rows of a query.
macro_rules! all {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::tx::on!($tx, $sql, |conn| {
            sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch_all(&mut *conn).await
        })
    };
}

/// The one row of a query, if there is one.
macro_rules! one {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::tx::on!($tx, $sql, |conn| {
            sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch_optional(&mut *conn).await
        })
    };
}

/// How many there are.
macro_rules! count {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::tx::on!($tx, $sql, |conn| {
            sqlx::query_as::<_, $crate::row::Count>($sql)$(.bind($bind))*.fetch_one(&mut *conn).await
        })
        .map(|row| row.count)
    };
}

/// Runs a statement and gives the number of rows changed.
macro_rules! run {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::tx::on!($tx, $sql, |conn| {
            sqlx::query($sql)$(.bind($bind))*.execute(&mut *conn).await.map(|done| done.rows_affected())
        })
    };
}

pub(crate) use {all, count, on, one, run};
