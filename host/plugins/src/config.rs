//! What the host is told, and every bound it keeps.

use std::{path::PathBuf, time::Duration};

use model::limits;

/// How a [`Host`](crate::Host) is set up.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// Where native code is kept between starts: a folder that nobody but the server may write. Without one,
    /// components are compiled at every start.
    pub cache_dir: Option<PathBuf>,
    /// How many threads ask policies.
    pub workers: usize,
    /// How many batches of questions may wait for a thread; more are answered `overloaded`.
    pub queue: usize,
    /// Bounds of each component.
    pub limits: Limits,
}

/// Bounds of one component. Each is always reported to whoever hits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest component, bytes.
    pub component_bytes: usize,
    /// Memory of one instance, bytes.
    pub memory_bytes: usize,
    /// Entries of one table.
    pub table_elements: usize,
    /// Core instances, memories and tables of one instance, each.
    pub parts: u32,
    /// Instances of all components at once.
    pub instances: u32,
    /// Wall time of one question.
    pub call: Duration,
    /// Fuel of one question: exact, and so the same on every machine.
    pub call_fuel: u64,
    /// Wall time of starting, `describe`, `validate` and `probes`.
    pub start: Duration,
    /// Fuel of the same.
    pub start_fuel: u64,
    /// Bytes that one host call or answer may make the host allocate.
    pub host_call_bytes: usize,
    /// Longest answer, bytes.
    pub answer_bytes: usize,
    /// Longest reason, bytes.
    pub reason_bytes: usize,
    /// Log of one question, bytes.
    pub log_bytes: usize,
    /// Log of one question, lines.
    pub log_lines: usize,
    /// WASI handles of one instance.
    pub handles: usize,
}

impl Limits {
    /// The product's bounds.
    #[must_use]
    pub fn product() -> Self {
        Self {
            component_bytes: limits::LARGE_BODY_BYTES_MAX,
            memory_bytes: limits::PLUGIN_MEMORY_BYTES,
            table_elements: 100_000,
            parts: 64,
            instances: 1000,
            call: Duration::from_millis(limits::PLUGIN_CALL_MILLIS),
            call_fuel: 100_000_000,
            start: Duration::from_millis(limits::PLUGIN_START_MILLIS),
            start_fuel: 5_000_000_000,
            host_call_bytes: 1024 * 1024,
            answer_bytes: limits::PLUGIN_ANSWER_BYTES_MAX,
            reason_bytes: limits::PLUGIN_REASON_BYTES_MAX,
            log_bytes: limits::PLUGIN_LOG_BYTES_MAX,
            log_lines: limits::PLUGIN_LOG_LINES_MAX,
            handles: 64,
        }
    }
}
