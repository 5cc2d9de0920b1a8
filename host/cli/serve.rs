//! `tidegate serve`: puts the parts together and runs them until told to stop.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{ErrorKind, Write as _},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use api::ApiState;
use clap::Args;
use dispatch::Dispatch;
use engine::{Engine, commands::api_key::NewApiKey};
use model::{access::Role, event::Actor, limits::PAGE_MAX, workspace::Workspace};
use plugins::{Host, HostConfig, Limits};
use store::{Page, Store, SystemClock};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use crate::{
    output,
    settings::{ADMIN_KEY_FILE, Settings},
    shipped::shipped,
};

/// The workspace that the first start makes.
const FIRST_WORKSPACE: &str = "default";
/// Whom the first key stands for.
const FIRST_USER: &str = "admin";
/// Questions to policies that may wait for a thread; each is a batch of a planning pass.
const QUESTIONS_QUEUED_MAX: usize = 1024;
/// How long planning and dispatch may take to end what they have begun.
const STOP_MAX: Duration = Duration::from_secs(20);

/// Arguments of `tidegate serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate serve
  tidegate serve --data-dir /var/lib/tidegate --listen 0.0.0.0:8080

The first start makes the database, the workspace `default` and an admin key in the file admin-key of the data folder,
which only its owner may read. A start without that file makes a new key.

One line on standard output, `listening on http://ADDRESS`, says that it is ready. SIGTERM and Ctrl-C end it once open
requests are answered. TIDEGATE_LOG sets what is logged, such as debug or info,dispatch=debug.")]
pub struct Serve {
    /// Where to listen; port 0 takes any free one
    #[arg(long, env = "TIDEGATE_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The database [default: an embedded one in the data folder]
    #[arg(long, env = "TIDEGATE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
}

