//! Where a transaction's `now` comes from. Nothing else in the server reads a clock.

use std::{
    sync::Mutex,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use model::time::Timestamp;

/// A source of time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The wall clock. It may jump.
    fn now(&self) -> Timestamp;
    /// Time since some fixed moment. It never jumps; a difference between the two clocks' steps is a jump of `now`.
    fn steady(&self) -> Duration;
    /// Whether this is real time. PostgreSQL then stamps transactions with its own clock, which all replicas share.
    fn is_real(&self) -> bool;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// The machine's clock.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now(&self) -> Timestamp {
        // A clock set before 1970 reads as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn steady(&self) -> Duration {
        self.start.elapsed()
    }

    fn is_real(&self) -> bool {
        true
    }
}

/// A clock that stands still until it is moved: for tests and simulation.
#[derive(Debug)]
pub struct ManualClock {
    time: Mutex<(Timestamp, Duration)>,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub const fn new(now: Timestamp) -> Self {
        Self { time: Mutex::new((now, Duration::ZERO)) }
    }

    /// Time passes.
    pub fn advance(&self, by: Duration) {
        let mut time = self.lock();
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        *time = (time.0.plus_millis(millis), time.1 + by);
    }

    /// Time passes until `now`; an instant that is not ahead changes nothing.
    pub fn set(&self, now: Timestamp) {
        let ahead = now.millis_since(self.now());
        if let Ok(millis) = u64::try_from(ahead) {
            self.advance(Duration::from_millis(millis));
        }
    }

    /// Somebody sets the wall clock: no time passes.
    pub fn jump(&self, now: Timestamp) {
        self.lock().0 = now;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (Timestamp, Duration)> {
        self.time.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().0
    }

    fn steady(&self) -> Duration {
        self.lock().1
    }

    fn is_real(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_passes_and_jumps() {
        let clock = ManualClock::new(Timestamp::from_millis(1000));
        clock.advance(Duration::from_secs(2));
        assert_eq!((clock.now(), clock.steady()), (Timestamp::from_millis(3000), Duration::from_secs(2)));
        clock.jump(Timestamp::from_millis(9000));
        assert_eq!((clock.now(), clock.steady()), (Timestamp::from_millis(9000), Duration::from_secs(2)));
        clock.set(Timestamp::from_millis(5000));
        assert_eq!(clock.now(), Timestamp::from_millis(9000), "time does not pass backwards");
    }
}
