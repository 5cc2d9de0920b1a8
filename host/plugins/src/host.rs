//! The host: compiles each component once, keeps what is loaded, and hands out sessions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use model::{
    Json,
    plugin::{ConfigError, Digest, Fault, FaultCode, Manifest},
    question::Probe,
    time::Timestamp,
};
use sha2::{Digest as _, Sha256};
use tokio::sync::{OnceCell, Semaphore, oneshot};
use wasmtime::{Engine, component::Linker};

use crate::{
    HostConfig, Limits, Session,
    cache::Cache,
    engine,
    fault::fault,
    imports::{self, GuestState},
    instance::Live,
    load::{self, Loaded},
    ticker::Ticker,
    workers::Workers,
};

/// Components compiled side by side; each already uses several threads.
const COMPILES_MAX: usize = 2;
/// Validator, compiler and linker recurse over what an author wrote.
const LOAD_STACK_BYTES: usize = 16 * 1024 * 1024;

/// Loads and asks policies. Cheap to clone; all clones are one host.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// wasmtime refused the settings, or there is not enough address space for the pool of instances.
    #[error("the WebAssembly engine could not be set up: {0:#}")]
    Engine(wasmtime::Error),
    /// The folder of compiled code cannot be made, read or restricted to this server.
    #[error("the folder of compiled code `{folder}` cannot be used: {source}")]
    Cache {
        /// Which folder.
        folder: String,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error("a policy thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// What sessions and loads share.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) limits: Limits,
    pub(crate) ticker: Ticker,
    pub(crate) workers: Workers,
    linker: Linker<GuestState>,
    cache: Option<Cache>,
    compiles: Semaphore,
    loaded: Mutex<HashMap<Digest, Slot>>,
}

/// One component. The cell lets many ask at once while one compiles; a failure leaves it empty.
type Slot = Arc<OnceCell<Ready>>;

#[derive(Clone)]
struct Ready {
    loaded: Arc<Loaded>,
    manifest: Arc<Manifest>,
}

impl Host {
    /// Sets the engine, its threads and its cache up.
    ///
    /// # Errors
    /// Whatever of these cannot be had; there is no fallback to less.
    pub fn new(config: HostConfig) -> Result<Self, HostError> {
        let engine = engine::build(&config.limits).map_err(HostError::Engine)?;
        let linker = imports::linker(&engine).map_err(HostError::Engine)?;
        let cache = match &config.cache_dir {
            None => None,
            Some(folder) => Some(
                Cache::open(folder, &engine)
                    .map_err(|source| HostError::Cache { folder: folder.display().to_string(), source })?,
            ),
        };
        let shared = Shared {
            ticker: Ticker::start(&engine).map_err(HostError::Thread)?,
            workers: Workers::start(config.workers, config.queue).map_err(HostError::Thread)?,
            engine,
            limits: config.limits,
            linker,
            cache,
            compiles: Semaphore::new(COMPILES_MAX),
            loaded: Mutex::new(HashMap::new()),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Makes a component ready to be asked and says what it is. Compiled once however many ask; a component that is
    /// loaded answers at once.
    ///
    /// # Errors
    /// The first check that it fails.
    pub async fn load(&self, digest: Digest, bytes: impl Into<Arc<[u8]>>) -> Result<Manifest, Fault> {
        let slot = Arc::clone(self.slots().entry(digest).or_default());
        let ready = slot.get_or_try_init(|| self.compile(digest, bytes.into())).await;
        if ready.is_err() {
            // Nothing is kept of what failed, unless somebody is trying again already.
            self.slots().retain(|key, slot| *key != digest || slot.initialized() || Arc::strong_count(slot) > 2);
        }
        ready.map(|ready| (*ready.manifest).clone())
    }

    /// Whether a component can be asked.
    #[must_use]
    pub fn is_loaded(&self, digest: Digest) -> bool {
        self.ready(digest).is_some()
    }

    /// What a loaded component finds wrong with a rule's configuration; nothing if it is right.
    ///
    /// # Errors
    /// It is not loaded, or it failed.
    pub async fn validate(&self, digest: Digest, config: &Json) -> Result<Vec<ConfigError>, Fault> {
        let loaded = self.loaded(digest).ok_or_else(|| not_loaded(digest))?;
        let (shared, config) = (Arc::clone(&self.shared), config.clone());
        self.on_worker(move || Live::start(&shared, &loaded, Timestamp::from_millis(0))?.validate(&config)).await
    }

    /// What is to be measured for a rule of this configuration, each metric once.
    ///
    /// # Errors
    /// The component is not loaded, has no verify hook, or failed.
    pub async fn probes(&self, digest: Digest, config: &Json) -> Result<Vec<Probe>, Fault> {
        let loaded = self.loaded(digest).ok_or_else(|| not_loaded(digest))?;
        let (shared, config) = (Arc::clone(&self.shared), config.clone());
        self.on_worker(move || Live::start(&shared, &loaded, Timestamp::from_millis(0))?.probes(&config)).await
    }

    /// A session for one planning pass. Its instances live until it is dropped.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn loaded(&self, digest: Digest) -> Option<Arc<Loaded>> {
        self.ready(digest).map(|ready| ready.loaded)
    }

    fn ready(&self, digest: Digest) -> Option<Ready> {
        self.slots().get(&digest).and_then(|slot| slot.get().cloned())
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Slot>> {
        self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// On a thread of its own: compiling takes from milliseconds to seconds and must not hold a worker.
    async fn compile(&self, digest: Digest, bytes: Arc<[u8]>) -> Result<Ready, Fault> {
        let _permit = self.shared.compiles.acquire().await;
        let shared = Arc::clone(&self.shared);
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::Builder::new().name("policy-load".to_owned()).stack_size(LOAD_STACK_BYTES);
        let spawned = thread.spawn(move || {
            // Nobody waits any more if this fails.
            drop(sender.send(shared.make_ready(digest, &bytes)));
        });
        match spawned {
            Ok(_) => {
                receiver.await.unwrap_or_else(|_| Err(fault(FaultCode::UnsupportedFeature, "the compiler failed")))
            }
            Err(error) => Err(fault(FaultCode::Overloaded, format!("no thread to compile on: {error}"))),
        }
    }

    async fn on_worker<R: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<R, Fault> + Send + 'static,
    ) -> Result<R, Fault> {
        let (sender, receiver) = oneshot::channel();
        self.shared.workers.submit(move || drop(sender.send(job()))).map_err(|_| overloaded())?;
        receiver.await.unwrap_or_else(|_| Err(lost()))
    }
}

impl Shared {
    fn make_ready(self: Arc<Self>, digest: Digest, bytes: &[u8]) -> Result<Ready, Fault> {
        let found = digest_of(bytes);
        if found != digest {
            let message = format!("the bytes have the digest {found}; expected {digest}");
            return Err(fault(FaultCode::InvalidWasm, message));
        }
        let mut loaded = load::load(&self.engine, &self.linker, &self.limits, self.cache.as_ref(), digest, bytes)?;
        let manifest = Live::start(&self, &loaded, Timestamp::from_millis(0))?.describe()?;
        loaded.policy = manifest.name.as_str().into();
        Ok(Ready { loaded: Arc::new(loaded), manifest: Arc::new(manifest) })
    }
}

/// The digest of a component's bytes.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

pub(crate) fn overloaded() -> Fault {
    fault(FaultCode::Overloaded, "the queue of questions to policies is full; ask again")
}

/// A worker panicked on it.
pub(crate) fn lost() -> Fault {
    fault(FaultCode::EvalTrap, "the host failed while the policy was answering")
}

pub(crate) fn not_loaded(digest: Digest) -> Fault {
    fault(FaultCode::PluginMissing, format!("the component {digest} is not loaded"))
}
