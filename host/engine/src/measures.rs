//! What measures metrics: handed in by whoever puts the parts together, since the engine speaks to no outside system.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use model::{Json, plugin::ConfigError, question::Probe};

/// A measurement under way.
pub type Measuring = Pin<Box<dyn Future<Output = Result<Json, String>> + Send>>;

/// Providers of measurements.
pub trait Measure: Send + Sync {
    /// What is wrong with a provider's configuration; paths are JSON Pointers into it.
    fn check(&self, probe: &Probe) -> Vec<ConfigError>;
    /// Takes one measurement; the error says why nothing could be seen.
    fn measure(&self, probe: Probe) -> Measuring;
}

/// The providers of an engine: those that it has itself (`sleep` and `job`), and those it was given.
#[derive(Clone, Default)]
pub struct Measures {
    outside: Option<Arc<dyn Measure>>,
    /// Whether somebody else says what outside systems would: a scenario does.
    reported: bool,
}

impl fmt::Debug for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measures").field("outside", &self.outside.is_some()).finish()
    }
}

/// Who takes a measurement.
pub(crate) enum Provider {
    /// Time: so many seconds after it is due it has passed.
    Sleep {
        /// Seconds.
        seconds: i64,
    },
    /// The job's agent reports it.
    Job,
    /// An outside system is asked.
    Outside(Arc<dyn Measure>),
    /// Nobody here can.
    Nobody,
}

impl Measures {
    /// With providers that ask outside systems.
    #[must_use]
    pub fn with(outside: Arc<dyn Measure>) -> Self {
        Self { outside: Some(outside), reported: false }
    }

    /// Without any: whoever plays a scenario says what outside systems would.
    #[must_use]
    pub const fn reported() -> Self {
        Self { outside: None, reported: true }
    }

    pub(crate) fn provider(&self, probe: &Probe) -> Provider {
        match probe.provider.as_str() {
            "sleep" => Provider::Sleep { seconds: seconds(&probe.config).unwrap_or(0) },
            "job" => Provider::Job,
            _ => self.outside.clone().map_or(Provider::Nobody, Provider::Outside),
        }
    }

    /// What is wrong with a probe, when its rule is saved.
    pub(crate) fn check(&self, probe: &Probe) -> Vec<ConfigError> {
        let wrong = |path: &str, message: String| vec![ConfigError { path: path.to_owned(), message }];
        match self.provider(probe) {
            Provider::Sleep { .. } => match probe.config.get("durationSeconds") {
                Some(_) if seconds(&probe.config).is_none() => {
                    wrong("/durationSeconds", "expected a number of seconds from 0 to 604800".to_owned())
                }
                _ => unknown_keys(&probe.config, &["durationSeconds"]),
            },
            Provider::Job => unknown_keys(&probe.config, &[]),
            Provider::Outside(outside) => outside.check(probe),
            Provider::Nobody if self.reported => Vec::new(),
            Provider::Nobody => {
                let name = &probe.provider;
                wrong("", format!("this server cannot measure with `{name}`, expected `job` or `sleep`"))
            }
        }
    }
}

fn seconds(config: &Json) -> Option<i64> {
    config.get("durationSeconds").and_then(Json::as_i64).filter(|seconds| (0..=7 * 24 * 3600).contains(seconds))
}

fn unknown_keys(config: &Json, known: &[&str]) -> Vec<ConfigError> {
    let keys = config.as_object().into_iter().flat_map(|object| object.keys());
    let unknown = keys.filter(|key| !known.contains(&key.as_str()));
    unknown
        .map(|key| ConfigError {
            path: format!("/{key}"),
            message: format!(
                "is not known here, expected {}",
                if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
            ),
        })
        .collect()
}
