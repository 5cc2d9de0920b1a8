//! Opens the database of either engine, brings its schema up to date and begins transactions.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use model::{id::IdSource, time::Timestamp};
use sqlx::{
    PgPool, SqlitePool,
    postgres::PgPoolOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use uuid::Uuid;

use crate::{
    StoreError,
    clock::Clock,
    event, planning,
    tx::{Inner, Tx},
    wake::Signals,
};

const SQLITE_READERS: u32 = 4;
/// More than the store has, so that none is parsed again and again.
const SQLITE_STATEMENTS: usize = 1000;
const POSTGRES_CONNECTIONS: u32 = 16;
/// A transaction that waits longer for its turn than this fails.
const ACQUIRE_SECONDS: u64 = 30;
/// How often events that nobody gave a position (their server died in between) are looked for.
const SEQUENCE_SECONDS: u64 = 1;

pub(crate) const POSTGRES_NOW: &str = "-- pool.now
SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) AS count";

/// How to open a store.
#[derive(Debug)]
pub struct Options {
    /// `sqlite:PATH` or `postgres://…`.
    pub url: String,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Two stores that write the same database at any time must have different ones.
    pub id_seed: u64,
    /// What a commit outlives.
    pub durability: Durability,
}

/// What a commit outlives. PostgreSQL's server has its own word on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power: it waits for the disk.
    Power,
    /// The process, and no more: for databases that are thrown away, as a simulation's.
    Process,
}

/// The database.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pool: Pool,
    clock: Arc<dyn Clock>,
    ids: Mutex<IdSource>,
    pub signals: Signals,
    /// Held locked for as long as the store is open; keeps a second process off.
    _lock: Option<File>,
}

#[derive(Debug)]
enum Pool {
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    Postgres(PgPool),
}

impl Store {
    /// Opens the database and brings its schema up to date.
    pub async fn open(options: Options) -> Result<Self, StoreError> {
        let (pool, lock) = match options.url.strip_prefix("sqlite:") {
            Some(path) => {
                let path = path.strip_prefix("//").unwrap_or(path);
                if path.is_empty() || path.starts_with(':') {
                    return Err(StoreError::Address(options.url));
                }
                open_sqlite(Path::new(path), options.durability).await?
            }
            None if options.url.starts_with("postgres://") || options.url.starts_with("postgresql://") => {
                (open_postgres(&options.url).await?, None)
            }
            None => return Err(StoreError::Address(without_credentials(&options.url))),
        };
        let shared = Arc::new(Shared {
            pool,
            clock: options.clock,
            ids: Mutex::new(IdSource::new(options.id_seed)),
            signals: Signals::new(),
            _lock: lock,
        });
        if matches!(shared.pool, Pool::Postgres(_)) {
            let weak = Arc::downgrade(&shared);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(Duration::from_secs(SEQUENCE_SECONDS)).await;
                    let Some(shared) = weak.upgrade() else { break };
                    shared.sequence_events().await;
                }
            });
        }
        let store = Self { shared };
        if matches!(store.shared.pool, Pool::Sqlite { .. }) {
            let mut tx = store.write("store.open").await?;
            planning::release_all(&mut tx).await?;
            tx.commit().await?;
        }
        Ok(store)
    }

    /// A transaction that reads, all of it from one moment.
    pub async fn read(&self, name: &'static str) -> Result<Tx, StoreError> {
        let failed = |source| StoreError::Transaction { name, step: "begin", source };
        let inner = match &self.shared.pool {
            Pool::Sqlite { readers, .. } => Inner::Sqlite(readers.begin().await.map_err(failed)?),
            Pool::Postgres(pool) => Inner::Postgres(
                pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(failed)?,
            ),
        };
        self.shared.transaction(inner, name).await
    }

    /// A transaction that writes. On SQLite it is the only one.
    pub async fn write(&self, name: &'static str) -> Result<Tx, StoreError> {
        self.shared.write(name).await
    }

    /// Wake-ups after commits.
    #[must_use]
    pub fn signals(&self) -> &Signals {
        &self.shared.signals
    }

    /// Where time comes from.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.shared.clock
    }

    /// Waits for open transactions to end and closes the database.
    pub async fn close(&self) {
        match &self.shared.pool {
            Pool::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

impl Shared {
    pub fn new_id(&self, now: Timestamp) -> Uuid {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).next(now)
    }

    async fn write(self: &Arc<Self>, name: &'static str) -> Result<Tx, StoreError> {
        let failed = |source| StoreError::Transaction { name, step: "begin", source };
        let inner = match &self.pool {
            Pool::Sqlite { writer, .. } => Inner::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?),
            Pool::Postgres(pool) => Inner::Postgres(pool.begin().await.map_err(failed)?),
        };
        self.transaction(inner, name).await
    }

    /// The instant is taken once the transaction has its turn, so that writers' instants rise in their order.
    async fn transaction(self: &Arc<Self>, mut inner: Inner, name: &'static str) -> Result<Tx, StoreError> {
        let now = match &mut inner {
            Inner::Postgres(open) if self.clock.is_real() => {
                let row = sqlx::query_as::<_, crate::row::Count>(POSTGRES_NOW).fetch_one(&mut **open).await;
                Timestamp::from_millis(row.map_err(|source| StoreError::statement(POSTGRES_NOW, source))?.count)
            }
            Inner::Postgres(_) | Inner::Sqlite(_) => self.clock.now(),
        };
        Ok(Tx::new(inner, name, now, Arc::clone(self)))
    }

    /// Gives committed events their positions (PostgreSQL). What fails here is done by the next one.
    pub async fn sequence_events(self: &Arc<Self>) {
        match self.try_sequence().await {
            Ok(true) => self.signals.fire_events(),
            Ok(false) => {}
            Err(StoreError::Transaction { source: sqlx::Error::PoolClosed, .. }) => {}
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "events wait for their positions"),
        }
    }

    async fn try_sequence(self: &Arc<Self>) -> Result<bool, StoreError> {
        let mut tx = self.write("event.sequence").await?;
        event::lock_sequence(&mut tx).await?;
        let sequenced = event::sequence(&mut tx).await? > 0;
        // Boxed: a commit may call back here.
        Box::pin(tx.commit()).await?;
        Ok(sequenced)
    }
}

