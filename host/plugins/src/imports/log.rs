//! The capped log: what a guest writes through `log`, stdout or stderr. Lines over the cap are dropped and counted.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    Limits,
    imports::GuestState,
    v1::bindings::tidegate::policy::log::{Host, Level},
};

/// What one question wrote. Cloned into the streams that a guest opens.
#[derive(Clone)]
pub(crate) struct Log {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    policy: Arc<str>,
    bytes_max: usize,
    lines_max: usize,
    bytes: usize,
    lines: usize,
    dropped: u64,
}

impl Log {
    pub(crate) fn new(policy: Arc<str>, limits: &Limits) -> Self {
        let inner =
            Inner { policy, bytes_max: limits.log_bytes, lines_max: limits.log_lines, bytes: 0, lines: 0, dropped: 0 };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// A new question begins: it has the whole cap again.
    pub(crate) fn begin(&self) {
        let mut inner = self.lock();
        inner.report_dropped();
        (inner.bytes, inner.lines) = (0, 0);
    }

    /// Takes a line, as far as the cap allows.
    pub(crate) fn write(&self, level: Level, message: &str) {
        let mut inner = self.lock();
        let left = inner.bytes_max.saturating_sub(inner.bytes);
        if inner.lines >= inner.lines_max || left == 0 {
            inner.dropped += 1;
            return;
        }
        let end = message.floor_char_boundary(left);
        inner.bytes += end;
        inner.lines += 1;
        if end < message.len() {
            inner.dropped += 1;
        }
        let (policy, message) = (&*inner.policy, &message[..end]);
        match level {
            Level::Debug => tracing::debug!(target: "policy", policy, "{message}"),
            Level::Info => tracing::info!(target: "policy", policy, "{message}"),
            Level::Warn => tracing::warn!(target: "policy", policy, "{message}"),
            Level::Error => tracing::error!(target: "policy", policy, "{message}"),
        }
    }

    /// Lines dropped or shortened since the question began.
    #[cfg(test)]
    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn report_dropped(&mut self) {
        if self.dropped > 0 {
            let (policy, dropped) = (&*self.policy, self.dropped);
            tracing::warn!(target: "policy", policy, dropped, "log lines over the cap were dropped");
            self.dropped = 0;
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.report_dropped();
    }
}

impl Host for GuestState {
    fn write(&mut self, level: Level, message: String) {
        self.log.write(level, &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_by_bytes_and_by_lines() {
        let limits = Limits { log_bytes: 10, log_lines: 3, ..Limits::product() };
        let log = Log::new("p".into(), &limits);
        log.write(Level::Info, "12345678é");
        assert_eq!(log.dropped(), 0);
        log.write(Level::Info, "é");
        assert_eq!(log.dropped(), 1, "no byte is left");
        log.begin();
        for _ in 0..5 {
            log.write(Level::Info, "x");
        }
        assert_eq!(log.dropped(), 2, "three lines fit");
    }
}
