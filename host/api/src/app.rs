//! What handlers are given: the three handles, and two small memories of this process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use dispatch::Dispatch;
use engine::Engine;
use model::id::ApiKeyId;
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::idempotency::Running;

/// A key's last use is written down at most this often.
const TOUCH_PERIOD: Duration = Duration::from_secs(60);
/// Keys remembered before the ones not used lately are forgotten.
const TOUCHED_MAX: usize = 10_000;

/// The handles that the API works with.
#[derive(Clone)]
pub struct ApiState {
    /// Commands that change intent, and explain.
    pub engine: Engine,
    /// Commands of agents.
    pub dispatch: Dispatch,
    /// Reads.
    pub store: Store,
    /// Ends streams and long polls.
    pub shutdown: CancellationToken,
}

/// The state of every handler.
pub(crate) type App = Arc<AppState>;

pub(crate) struct AppState {
    pub engine: Engine,
    pub dispatch: Dispatch,
    pub store: Store,
    pub shutdown: CancellationToken,
    pub touched: Touched,
    pub running: Running,
}

impl AppState {
    pub fn new(state: ApiState) -> App {
        let ApiState { engine, dispatch, store, shutdown } = state;
        Arc::new(Self { engine, dispatch, store, shutdown, touched: Touched::default(), running: Running::default() })
    }
}

/// When each key's use was last written down by this process.
#[derive(Debug, Default)]
pub(crate) struct Touched(Mutex<HashMap<ApiKeyId, Instant>>);

impl Touched {
    /// Whether the use of a key is to be written down now; if so, not again for a while.
    pub fn is_due(&self, key: ApiKeyId, now: Instant) -> bool {
        let mut touched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = |at: &Instant| now.saturating_duration_since(*at) < TOUCH_PERIOD;
        if touched.get(&key).is_some_and(recent) {
            return false;
        }
        if touched.len() >= TOUCHED_MAX {
            touched.retain(|_, at| recent(at));
        }
        touched.insert(key, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use model::id::Uuid;

    use super::*;

    #[test]
    fn a_use_is_written_down_once_a_minute() {
        let touched = Touched::default();
        let (key, start) = (ApiKeyId(Uuid::from_u128(1)), Instant::now());
        assert!(touched.is_due(key, start));
        assert!(!touched.is_due(key, start + Duration::from_secs(59)));
        assert!(touched.is_due(ApiKeyId(Uuid::from_u128(2)), start));
        assert!(touched.is_due(key, start + Duration::from_secs(60)));
    }
}
