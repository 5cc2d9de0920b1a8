//! Moves the engine's epoch on while guests run, from a thread of its own: a guest that spins holds its worker, and
//! whatever that worker would have run, but never this. It sleeps when nothing runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use wasmtime::Engine;

/// How long an epoch is.
pub(crate) const TICK: Duration = Duration::from_millis(2);

/// The thread that ticks; stops when this is dropped.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    running: AtomicUsize,
    stopped: AtomicBool,
}

/// While it lives, epochs pass.
pub(crate) struct Running<'a> {
    shared: &'a Shared,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { running: AtomicUsize::new(0), stopped: AtomicBool::new(false) });
        let weak = engine.weak();
        let thread = thread::Builder::new().name("policy-ticker".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || {
                while !shared.stopped.load(Ordering::Acquire) {
                    if shared.running.load(Ordering::Acquire) == 0 {
                        // An unpark between the check and here is kept, so no wake-up is lost.
                        thread::park();
                        continue;
                    }
                    thread::sleep(TICK);
                    let Some(engine) = weak.upgrade() else { return };
                    engine.increment_epoch();
                }
            }
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Epochs pass until the guard is dropped.
    pub(crate) fn run(&self) -> Running<'_> {
        if self.shared.running.fetch_add(1, Ordering::AcqRel) == 0 {
            self.thread().map(Thread::unpark);
        }
        Running { shared: &self.shared }
    }

    fn thread(&self) -> Option<&Thread> {
        self.thread.as_ref().map(JoinHandle::thread)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.shared.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread only fails if `increment_epoch` panics; there is nobody left to tell.
            drop(thread.join());
        }
    }
}

/// How many epochs a guest may see that has `time`: one more than fit, since the first may end at once.
pub(crate) fn epochs(time: Duration) -> u64 {
    let ticks = time.as_nanos().div_ceil(TICK.as_nanos());
    u64::try_from(ticks).unwrap_or(u64::MAX - 1).saturating_add(1)
}
