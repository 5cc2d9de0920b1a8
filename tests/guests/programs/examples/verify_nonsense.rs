//! Verifications that break the interface's rules; which one is in the rule.

use guest_programs::Config;
use tidegate_policy::{
    FactKinds, Policy, Scope, Verify,
    verify::{Assessment, Probe, Request},
};

pub struct Guest;

impl Policy for Guest {
    type Config = Config;
    const NAME: &'static str = "verify_nonsense";
    const SUMMARY: &'static str = "A test of the host.";
    const SCOPE: Scope = Scope::Target;
    const FACTS: FactKinds = FactKinds::empty();
}

impl Verify for Guest {
    fn probes(config: &Config) -> Result<Vec<Probe>, String> {
        let probe = |metric: &str, config: &str| Probe {
            metric: metric.into(),
            provider: "http".into(),
            config: config.into(),
        };
        Ok(match config.what.as_str() {
            "twice" => vec![probe("a", "{}"), probe("a", "{}")],
            "no_json" => vec![probe("a", "{")],
            "no_name" => vec![probe("", "{}")],
            "no_provider" => vec![Probe { provider: String::new(), ..probe("a", "{}") }],
            "many" => (0..1001).map(|n| probe(&n.to_string(), "1")).collect(),
            "huge" => vec![probe("a", &format!("\"{}\"", "x".repeat(100_000)))],
            "error" => return Err("no idea".into()),
            "trap" => panic!("no"),
            _ => vec![probe("a", "{}")],
        })
    }

    fn assess(config: &Config, request: &Request) -> Result<Assessment, String> {
        let now = request.now;
        Ok(match config.what.as_str() {
            "twice" => Assessment::Measure(vec![("a".into(), now), ("a".into(), now)]),
            "no_name" => Assessment::Measure(vec![(String::new(), now)]),
            "long_name" => Assessment::Measure(vec![("a".repeat(256), now)]),
            "control" => Assessment::Measure(vec![("a\u{0}b".into(), now)]),
            "far" => Assessment::Measure(vec![("a".into(), i64::MAX)]),
            "many" => Assessment::Measure((0..1001).map(|n| (n.to_string(), now)).collect()),
            "no_reason" => Assessment::Unhealthy(" ".into()),
            "huge_reason" => Assessment::Unhealthy("x".repeat(100_000)),
            "huge_answer" => Assessment::Unhealthy("x".repeat(10_000_000)),
            "control_reason" => Assessment::Unhealthy("a\u{1b}[2Jb".into()),
            "error" => return Err("no idea".into()),
            _ => Assessment::Measure(vec![("a".into(), now - 1)]),
        })
    }
}

tidegate_policy::export!(verify: Guest);
