//! Builds the policies that ship; `src/lib.rs` takes their bytes in.

use std::{env, path::PathBuf};

/// By name, as `BUNDLE` is.
const PACKAGES: &[&str] = &[
    "approval",
    "cooldown",
    "dependency",
    "environment-progression",
    "gradual-rollout",
    "retry",
    "sequence",
    "verification",
    "version-selector",
    "window",
];

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    // Without `..`, since the path is part of what is remapped in the guests.
    let policies = folder.parent().expect("policies/bundle has a parent");
    let wit = policies.parent().expect("policies/ has a parent").join("wit");
    let job = componentize::Job {
        workspace: policies,
        units: componentize::Units::Packages(PACKAGES),
        inputs: &[&wit, &folder.join("build.rs")],
        out: &out,
        target: &componentize::nested_target(&out),
    };
    componentize::build_script(&job, "bundle.rs");
}
