//! Builds the hostile guests; `src/lib.rs` takes their bytes in.

use std::{env, path::PathBuf};

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let root = folder.ancestors().nth(2).expect("tests/guests is two folders down");
    let job = componentize::Job {
        workspace: &folder.join("programs"),
        units: componentize::Units::Examples("guest-programs"),
        inputs: &[&root.join("wit"), &root.join("policies/sdk/src"), &folder.join("build.rs")],
        out: &out,
        target: &componentize::nested_target(&out),
    };
    componentize::build_script(&job, "guests.rs");
}