/// Serves until SIGTERM or ctrl-c.
pub async fn run(settings: &Settings, arguments: Serve) -> Result<()> {
    let data = settings.data_dir()?;
    make_private_folder(&data)?;
    let listener = TcpListener::bind(arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {} (choose another address with --listen)", arguments.listen))?;
    let url = match arguments.database_url {
        Some(url) => url,
        None => format!("sqlite:{}", data.join("tidegate.db").display()),
    };
    let (clock, id_seed, durability) = (Arc::new(SystemClock::new()), random()?, store::Durability::Power);
    let store = Store::open(store::Options { url, clock, id_seed, durability }).await?;
    let host = Host::new(HostConfig {
        cache_dir: Some(data.join("cache")),
        workers: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
        queue: QUESTIONS_QUEUED_MAX,
        limits: Limits::product(),
    })?;
    let engine = Engine::new(store.clone(), host);
    prepare(&store, &engine, &data).await?;

    let shutdown = CancellationToken::new();
    end_on_signal(&shutdown)?;
    let dispatch = Dispatch::new(store.clone());
    let planning = tokio::spawn({
        let (engine, shutdown) = (engine.clone(), shutdown.clone());
        async move { engine.run(shutdown).await }
    });
    let measuring = tokio::spawn({
        let (engine, shutdown) = (engine.clone(), shutdown.clone());
        async move { engine.run_measuring(shutdown).await }
    });
    let sweeping = tokio::spawn({
        let (dispatch, shutdown) = (dispatch.clone(), shutdown.clone());
        async move { dispatch.run(shutdown).await }
    });
    let address = listener.local_addr().context("the address is not known")?;
    let state = ApiState { engine, dispatch, store: store.clone(), shutdown: shutdown.clone() };
    output::line(&format!("listening on http://{address}"))?;
    tracing::info!(%address, data = %data.display(), "ready");
    let served = api::serve(listener, state).await;

    // Also when the listener failed: then the rest has nobody to work for.
    shutdown.cancel();
    let stopping = async {
        for part in [planning, measuring, sweeping] {
            if let Err(error) = part.await {
                tracing::error!(%error, "a part of the server broke off");
            }
        }
        store.close().await;
    };
    if tokio::time::timeout(STOP_MAX, stopping).await.is_err() {
        tracing::warn!("what had begun did not end within {} s; the next start goes on with it", STOP_MAX.as_secs());
    }
    tracing::info!("stopped");
    served.context("the listener failed")
}

/// What every start makes sure of: a workspace, a key for this machine, and the policies that ship.
async fn prepare(store: &Store, engine: &Engine, data: &Path) -> Result<()> {
    let (first, _) = engine.create_workspace(FIRST_WORKSPACE, FIRST_WORKSPACE).await?;
    ensure_key(engine, &first, &data.join(ADMIN_KEY_FILE)).await?;
    for workspace in workspaces(store).await? {
        let shipped = shipped()?.into_iter().map(|plugin| (plugin.name, plugin.version, plugin.bytes));
        engine
            .install_shipped_plugins(workspace.id, shipped)
            .await
            .with_context(|| format!("the policies that ship cannot be installed in workspace `{}`", workspace.slug))?;
    }
    Ok(())
}

async fn workspaces(store: &Store) -> Result<Vec<Workspace>> {
    let mut all = Vec::new();
    let mut tx = store.read("serve.workspaces").await?;
    loop {
        let offset = u32::try_from(all.len()).context("more workspaces than can be counted")?;
        let page = store::workspace::list(&mut tx, Page { limit: PAGE_MAX, offset }).await?;
        let last = page.items.is_empty();
        all.extend(page.items);
        if last {
            return Ok(all);
        }
    }
}

/// A key in the file, made unless there is one: a start that died before it was written leaves nobody locked out.
async fn ensure_key(engine: &Engine, workspace: &Workspace, file: &Path) -> Result<()> {
    match fs::read_to_string(file) {
        Ok(key) if !key.trim().is_empty() => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => bail!("`{}` cannot be read: {error}", file.display()),
    }
    let new = NewApiKey {
        workspace: workspace.id,
        user: FIRST_USER.to_owned(),
        teams: Vec::new(),
        role: Role::Admin,
        agent: None,
        expires_at: None,
    };
    let (_, secret) = engine.create_api_key(&Actor::System, new).await?;
    write_private(file, &secret).with_context(|| format!("`{}` cannot be written", file.display()))?;
    tracing::info!(file = %file.display(), "made an admin key for this machine");
    Ok(())
}

/// Writes a file that only we can read; it is there whole or not at all.
fn write_private(file: &Path, content: &str) -> std::io::Result<()> {
    let fresh = file.with_extension("new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    writeln!(out, "{content}")?;
    out.sync_all()?;
    fs::rename(&fresh, file)
}

fn make_private_folder(folder: &Path) -> Result<()> {
    // A folder that is there keeps its mode: its owner chose it.
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).with_context(|| format!("the data folder `{}` cannot be made", folder.display()))
}

fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("this machine gives no random numbers: {error}"))?;
    Ok(u64::from_le_bytes(bytes))
}

/// The first signal lets open work end; a second one is not waited for.
fn end_on_signal(shutdown: &CancellationToken) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be received")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be received")?;
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        for first in [true, false] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if first {
                tracing::info!("stopping: open requests are answered first");
                shutdown.cancel();
            } else {
                tracing::warn!("stopped at once");
                std::process::exit(1);
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_private_is_ours_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("a/b");
        make_private_folder(&data).expect("made");
        make_private_folder(&data).expect("there already");
        let file = data.join(ADMIN_KEY_FILE);
        for key in ["first", "second"] {
            write_private(&file, key).expect("written");
            assert_eq!(fs::read_to_string(&file).expect("read"), format!("{key}\n"));
        }
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&data), mode(&file)), (0o700, 0o600));
        assert_eq!(fs::read_dir(&data).expect("read").count(), 1);
    }
}
