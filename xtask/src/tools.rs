//! Cargo, rustup and the folders of this repository.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

/// Policies and test guests are compiled to this.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The workspace of the policies, whose rules are plain Rust and tested natively.
pub const POLICIES: &str = "policies";

/// Folders that the root workspace excludes: what is in them is compiled for [`WASM_TARGET`].
const EXCLUDED: [&str; 3] = [POLICIES, "tests/guests/programs", "examples/policies"];

/// The repository's root folder.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root folder").to_owned()
}

/// The workspaces in the excluded folders: the folder itself, or each of its folders that has a manifest.
pub fn guest_workspaces() -> Result<Vec<PathBuf>> {
    let is_workspace = |folder: &PathBuf| folder.join("Cargo.toml").is_file();
    let mut found = Vec::new();
    for folder in EXCLUDED.map(|folder| root().join(folder)).into_iter().filter(|folder| folder.is_dir()) {
        if is_workspace(&folder) {
            found.push(folder);
            continue;
        }
        let entries: Vec<PathBuf> =
            std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        found.extend(entries.into_iter().filter(is_workspace));
    }
    found.sort();
    Ok(found)
}

/// Progress and trouble go to standard error; standard output is for what was asked for.
#[expect(clippy::print_stderr, reason = "xtask has no log; this is its one way to talk beside its output")]
pub fn say(line: &str) {
    eprintln!("{line}");
}

/// Whether skipping a check counts as failing it.
#[must_use]
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true" || value == "1")
}

/// The cargo that runs us, in the root folder.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command with our own output; its failure is an error that shows the command.
pub fn run(command: &mut Command) -> Result<()> {
    say(&format!("$ {}", shown(command)));
    let status = command.status().with_context(|| format!("`{}` could not be started", shown(command)))?;
    ensure!(status.success(), "`{}` failed ({status})", shown(command));
    Ok(())
}

/// Whether a command runs at all and ends well; its output is thrown away.
#[must_use]
pub fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Adds the Wasm target if the toolchain lacks it.
pub fn ensure_wasm_target() -> Result<()> {
    if has_wasm_target()? {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", WASM_TARGET]).current_dir(root());
    run(&mut rustup).with_context(|| {
        format!("policies are compiled to {WASM_TARGET}, which this toolchain lacks; add it and run this again")
    })
}

/// Asks the compiler itself, so that toolchains that rustup did not install count too.
fn has_wasm_target() -> Result<bool> {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", WASM_TARGET])
        .current_dir(root())
        .output()
        .context("`rustc` could not be started")?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(output.status.success() && Path::new(&folder).is_dir())
}

/// Builds the server, agent and command line (one binary) as anyone would, and says where it lies.
pub fn build_tidegate() -> Result<PathBuf> {
    ensure_wasm_target()?;
    run(cargo().args(["build", "--package", "tidegate", "--bin", "tidegate"]))?;
    let binary = target_dir()?.join("debug").join(format!("tidegate{}", env::consts::EXE_SUFFIX));
    ensure!(binary.is_file(), "the build went well, but `{}` is not there", binary.display());
    Ok(binary)
}

/// Where cargo puts what it builds; not always `target`, people set it elsewhere.
pub fn target_dir() -> Result<PathBuf> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let folder = metadata["target_directory"].as_str().context("`cargo metadata` names no target_directory")?;
    Ok(PathBuf::from(folder))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
