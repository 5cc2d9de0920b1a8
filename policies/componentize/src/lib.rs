//! Builds Wasm components from a Cargo workspace: what a build script calls so that a plain `cargo build` makes the
//! policies too. Never touches the outer build's target folder, and rewrites an output only when its bytes change.

use std::{
    env, fmt, fs, io,
    path::{Path, PathBuf},
    process::{Command, exit},
};

use sha2::{Digest as _, Sha256};
use wit_component::ComponentEncoder;

const TARGET: &str = "wasm32-unknown-unknown";

/// What to build.
#[derive(Debug)]
pub struct Job<'a> {
    /// Folder of the workspace that holds the packages.
    pub workspace: &'a Path,
    /// What becomes a component.
    pub units: Units<'a>,
    /// Files and folders outside the workspace's members that the build reads, such as WIT.
    pub inputs: &'a [&'a Path],
    /// Where the components go.
    pub out: &'a Path,
    /// Target folder of the nested build. Not the outer build's: its lock is held while build scripts run.
    pub target: &'a Path,
}

/// What becomes a component.
#[derive(Debug, Clone, Copy)]
pub enum Units<'a> {
    /// These packages, each a `cdylib`.
    Packages(&'a [&'a str]),
    /// Every example of this package, each a `cdylib`.
    Examples(&'a str),
}

/// A component that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Its package or example.
    pub name: String,
    /// The package's version. Its build metadata is of the component's own bytes, so that two builds never share one.
    pub version: String,
    /// Where it is.
    pub path: PathBuf,
}

/// Why there are no components.
#[derive(Debug)]
pub enum Error {
    /// The target for Wasm is not installed.
    TargetMissing,
    /// The nested cargo failed; its own messages went to stderr.
    Cargo(String),
    /// A module could not be made a component.
    Component {
        /// Of which package.
        package: String,
        /// Why.
        message: String,
    },
    /// A file could not be read or written.
    File(PathBuf, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TargetMissing => write!(f, "run: rustup target add {TARGET}"),
            Self::Cargo(message) => write!(f, "the policies did not build: {message}"),
            Self::Component { package, message } => write!(f, "`{package}` could not be made a component: {message}"),
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {}

/// Builds every package and makes its module a component.
///
/// # Errors
/// The target is missing, the nested build fails, or a module does not fit the interface.
pub fn build(job: &Job<'_>) -> Result<Vec<Built>, Error> {
    if !target_installed() {
        return Err(Error::TargetMissing);
    }
    let mut cargo = cargo(job.workspace);
    cargo.args(["build", "--release", "--target", TARGET, "--target-dir"]).arg(job.target);
    // What is committed is what is built.
    if job.workspace.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    match job.units {
        Units::Packages(packages) => cargo.args(packages.iter().flat_map(|package| ["--package", package])),
        Units::Examples(package) => cargo.args(["--package", package, "--examples"]),
    };
    let status = cargo.status().map_err(|error| Error::Cargo(error.to_string()))?;
    if !status.success() {
        return Err(Error::Cargo(format!("cargo ended with {status}")));
    }
    modules(job)?.iter().map(|module| componentize(job.out, module)).collect()
}

/// A module that the nested build leaves behind.
struct Module {
    name: String,
    version: String,
    path: PathBuf,
}

fn modules(job: &Job<'_>) -> Result<Vec<Module>, Error> {
    let members = members(job.workspace)?;
    let member = |name: &str| {
        let member = members.iter().find(|member| member.name == name);
        member.ok_or_else(|| Error::Cargo(format!("`{name}` is no member of the workspace")))
    };
    let folder = job.target.join(TARGET).join("release");
    let module = |name: &str, version: &str, folder: &Path| Module {
        name: name.to_owned(),
        version: version.to_owned(),
        path: folder.join(format!("{}.wasm", name.replace('-', "_"))),
    };
    match job.units {
        Units::Packages(packages) => {
            packages.iter().map(|name| Ok(module(name, &member(name)?.version, &folder))).collect()
        }
        Units::Examples(package) => {
            let member = member(package)?;
            let folder = folder.join("examples");
            Ok(member.examples.iter().map(|name| module(name, &member.version, &folder)).collect())
        }
    }
}

fn componentize(out: &Path, module: &Module) -> Result<Built, Error> {
    let bytes = fs::read(&module.path).map_err(|error| Error::File(module.path.clone(), error))?;
    let component = encode(&bytes).map_err(|message| Error::Component { package: module.name.clone(), message })?;
    let path = out.join(format!("{}.wasm", module.name));
    write_if_changed(&path, &component)?;
    let digest = Sha256::digest(&component);
    let build: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    Ok(Built { name: module.name.clone(), version: format!("{}+{build}", module.version), path })
}

/// The whole of a build script: builds, writes `table` (a Rust expression of type `&[Bundled]`, to be `include!`d) into
/// the output folder, tells cargo when to run again, and fails with one line.
#[expect(clippy::print_stdout, reason = "build scripts talk to cargo on stdout")]
pub fn build_script(job: &Job<'_>, table: &str) {
    let result = rerun_if_changed(job).and_then(|lines| {
        println!("{lines}");
        write_table(&job.out.join(table), &build(job)?)
    });
    if let Err(error) = result {
        println!("cargo::error={error}");
        exit(1);
    }
}

/// The folder beside the profiles' in the outer target folder, whose lock no outer build holds: both profiles of the
/// outer build, and every workspace of guests, share what they have in common.
#[must_use]
pub fn nested_target(out: &Path) -> PathBuf {
    // .../target/[triple/]debug/build/package-hash/out
    out.ancestors().nth(4).unwrap_or(out).join("wasm")
}

/// What cargo must be told so that it runs the build script again when, and only when, a source changes.
fn rerun_if_changed(job: &Job<'_>) -> Result<String, Error> {
    let mut paths: Vec<PathBuf> = job.inputs.iter().map(|input| input.to_path_buf()).collect();
    paths.extend(["Cargo.toml", "Cargo.lock"].map(|file| job.workspace.join(file)));
    // All members, not the packages that were asked for: they depend on one another.
    for member in members(job.workspace)? {
        paths.extend(["Cargo.toml", "src", "examples"].map(|part| member.folder.join(part)));
    }
    // A path that is not there would make cargo run the script every time.
    paths.retain(|path| path.exists());
    let lines: Vec<String> = paths.iter().map(|path| format!("cargo::rerun-if-changed={}", path.display())).collect();
    Ok(lines.join("\n"))
}

/// A core module as a component. The module says which worlds it was made for.
///
/// # Errors
/// It was made for none, or lacks one of their exports.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, String> {
    let encoded = ComponentEncoder::default().validate(true).module(module).and_then(|encoder| encoder.encode());
    encoded.map_err(|error| format!("{error:#}"))
}

/// The table of what was built; the bytes are taken in by the compiler.
fn write_table(path: &Path, built: &[Built]) -> Result<(), Error> {
    let mut table = String::from("&[\n");
    for Built { name, version, path } in built {
        table.push_str(&format!(
            "    Bundled {{ name: {name:?}, version: {version:?}, bytes: include_bytes!({path:?}) }},\n"
        ));
    }
    table.push_str("]\n");
    write_if_changed(path, table.as_bytes())
}

/// The cargo that runs us, without what it or rustup told this build alone: flags and wrappers for the host's target
/// would otherwise reach the guests, and a rebuild would follow from every change of them.
fn cargo(workspace: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace);
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let kept = matches!(name, "CARGO_HOME" | "CARGO_NET_OFFLINE" | "CARGO_HTTP_PROXY" | "CARGO_HTTP_CAINFO")
            || name.starts_with("CARGO_REGISTRIES_")
            || name.starts_with("CARGO_REGISTRY_")
            || name.starts_with("CARGO_SOURCE_");
        let leaks = name.starts_with("CARGO") || name.starts_with("RUSTC") || name.starts_with("RUSTFLAGS");
        let of_the_script =
            matches!(name, "TARGET" | "HOST" | "PROFILE" | "OPT_LEVEL" | "DEBUG" | "NUM_JOBS" | "OUT_DIR" | "RUSTDOC");
        if !kept && (leaks || of_the_script || name.starts_with("DEP_")) {
            command.env_remove(name);
        }
    }
    // Panic messages name source files. Without the machine's own folders in them, the same source gives the same
    // bytes, and so the same digest, everywhere.
    let homes = [("CARGO_HOME", "/cargo"), ("RUSTUP_HOME", "/rustup")];
    let homes = homes.iter().filter_map(|(home, short)| Some((PathBuf::from(env::var_os(home)?), *short)));
    let user = env::var_os("HOME").map(PathBuf::from);
    let defaults = user.iter().flat_map(|user| [(user.join(".cargo"), "/cargo"), (user.join(".rustup"), "/rustup")]);
    let flags: Vec<String> = defaults
        .chain(homes)
        .chain([(workspace.to_owned(), "/guests")])
        .map(|(path, short)| format!("--remap-path-prefix={}={short}", path.display()))
        .collect();
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    command
}

