//! Generated from `wit/v1`. One world that exports every hook: the host looks each up by itself, since a component has
//! some of them.

wasmtime::component::bindgen!({
    path: "../../wit/v1",
    inline: "
        package tidegate:host;
        world every-hook {
            import tidegate:policy/log@1.0.0;
            import tidegate:policy/cel@1.0.0;
            export tidegate:policy/plugin@1.0.0;
            export tidegate:policy/gate@1.0.0;
            export tidegate:policy/retry@1.0.0;
            export tidegate:policy/sequence@1.0.0;
            export tidegate:policy/verify@1.0.0;
        }
    ",
    world: "tidegate:host/every-hook",
});
