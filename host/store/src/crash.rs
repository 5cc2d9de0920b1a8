//! Crash points: places where a test kills the server to see that nothing is lost. Debug builds only.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// Every crash point. A test goes through this list.
pub const POINTS: &[&str] = &[
    // The snapshot was read; nothing is written.
    "engine.snapshot_read",
    // The plan is applied in an open transaction.
    "engine.before_commit",
    // The plan is committed; nobody was woken.
    "engine.committed",
    // Jobs were claimed; the agent was not answered.
    "dispatch.claimed",
    // The holder's acknowledgement is committed; it was not answered.
    "dispatch.acknowledged",
    // A result is committed; the agent was not answered.
    "dispatch.result_committed",
    // A person's command is committed; the person was not answered.
    "command.committed",
];

/// Aborts the process here if the environment variable `TIDEGATE_CRASH_AT` names this point (`NAME`, or `NAME:N` for
/// its Nth hit). Nothing in release builds.
#[macro_export]
macro_rules! crash_point {
    ($name:literal) => {
        if cfg!(debug_assertions) {
            $crate::crash::hit($name);
        }
    };
}

/// See [`crash_point!`](crate::crash_point).
pub fn hit(point: &'static str) {
    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static HITS: AtomicU32 = AtomicU32::new(0);
    debug_assert!(POINTS.contains(&point), "`{point}` is missing in crash::POINTS");
    let wanted = WANTED.get_or_init(|| std::env::var("TIDEGATE_CRASH_AT").ok().map(|text| parse(&text)));
    if let Some((name, nth)) = wanted
        && name == point
        && HITS.fetch_add(1, Ordering::Relaxed) + 1 == *nth
    {
        // To stderr itself: the log may be buffered, and the process ends here.
        eprintln!("crash point {point} reached: aborting");
        std::process::abort();
    }
}

fn parse(text: &str) -> (String, u32) {
    match text.rsplit_once(':') {
        Some((name, nth)) => (name.to_owned(), nth.parse().unwrap_or(1)),
        None => (text.to_owned(), 1),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_point_may_be_counted() {
        assert_eq!(super::parse("engine.committed"), ("engine.committed".into(), 1));
        assert_eq!(super::parse("engine.committed:3"), ("engine.committed".into(), 3));
    }
}