/// Whether the standard library for Wasm is there: the folder is what `rustup target add` makes.
fn target_installed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| {
        output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    })
}

/// A package of a workspace.
struct Member {
    name: String,
    version: String,
    folder: PathBuf,
    examples: Vec<String>,
}

/// The members of a workspace, as cargo sees them.
fn members(workspace: &Path) -> Result<Vec<Member>, Error> {
    let mut cargo = cargo(workspace);
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = cargo.output().map_err(|error| Error::Cargo(error.to_string()))?;
    if !output.status.success() {
        return Err(Error::Cargo(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| Error::Cargo(format!("cargo metadata: {error}")))?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let members = packages.iter().filter_map(|package| {
        let targets = package["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
        let examples = targets.iter().filter(|target| target["kind"][0] == "example" || target["kind"][0] == "cdylib");
        let examples = examples.filter(|target| {
            // A library example's kind is "example"; its path tells it from the package's own library.
            target["src_path"].as_str().is_some_and(|path| path.contains("/examples/"))
        });
        Some(Member {
            name: package["name"].as_str()?.to_owned(),
            version: package["version"].as_str()?.to_owned(),
            folder: Path::new(package["manifest_path"].as_str()?).parent()?.to_owned(),
            examples: examples.filter_map(|target| target["name"].as_str().map(str::to_owned)).collect(),
        })
    });
    Ok(members.collect())
}

/// A file that has not changed keeps its time, and what includes it is not compiled again.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).map_err(|error| Error::File(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_target_is_one_line_that_says_what_to_do() {
        assert_eq!(Error::TargetMissing.to_string(), "run: rustup target add wasm32-unknown-unknown");
    }

    #[test]
    fn a_module_without_a_world_is_told() {
        let message = encode(b"\0asm\x01\0\0\0junk").expect_err("no module");
        assert!(!message.is_empty());
    }
}
