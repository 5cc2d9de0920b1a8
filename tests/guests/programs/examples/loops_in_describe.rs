//! Never says what it is.

use tidegate_policy::{
    __private::bindings::{
        gate,
        gate::exports::tidegate::policy::gate as hook,
        plugin,
        plugin::exports::tidegate::policy::plugin::{Guest, Manifest},
    },
    ConfigError, FactKinds, Hooks, Scope,
};

struct Component;

impl Guest for Component {
    fn describe() -> Manifest {
        if std::hint::black_box(true) {
            loop {
                std::hint::black_box(0);
            }
        }
        Manifest {
            name: "loops_in_describe".into(),
            summary: "A test of the host.".into(),
            hooks: Hooks::GATE,
            scope: Scope::Environment,
            facts: FactKinds::empty(),
            config_schema: "{}".into(),
        }
    }

    fn validate(_: String) -> Result<(), Vec<ConfigError>> {
        Ok(())
    }
}

impl hook::Guest for Component {
    fn evaluate(_: hook::Request) -> Result<hook::Decision, String> {
        Ok(hook::Decision::allow("yes"))
    }
}

plugin::export_plugin!(Component with_types_in plugin);
gate::export_gate!(Component with_types_in gate);