async fn open_sqlite(path: &Path, durability: Durability) -> Result<(Pool, Option<File>), StoreError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::File { path, source }
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    }
    let lock_path = lock_path(path);
    let lock =
        OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path).map_err(file_error(&lock_path))?;
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Locked { database: path.to_owned(), lock: lock_path.clone() },
        TryLockError::Error(source) => StoreError::File { path: lock_path.clone(), source },
    })?;

    let address = format!("sqlite:{}", path.display());
    let failed = |source| StoreError::Open { address: address.clone(), source };
    let synchronous = match durability {
        Durability::Power => SqliteSynchronous::Full,
        Durability::Process => SqliteSynchronous::Off,
    };
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .statement_cache_capacity(SQLITE_STATEMENTS)
        .busy_timeout(Duration::from_secs(10));
    let timeout = Duration::from_secs(ACQUIRE_SECONDS);
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(timeout)
        .idle_timeout(None)
        .max_lifetime(None)
        // A file does not hang up.
        .test_before_acquire(false)
        .connect_with(options.clone())
        .await
        .map_err(failed)?;
    sqlx::migrate!("migrations/sqlite")
        .run(&writer)
        .await
        .map_err(|source| StoreError::Migrate { address: address.clone(), source: Box::new(source) })?;
    let readers = SqlitePoolOptions::new()
        .max_connections(SQLITE_READERS)
        .acquire_timeout(timeout)
        .test_before_acquire(false)
        .connect_with(options.read_only(true))
        .await
        .map_err(failed)?;
    Ok((Pool::Sqlite { writer, readers }, Some(lock)))
}

async fn open_postgres(url: &str) -> Result<Pool, StoreError> {
    let address = without_credentials(url);
    let pool = PgPoolOptions::new()
        .max_connections(POSTGRES_CONNECTIONS)
        .acquire_timeout(Duration::from_secs(ACQUIRE_SECONDS))
        .connect(url)
        .await
        .map_err(|source| StoreError::Open { address: address.clone(), source })?;
    sqlx::migrate!("migrations/postgres")
        .run(&pool)
        .await
        .map_err(|source| StoreError::Migrate { address, source: Box::new(source) })?;
    Ok(Pool::Postgres(pool))
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// An address may hold a password; errors and logs must not.
fn without_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
            let host = rest[..authority_end].rfind('@').map_or(0, |at| at + 1);
            let end = rest.find('?').unwrap_or(rest.len());
            format!("{scheme}://{}", &rest[host..end])
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn passwords_stay_out_of_messages() {
        let check = |url: &str, expect: &str| assert_eq!(super::without_credentials(url), expect);
        check("postgres://user:se@cret@db:5432/tidegate?password=x", "postgres://db:5432/tidegate");
        check("postgres://db/tidegate", "postgres://db/tidegate");
        check("mysql:x", "mysql:x");
    }
}
