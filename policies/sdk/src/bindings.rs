//! Generated from `wit/v1`: one small world per interface, so that a component exports exactly the hooks it has.
//! wit-component joins the worlds of whatever was exported.

pub use plugin::tidegate::policy::types;

#[doc(hidden)]
pub mod plugin {
    wit_bindgen::generate!({
        path: "../../wit/v1",
        inline: "
            package tidegate:sdk-plugin;
            world export-plugin {
                import tidegate:policy/log@1.0.0;
                import tidegate:policy/cel@1.0.0;
                export tidegate:policy/plugin@1.0.0;
            }
        ",
        world: "tidegate:sdk-plugin/export-plugin",
        pub_export_macro: true,
        export_macro_name: "export_plugin",
        generate_all,
        additional_derives: [PartialEq],
    });
}

/// One hook's world: its interface, over the types that `plugin` has.
macro_rules! hook {
    ($hook:ident, $inline:literal, $world:literal, $export:literal) => {
        #[doc(hidden)]
        pub mod $hook {
            wit_bindgen::generate!({
                path: "../../wit/v1",
                inline: $inline,
                world: $world,
                pub_export_macro: true,
                export_macro_name: $export,
                with: { "tidegate:policy/types@1.0.0": super::types },
                additional_derives: [PartialEq],
            });
        }
    };
}

hook!(
    gate,
    "package tidegate:sdk-gate; world export-gate { export tidegate:policy/gate@1.0.0; }",
    "tidegate:sdk-gate/export-gate",
    "export_gate"
);
hook!(
    retry,
    "package tidegate:sdk-retry; world export-retry { export tidegate:policy/retry@1.0.0; }",
    "tidegate:sdk-retry/export-retry",
    "export_retry"
);
hook!(
    sequence,
    "package tidegate:sdk-sequence; world export-sequence { export tidegate:policy/sequence@1.0.0; }",
    "tidegate:sdk-sequence/export-sequence",
    "export_sequence"
);
hook!(
    verify,
    "package tidegate:sdk-verify; world export-verify { export tidegate:policy/verify@1.0.0; }",
    "tidegate:sdk-verify/export-verify",
    "export_verify"
);
