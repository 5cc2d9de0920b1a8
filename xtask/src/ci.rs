//! `cargo xtask ci`: what must hold before a change lands, cheapest first, tests last so that the runner's closing
//! line ends the output of the checks.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{demo, test, tools};

/// The advisory database is fetched over the network, which may swallow packets rather than refuse.
const ADVISORIES_FETCH_MAX: Duration = Duration::from_secs(60);

/// Runs every check and stops at the first that fails.
pub fn run() -> Result<()> {
    let began = Instant::now();
    tools::ensure_wasm_target()?;
    format()?;
    supply()?;
    lint()?;
    let binary = tools::build_tidegate()?;
    let options = demo::Options { binary, root: tools::root(), keep: false, faults: demo::Faults::None };
    demo::run(&options, &mut std::io::stderr().lock()).context("the demo failed")?;
    test::run(None)?;
    tools::say(&format!("ci: everything holds ({} s)", began.elapsed().as_secs()));
    Ok(())
}

fn format() -> Result<()> {
    tools::run(tools::cargo().args(["fmt", "--all", "--check"]))?;
    for folder in tools::guest_workspaces()? {
        tools::run(tools::cargo().args(["fmt", "--all", "--check"]).current_dir(folder))?;
    }
    Ok(())
}

fn lint() -> Result<()> {
    let strict = ["--", "-D", "warnings"];
    tools::run(tools::cargo().args(["clippy", "--workspace", "--all-targets", "--locked"]).args(strict))?;
    for folder in tools::guest_workspaces()? {
        let wasm = ["clippy", "--workspace", "--lib", "--examples", "--locked", "--target", tools::WASM_TARGET];
        tools::run(tools::cargo().args(wasm).args(strict).current_dir(&folder))?;
    }
    // The rules that ship are plain Rust as well, with tests.
    let native = ["clippy", "--workspace", "--locked", "--all-targets"];
    tools::run(tools::cargo().args(native).args(strict).current_dir(tools::root().join(tools::POLICIES)))?;
    Ok(())
}

/// cargo-deny: licences, duplicates, sources; advisories where their database can be had.
fn supply() -> Result<()> {
    if !tools::works(tools::cargo().args(["deny", "--version"])) {
        if tools::in_ci() {
            bail!("cargo-deny is not installed (`cargo install --locked cargo-deny`), and CI skips nothing");
        }
        tools::say("skipped: cargo-deny is not installed (`cargo install --locked cargo-deny`)");
        return Ok(());
    }
    tools::run(tools::cargo().args(["deny", "--locked", "check", "bans", "licenses", "sources"]))?;
    let config = tools::root().join("deny.toml");
    for folder in tools::guest_workspaces()? {
        // Smaller trees: what the list allows for the server need not be there.
        let mut deny = tools::cargo();
        deny.args(["deny", "--locked", "--config"]).arg(&config).args(["check", "-A", "license-not-encountered"]);
        tools::run(deny.args(["-A", "unmatched-skip", "bans", "licenses", "sources"]).current_dir(&folder))?;
    }
    if advisories_reachable()? {
        return tools::run(tools::cargo().args(["deny", "--locked", "check", "--disable-fetch", "advisories"]));
    }
    tools::say("not checked: advisories, since their database cannot be reached from here");
    Ok(())
}

fn advisories_reachable() -> Result<bool> {
    let mut fetch = Command::new("cargo");
    fetch.args(["deny", "fetch", "db"]).current_dir(tools::root());
    let mut fetch = fetch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let deadline = Instant::now() + ADVISORIES_FETCH_MAX;
    loop {
        if let Some(status) = fetch.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() > deadline {
            fetch.kill()?;
            fetch.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
