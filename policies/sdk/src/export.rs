//! From a policy type to a component's exports.

use std::marker::PhantomData;

use crate::{
    Gate, Policy, Retry, Sequence, Verify,
    bindings::{
        gate::exports::tidegate::policy::gate as gate_export,
        plugin::exports::tidegate::policy::plugin::{self as plugin_export, Manifest},
        retry::exports::tidegate::policy::retry as retry_export,
        sequence::exports::tidegate::policy::sequence as sequence_export,
        types::{ConfigError, Hooks, Rule},
        verify::exports::tidegate::policy::verify as verify_export,
    },
    config,
};

/// Exports a policy's hooks from a component: `export!(gate: MyPolicy);`, or several of one policy:
/// `export!(gate + retry: MyPolicy);`.
#[macro_export]
macro_rules! export {
    ($first:ident $(+ $more:ident)* : $policy:ty) => {
        const _: () = {
            type Component = $crate::__private::Exported<$policy, Hooks>;
            /// Which hooks were named.
            struct Hooks;
            impl $crate::__private::NamedHooks for Hooks {
                const HOOKS: $crate::Hooks =
                    $crate::__export_hook!(flag $first)$(.union($crate::__export_hook!(flag $more)))*;
            }
            $crate::__export_hook!(check $first Component);
            $($crate::__export_hook!(check $more Component);)*
            // The names of the exports are not valid symbols elsewhere.
            #[cfg(target_arch = "wasm32")]
            const _: () = {
                $crate::__private::bindings::plugin::export_plugin!(
                    Component with_types_in $crate::__private::bindings::plugin
                );
                $crate::__export_hook!(export $first Component);
                $($crate::__export_hook!(export $more Component);)*
            };
        };
    };
}

/// One hook of [`export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __export_hook {
    (flag gate) => { $crate::Hooks::GATE };
    (flag retry) => { $crate::Hooks::RETRY };
    (flag sequence) => { $crate::Hooks::SEQUENCE };
    (flag verify) => { $crate::Hooks::VERIFY };
    (check gate $component:ident) => {
        const _: fn() = $crate::__private::check_gate::<$component>;
    };
    (export gate $component:ident) => {
        $crate::__private::bindings::gate::export_gate!($component with_types_in $crate::__private::bindings::gate);
    };
    (check retry $component:ident) => {
        const _: fn() = $crate::__private::check_retry::<$component>;
    };
    (export retry $component:ident) => {
        $crate::__private::bindings::retry::export_retry!($component with_types_in $crate::__private::bindings::retry);
    };
    (check sequence $component:ident) => {
        const _: fn() = $crate::__private::check_sequence::<$component>;
    };
    (export sequence $component:ident) => {
        $crate::__private::bindings::sequence::export_sequence!($component with_types_in $crate::__private::bindings::sequence);
    };
    (check verify $component:ident) => {
        const _: fn() = $crate::__private::check_verify::<$component>;
    };
    (export verify $component:ident) => {
        $crate::__private::bindings::verify::export_verify!($component with_types_in $crate::__private::bindings::verify);
    };
    ($use:ident $hook:ident $($component:ident)?) => {
        compile_error!(concat!("`", stringify!($hook), "` is no hook (expected gate, retry, sequence or verify)"));
    };
}

/// The hooks that [`export!`] named.
#[doc(hidden)]
pub trait NamedHooks {
    /// Which.
    const HOOKS: Hooks;
}

/// Fail to compile, on every target, for a policy that does not implement the hook it exports.
macro_rules! checks {
    ($($name:ident = $export:ident),+) => {$(
        #[doc(hidden)]
        pub fn $name<C: $export::Guest>() {}
    )+};
}
checks!(
    check_gate = gate_export,
    check_retry = retry_export,
    check_sequence = sequence_export,
    check_verify = verify_export
);

/// A policy as a component sees it. Never made; the generated exports call its functions.
#[doc(hidden)]
pub struct Exported<P, H>(PhantomData<(P, H)>);

impl<P: Policy, H: NamedHooks> plugin_export::Guest for Exported<P, H> {
    fn describe() -> Manifest {
        Manifest {
            name: P::NAME.to_owned(),
            summary: P::SUMMARY.to_owned(),
            hooks: H::HOOKS,
            scope: P::SCOPE,
            facts: P::FACTS,
            config_schema: schemars::schema_for!(P::Config).as_value().to_string(),
        }
    }

    fn validate(config: String) -> Result<(), Vec<ConfigError>> {
        let config = config::parse(&config).map_err(|error| vec![error])?;
        P::validate(&config)
    }
}

impl<P: Gate, H> gate_export::Guest for Exported<P, H> {
    fn evaluate(request: gate_export::Request) -> Result<gate_export::Decision, String> {
        P::evaluate(&configuration::<P>(&request.rule)?, &request)
    }
}

impl<P: Retry, H> retry_export::Guest for Exported<P, H> {
    fn decide(request: retry_export::Request) -> Result<retry_export::Decision, String> {
        P::decide(&configuration::<P>(&request.rule)?, &request)
    }
}

impl<P: Sequence, H> sequence_export::Guest for Exported<P, H> {
    fn plan(request: sequence_export::Request) -> Result<Vec<sequence_export::Step>, String> {
        P::plan(&configuration::<P>(&request.rule)?, &request)
    }
}

impl<P: Verify, H> verify_export::Guest for Exported<P, H> {
    fn probes(config: String) -> Result<Vec<verify_export::Probe>, String> {
        P::probes(&config::parse(&config).map_err(|error| sentence(&error))?)
    }

    fn assess(request: verify_export::Request) -> Result<verify_export::Assessment, String> {
        P::assess(&configuration::<P>(&request.rule)?, &request)
    }
}

/// The rule's configuration. It was checked when it was saved; one that no longer fits (the rule names a range, and
/// the plugin was replaced by a stricter version) is an error, and the rule blocks.
fn configuration<P: Policy>(rule: &Rule) -> Result<P::Config, String> {
    config::parse(&rule.config).map_err(|error| sentence(&error))
}

fn sentence(error: &ConfigError) -> String {
    match error.path.as_str() {
        "" => format!("the configuration is wrong: {}", error.message),
        path => format!("the configuration is wrong at {path}: {}", error.message),
    }
}
