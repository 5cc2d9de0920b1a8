//! Fresh databases of both engines, and a way round the store into each.

use std::{
    os::unix::{fs::MetadataExt, fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use model::time::Timestamp;
use sqlx::{Connection, Executor, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use store::{Durability, ManualClock, Options, Store};

/// 2026-03-02T08:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_772_438_400_000);

/// A store over an empty database.
pub struct Bench {
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub raw: Raw,
}

/// The database itself, past the store.
pub enum Raw {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Raw {
    pub async fn sqlite(&self) -> Option<SqliteConnection> {
        let Self::Sqlite(path) = self else { return None };
        let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::from_secs(5));
        Some(SqliteConnection::connect_with(&options).await.expect("the file is there"))
    }

    pub async fn postgres(&self) -> Option<PgConnection> {
        let Self::Postgres(url) = self else { return None };
        Some(PgConnection::connect(url).await.expect("the cluster runs"))
    }

    /// Runs one text on either engine.
    pub async fn run(&self, sql: &'static str) -> Result<u64, sqlx::Error> {
        match self {
            Self::Sqlite(_) => {
                let mut connection = self.sqlite().await.expect("SQLite");
                Ok(connection.execute(sql).await?.rows_affected())
            }
            Self::Postgres(_) => {
                let mut connection = self.postgres().await.expect("PostgreSQL");
                Ok(connection.execute(sql).await?.rows_affected())
            }
        }
    }
}

/// A SQLite database in a folder.
pub async fn sqlite(folder: &Path) -> Bench {
    let path = folder.join("data").join("tidegate.db");
    let (store, clock) = open(format!("sqlite:{}", path.display())).await;
    Bench { store, clock, raw: Raw::Sqlite(path) }
}

async fn open(url: String) -> (Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(START));
    let options = Options { url, clock: Arc::clone(&clock) as _, id_seed: 7, durability: Durability::Power };
    (Store::open(options).await.expect("a fresh database opens"), clock)
}

/// A private PostgreSQL on a socket in a temporary folder.
pub struct Cluster {
    server: Child,
    folder: tempfile::TempDir,
}

impl Cluster {
    /// `None` without PostgreSQL's programs; with CI=true that is a failure.
    pub fn start() -> Option<Self> {
        let Some((initdb, postgres)) = program("initdb").zip(program("postgres")) else {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "PostgreSQL must be there when CI=true");
            eprintln!("skipped: no PostgreSQL programs (initdb, postgres) on this machine");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let user = server_user(folder.path());
        if let Some((uid, gid)) = user {
            chown(folder.path(), Some(uid), Some(gid)).expect("root may give a folder away");
        }
        let data = folder.path().join("data");
        let run_as = |mut command: Command| {
            if let Some((uid, gid)) = user {
                command.uid(uid).gid(gid);
            }
            command.current_dir(folder.path()).stdin(Stdio::null());
            command
        };
        let mut init = run_as(Command::new(initdb));
        init.args(["--auth=trust", "--username=tidegate", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"]);
        let made = init.arg(&data).output().expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut serve = run_as(Command::new(postgres));
        serve.arg("-D").arg(&data).arg("-k").arg(folder.path());
        serve.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60"]);
        let log = std::fs::File::create(folder.path().join("log")).expect("a log file");
        let server = serve.stdout(Stdio::null()).stderr(log).spawn().expect("postgres runs");
        Some(Self { server, folder })
    }

    /// A store over a new database, named for its case.
    pub async fn bench(&self, name: &str) -> Bench {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
        let mut admin = self.connect().await;
        let create = format!("CREATE DATABASE {name}");
        admin.execute(sqlx::AssertSqlSafe(create)).await.expect("a database is made");
        let url = self.url(&name);
        let (store, clock) = open(url.clone()).await;
        Bench { store, clock, raw: Raw::Postgres(url) }
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://tidegate@localhost/{database}?host={}", self.folder.path().display())
    }

    async fn connect(&self) -> PgConnection {
        let url = self.url("postgres");
        for _ in 0..200 {
            if let Ok(connection) = PgConnection::connect(&url).await {
                return connection;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("PostgreSQL did not start: {log}");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Its data are thrown away: no need to ask politely.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// PostgreSQL refuses to run as root; then somebody else's name is borrowed.
fn server_user(folder: &Path) -> Option<(u32, u32)> {
    if folder.metadata().expect("the folder is there").uid() != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    on_path.or_else(|| {
        // Debian keeps them off the path, a folder per major version.
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let mut files: Vec<PathBuf> = versions
            .flatten()
            .map(|version| version.path().join("bin").join(name))
            .filter(|file| file.is_file())
            .collect();
        files.sort();
        files.pop()
    })
}
