//! Newtype ids. All are UUIDv7 (RFC 9562), so that they sort by the moment they were made.

use std::{fmt, str::FromStr};

pub use uuid::Uuid;

/// Text that is not a UUID was given where an id is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id (expected a UUID such as 0199d3c0-7a00-7000-8000-000000000000)")]
pub struct ParseIdError(pub String);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                Uuid::parse_str(text).map(Self).map_err(|_| ParseIdError(text.to_owned()))
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }
    )+};
}

ids! {
    /// A tenant.
    WorkspaceId,
    /// A group of deployments and environments.
    SystemId,
    /// A place things can run.
    ResourceId,
    /// A stage with a resource selector.
    EnvironmentId,
    /// What is deployed.
    DeploymentId,
    /// One build of a deployment.
    VersionId,
    /// A set of rules with a selector.
    PolicyId,
    /// One rule of a policy.
    RuleId,
    /// One uploaded component under a name and semver.
    PluginId,
    /// One person's word on a version in an environment.
    ApprovalId,
    /// One version on one target.
    ReleaseId,
    /// One attempt to carry a release out.
    JobId,
    /// A named executor.
    JobAgentId,
    /// What one rule said.
    DecisionId,
    /// A bypass of one rule for one version.
    SkipId,
    /// A stretch of time in which nothing starts.
    FreezeId,
    /// One look at one metric.
    MeasurementId,
    /// One line of the audit trail.
    EventId,
    /// A credential of the API.
    ApiKeyId,
}

/// Makes ids from a seed, so that a plan, a simulation and a test get the same ones on every run.
#[derive(Debug, Clone)]
pub struct IdSource {
    seed: u64,
    count: u64,
}

impl IdSource {
    /// Two sources with the same seed give the same ids for the same instants.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, count: 0 }
    }

    /// The next id. Ids of one source rise within a millisecond: the first 12 free bits count.
    pub fn next(&mut self, now: crate::time::Timestamp) -> Uuid {
        let count = self.count;
        self.count += 1;
        let mut random = [0_u8; 10];
        // 12 bits of counter, then 62 bits that differ between seeds and counts (SplitMix64).
        let counter = u16::try_from(count & 0x0fff).expect("twelve bits fit in sixteen");
        random[..2].copy_from_slice(&counter.to_be_bytes());
        random[2..].copy_from_slice(&split_mix(self.seed ^ split_mix(count)).to_be_bytes());
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): a bijection, so two counts of one seed never collide.
const fn split_mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn ids_are_version_7_rise_and_repeat_for_a_seed() {
        let now = Timestamp::from_millis(1_772_438_400_000);
        let mut first = IdSource::new(7);
        let mut again = IdSource::new(7);
        let ids: Vec<Uuid> = (0..1000).map(|_| first.next(now)).collect();
        let same: Vec<Uuid> = (0..1000).map(|_| again.next(now)).collect();
        assert_eq!(ids, same);
        assert!(ids.is_sorted() && ids.iter().all(|id| id.get_version_num() == 7));
        assert_ne!(IdSource::new(8).next(now), ids[0]);
    }

    #[test]
    fn a_bad_id_says_what_was_expected() {
        let error = "c1".parse::<ResourceId>().expect_err("not a UUID");
        assert!(error.to_string().starts_with("`c1` is not an id"));
    }
}
