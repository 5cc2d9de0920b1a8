//! The engine's handles: the store and the plugin host.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use model::plugin::{Digest, Fault, FaultCode};
use plugins::Host;
use store::Store;

use crate::measures::Measures;

/// Plans, and carries commands out. Cheap to clone; all clones are one engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) host: Host,
    pub(crate) evaluations: Arc<AtomicU64>,
    pub(crate) measures: Measures,
}

impl Engine {
    /// An engine over that store, asking that host's plugins. [`Engine::run`] makes it plan.
    #[must_use]
    pub fn new(store: Store, host: Host) -> Self {
        Self { store, host, evaluations: Arc::default(), measures: Measures::default() }
    }

    /// The same engine with providers that measure outside systems.
    #[must_use]
    pub fn with_measures(self, measures: Measures) -> Self {
        Self { measures, ..self }
    }

    /// Questions that plugins were asked since this engine began.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Makes the host ready to ask a component, from the store's bytes where it does not have it.
    pub(crate) async fn load(&self, digest: Digest) -> Result<(), Fault> {
        if self.host.is_loaded(digest) {
            return Ok(());
        }
        let unavailable = |message: String| Fault { code: FaultCode::PluginMissing, message };
        let mut tx = self.store.read("engine.load").await.map_err(|error| unavailable(error.to_string()))?;
        let bytes = store::plugin::bytes(&mut tx, digest).await.map_err(|error| unavailable(error.to_string()))?;
        drop(tx);
        let bytes = bytes.ok_or_else(|| unavailable(format!("the store has no component {digest}")))?;
        self.host.load(digest, bytes).await.map(|_| ())
    }
}
