//! Every bound that the host sets, in one place, with its unit and the failure it prevents.
//! A limit that is hit is always reported to whoever hit it.

/// Largest JSON body of an ordinary request, bytes.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Largest body of an apply, a provider's set or a plugin, bytes.
pub const LARGE_BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Deepest nesting of a JSON document; deeper ones exhaust the stack of recursive readers.
pub const JSON_DEPTH_MAX: usize = 64;
/// Longest name, tag, identifier, kind or label key, bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// Longest label value, bytes.
pub const LABEL_VALUE_BYTES_MAX: usize = 4096;
/// Most labels on one thing.
pub const LABELS_MAX: usize = 10_000;
/// Longest reason, message or comment that a person or agent gives, bytes.
pub const MESSAGE_BYTES_MAX: usize = 4096;
/// Rules of one policy.
pub const RULES_PER_POLICY_MAX: usize = 100;
/// Documents of one apply.
pub const DOCUMENTS_MAX: usize = 20_000;
/// Page size of a list when none is asked for.
pub const PAGE_DEFAULT: u32 = 100;
/// Largest page of a list.
pub const PAGE_MAX: u32 = 1000;

/// An offer that is not acknowledged for this long goes back to the queue, seconds.
pub const OFFER_SECONDS: i64 = 30;
/// Offers in a row without acknowledgement that end an attempt.
pub const OFFERS_MAX: u32 = 10;
/// Lease of a job in progress unless its agent says otherwise, seconds.
pub const LEASE_SECONDS_DEFAULT: i64 = 60;
/// Longest lease an agent may ask for, seconds.
pub const LEASE_SECONDS_MAX: i64 = 3600;
/// How long a job may run in all unless its deployment says otherwise, seconds.
pub const JOB_DEADLINE_SECONDS_DEFAULT: i64 = 3600;
/// Longest a job may be allowed to run, seconds: a week, beyond which a forgotten job is never noticed.
pub const JOB_DEADLINE_SECONDS_MAX: i64 = 7 * 24 * 3600;
/// Longest wait of a long poll, seconds.
pub const POLL_SECONDS_MAX: u64 = 60;
/// Reports under tokens that do not hold that are kept of one job; more would let one agent fill the disk.
pub const LATE_RESULTS_MAX: usize = 100;
/// Most jobs one poll may claim.
pub const CLAIM_MAX: u32 = 100;

/// Longest backoff of a retry, seconds.
pub const BACKOFF_SECONDS_MAX: i64 = 24 * 3600;

/// Memory of one plugin instance, bytes.
pub const PLUGIN_MEMORY_BYTES: usize = 64 * 1024 * 1024;
/// Wall time of one question to a plugin, milliseconds.
pub const PLUGIN_CALL_MILLIS: u64 = 50;
/// Wall time of `describe`, `validate` or starting a plugin, milliseconds.
pub const PLUGIN_START_MILLIS: u64 = 1000;
/// Longest answer of a plugin, bytes.
pub const PLUGIN_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Longest reason in an answer, bytes.
pub const PLUGIN_REASON_BYTES_MAX: usize = 4096;
/// Log of one question, bytes.
pub const PLUGIN_LOG_BYTES_MAX: usize = 4096;
/// Log of one question, lines.
pub const PLUGIN_LOG_LINES_MAX: usize = 64;
/// Metrics of one verification rule; each is a client's call, again and again.
pub const METRICS_MAX: usize = 1000;

/// A rule that did not answer in time is asked again after this at the earliest, seconds: a busy machine is no reason to
/// wait for the next change.
pub const ASK_AGAIN_SECONDS_MIN: i64 = 10;
/// And after this at the latest, seconds.
pub const ASK_AGAIN_SECONDS_MAX: i64 = 600;
