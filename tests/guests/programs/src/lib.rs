//! What the hostile guests share: a gate in one line.

/// What a rule tells a guest to do.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct Config {
    /// Which misbehaviour, for guests that have several.
    pub what: String,
}

/// A gate with the file's own `evaluate`.
#[macro_export]
macro_rules! gate {
    ($name:literal, $evaluate:expr) => {
        pub struct Guest;
        impl tidegate_policy::Policy for Guest {
            type Config = $crate::Config;
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = "A test of the host.";
            const SCOPE: tidegate_policy::Scope = tidegate_policy::Scope::Environment;
            const FACTS: tidegate_policy::FactKinds = tidegate_policy::FactKinds::empty();
        }
        impl tidegate_policy::Gate for Guest {
            fn evaluate(
                config: &$crate::Config,
                request: &tidegate_policy::gate::Request,
            ) -> Result<tidegate_policy::gate::Decision, String> {
                $evaluate(config.what.as_str(), request)
            }
        }
        tidegate_policy::export!(gate: Guest);
    };
}
