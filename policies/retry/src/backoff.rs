//! How long to wait before an attempt. Whole milliseconds; never overflows, at any attempt.

use crate::{Config, config::Strategy};

/// No wait is ever longer, whatever the configuration says.
const MAX_SECONDS: u32 = 24 * 3600;

/// A number from names, the same on every machine (FNV-1a, each name ended by a zero byte).
#[must_use]
pub fn seed(names: &[&str]) -> u64 {
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The shortest and the longest wait there is, milliseconds.
#[must_use]
pub fn bounds(config: &Config) -> (u64, u64) {
    let cap = config.max_backoff_seconds.unwrap_or(MAX_SECONDS).min(MAX_SECONDS);
    let base = config.backoff_seconds.min(cap);
    (u64::from(base) * 1000, u64::from(cap) * 1000)
}

/// The wait before retry `retry` (1 is the first), milliseconds: within [`bounds`], and spread by `jitter` around what
/// the strategy says.
#[must_use]
pub fn wait_millis(config: &Config, retry: u32, seed: u64) -> u64 {
    let (base, cap) = bounds(config);
    let wait = match config.backoff_strategy {
        Strategy::Linear => base,
        Strategy::Exponential => {
            let factor = 1_u64.checked_shl(retry.saturating_sub(1)).unwrap_or(u64::MAX);
            base.saturating_mul(factor)
        }
    }
    .min(cap);
    // Thousandths, so that no float decides a time.
    let jitter = (config.jitter.clamp(0.0, 1.0) * 1000.0).round() as u64;
    let spread = wait * jitter / 1000;
    let (low, high) = (wait.saturating_sub(spread).max(base), (wait + spread).min(cap));
    low + mix(seed ^ mix(u64::from(retry))) % (high - low + 1)
}

/// SplitMix64's finaliser: near seeds give far numbers.
const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, prop_assert, prop_assert_eq, prop_oneof, proptest};

    use super::*;
    use crate::config::Status;

    fn config(base: u32, strategy: Strategy, cap: Option<u32>, jitter: f64) -> Config {
        Config {
            max_retries: u32::MAX,
            backoff_seconds: base,
            backoff_strategy: strategy,
            max_backoff_seconds: cap,
            jitter,
            retry_on_statuses: vec![Status::Failed],
        }
    }

    #[test]
    fn without_jitter_the_waits_are_exact() {
        let linear = config(10, Strategy::Linear, Some(35), 0.0);
        let waits = |config: &Config| (1..=5).map(|retry| wait_millis(config, retry, 7) / 1000).collect::<Vec<_>>();
        assert_eq!(waits(&linear), [10, 10, 10, 10, 10]);
        assert_eq!(waits(&config(10, Strategy::Exponential, None, 0.0)), [10, 20, 40, 80, 160]);
        assert_eq!(waits(&config(0, Strategy::Exponential, None, 1.0)), [0, 0, 0, 0, 0]);
        let day = config(1, Strategy::Exponential, None, 0.0);
        assert_eq!(wait_millis(&day, 10_000, 7), 86_400_000);
        assert_eq!(wait_millis(&config(u32::MAX, Strategy::Linear, None, 0.0), u32::MAX, 7), 86_400_000);
    }

    #[test]
    fn jitter_spreads() {
        let config = config(100, Strategy::Exponential, None, 0.5);
        let waits: std::collections::BTreeSet<u64> = (0..100).map(|seed| wait_millis(&config, 2, seed)).collect();
        assert!(waits.len() > 90, "{} different waits of 100", waits.len());
        assert!(waits.iter().all(|wait| (100_000..=300_000).contains(wait)));
        assert!(waits.first() < Some(&130_000) && waits.last() > Some(&270_000), "{waits:?}");
    }

    fn strategy() -> impl proptest::strategy::Strategy<Value = Strategy> {
        prop_oneof![Just(Strategy::Linear), Just(Strategy::Exponential)]
    }

    proptest! {
        #[test]
        fn every_wait_is_between_base_and_cap(
            base: u32, cap: Option<u32>, jitter in 0.0_f64..=1.0, retry: u32, seed: u64, strategy in strategy(),
        ) {
            let config = config(base, strategy, cap, jitter);
            let (low, high) = bounds(&config);
            let wait = wait_millis(&config, retry, seed);
            prop_assert!(low <= wait && wait <= high && high <= 86_400_000, "{low} <= {wait} <= {high}");
            prop_assert_eq!(wait, wait_millis(&config, retry, seed));
        }

        #[test]
        fn without_jitter_waits_never_shrink(base: u32, cap: Option<u32>, retry in 1_u32..10_000, strategy in strategy()) {
            let config = config(base, strategy, cap, 0.0);
            prop_assert!(wait_millis(&config, retry, 0) <= wait_millis(&config, retry + 1, 0));
        }
    }
}
